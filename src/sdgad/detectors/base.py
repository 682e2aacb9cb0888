"""The detector contract, and the verbs that all detectors share.

What a detector implements stands at the top of `Detector`: four methods, or three and `_score_window` for a
`WindowDetector`. Options, decisions, files and history are parts of their own: options.py, deciding.py, saving.py,
archive.py.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch

from sdgad.calibration.threshold import ValidationScores
from sdgad.detectors.archive import Archive, Arrivals
from sdgad.detectors.border import Border, in_reach, need_stream
from sdgad.detectors.config import Late
from sdgad.detectors.deciding import sound
from sdgad.detectors.device import choose_device
from sdgad.detectors.explaining.states import Narrowed
from sdgad.detectors.explains import Explains
from sdgad.detectors.out_of_time import out_of_time_note
from sdgad.detectors.own_state import OwnState, Stateless
from sdgad.detectors.record import Record
from sdgad.detectors.saving import Saving
from sdgad.detectors.tags import Tags
from sdgad.detectors.tally import Tally
from sdgad.detectors.task import MIN_TRAIN, MIN_VAL, FitScores, Task, hold_out
from sdgad.detectors.trust import trust_lines
from sdgad.detectors.view import View
from sdgad.errors import InputError, NotFittedError
from sdgad.events.clock import Clock
from sdgad.events.stream import Array, ColumnNames, EventStream
from sdgad.history.context import PHASE_NAMES, context_names
from sdgad.history.log import EventLog
from sdgad.history.needs import NONE, Needs
from sdgad.history.window import Window, WindowShape

if TYPE_CHECKING:
    from sdgad.detectors.live import LiveScorer

logger = logging.getLogger("sdgad.detectors")


class Detector(Explains, Saving):
    """`fit`, `decision_function`, `predict`, `predict_proba`, `explain`, `update`, `set_threshold`, `save`: PyOD manners.

    Scores are float64 in (0, 1), one per row of the stream, higher = more anomalous. A fitted detector carries its
    history, which ends after the validation part: `decision_function(new)` continues from there and changes nothing,
    `update(new)` moves the history forward.
    """

    # ------------------------------------------------------------------ what a detector implements
    @abstractmethod
    def _learn(self, task: Task) -> FitScores:
        """Learn from the task; returns the scores of its training and validation events (`_score_both` gives them)."""

    @abstractmethod
    def _new_state(self) -> OwnState:
        """The state that scores, as it is before the first event of a stream."""

    @abstractmethod
    def _weights(self) -> dict[str, Array]:
        """All that was learned, as arrays."""

    @abstractmethod
    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        """The inverse of `_weights` and `_calibration`; the state is restored after it."""

    def _calibration(self) -> dict[str, Any]:
        """Numbers that turn what the model computes into a score."""
        return {}

    tags: ClassVar[Tags] = Tags()  # what the checks must know of it
    check_options: ClassVar[Mapping[str, Any]] = {}  # small and quick, for the checks
    keeps_log: ClassVar[bool] = True  # False: the state replaces log and node table; no index is built
    score_rows: ClassVar[int] = 1 << 16  # events of a Window, when scoring
    history_length: int = 0  # L: how many past events per endpoint a Window has to hold
    sequels_length: int = 0  # S: of how many of them its rows tell what came next
    uses_context: bool = True  # whether Windows have to hold context features
    needs: Needs = NONE  # what else they have to hold

    # ------------------------------------------------------------------ fit
    record_: Record
    _archive: Archive | Tally
    _state: OwnState

    def fit(
        self,
        train: EventStream,
        val: EventStream | None = None,
        *,
        epochs: int | None = None,
        progress: bool = False,
    ) -> Self:
        """Learn from `train`; select and calibrate on `val`, or on the last 20% by time where none is given.

        `epochs` is the most that are learned, for this fit, where a detector learns in epochs.
        """
        for given in (train, val):
            if given is not None:
                need_stream(given)
        if epochs is not None and epochs < 1:
            raise InputError(f"epochs={epochs} must be at least 1.")
        if val is None:
            train, val = hold_out(train)
        if len(train) < MIN_TRAIN or len(val) < MIN_VAL:
            raise InputError(
                f"There are too few events to fit: {len(train)} for training and {len(val)} for validation, "
                f"where at least {MIN_TRAIN} and {MIN_VAL} are needed."
            )
        if (train.label == 1).all():
            raise InputError("Every training event is labelled anomalous: there is no normal one to learn.")
        self._fitted, self._origin = False, None
        task = self._read(train, val, epochs, progress)
        self.record_ = Record()
        self.__dict__.pop("_state", None)
        self.decision_scores_, scores = self._learn(task)
        if "_state" not in self.__dict__:
            self._state = self._new_state()
            if self._state.remembers:
                task.through(self._state, self.score_rows)
        span = float(task.log.t[-1] - task.log.t[task.middle]) * task.border.clock.seconds
        self._decide_by(ValidationScores(scores, task.label[task.middle :].cpu().numpy(), span))
        self._learn_to_explain(task)
        self._fitted = True
        if doubts := trust_lines(self):
            logger.warning("%s.", "; ".join(doubts))
        return self

    def _read(self, train: EventStream, val: EventStream, epochs: int | None, progress: bool) -> Task:
        """The archive of this fit, and what may be learned from it."""
        border = Border.fit(train, features=self.tags.uses_features)
        archive: Archive | Tally = Archive.start(border) if self.keeps_log else Tally(border)
        log = EventLog.empty(border.features.width)
        parts = [part for part in (train.predecessors, train, val) if part is not None]
        for part in parts:
            arrivals = archive.read(part)
            if len(log) and part.times_in(border.clock.unit)[0] < archive.newest:
                raise InputError("The validation events begin before the training events end.")
            archive = archive.extended(arrivals)
            log, _ = log.merged(arrivals.log)
        if (
            self.config.bad_rows != "keep"
        ):  # to skip them is for whoever reads the file: the parts are cut already
            in_reach(log.t, np.concatenate([part.row for part in parts]), border.clock, "error")
        archive = archive.fitted(log.t[-1].item())
        if log.t[0] == log.t[-1] and self.config.ties == "strict" and self.keeps_log:
            logger.warning(
                "All %s events have one time, so none sees another; is the time column right? "
                "(With ties=arrival those that come first are seen.)",
                f"{len(log):,}",
            )
        self._archive = archive
        label = np.concatenate([part.label for part in parts]).astype(np.float32)
        first = len(log) - len(train) - len(val)
        middle = first + len(train)
        if not train.has_labels:
            label[middle:] = np.nan
        label[:first] = np.nan
        view = self.view
        return Task(
            log,
            border,
            view,
            first,
            middle,
            torch.from_numpy(label).to(view.device),
            epochs=epochs or getattr(self.config, "epochs", None),
            progress=progress,
            keeps_log=self.keeps_log,
        )

    def _score_both(self, task: Task) -> FitScores:
        """Scores of training and validation events by a new state, which is kept as it is after them."""
        self._state = self._new_state()
        return task.through(self._state, self.score_rows)

    # ------------------------------------------------------------------ scores
    def decision_function(self, events: EventStream) -> Array:
        """One score per row of the stream, continuing from the end of the detector's history, which stays as it is."""
        self._need_fit()
        arrivals = self._arrived(events)
        scores = np.full(len(events), np.nan)
        standing, view = self._standing, self.view
        found = self._archive.through(arrivals, standing, self._new_state, view, self.score_rows)
        scores[arrivals.kept] = sound(found)
        return scores

    def _arrived(self, events: EventStream) -> Arrivals:
        """Events to be scored; of what is odd about them it is said."""
        archive = self._archive
        if not len(archive):
            logger.warning(
                "The model has no history, so everybody is a stranger to it; update it with past events first."
            )
        arrivals = self._in_reach(events)
        if seen := archive.used_to_fit(arrivals):
            logger.warning(used_to_fit_note(seen, len(arrivals.log)))
        self._tell_out_of_time(arrivals)
        return arrivals

    def _tell_out_of_time(self, arrivals: Arrivals) -> None:
        if note := out_of_time_note(self._archive, arrivals):
            logger.warning(note)

    def _in_reach(self, events: EventStream) -> Arrivals:
        """Events in the archive's terms, those that the policies for absurd times and for late events let through."""
        need_stream(events)
        archive, clock = self._archive, self._archive.border.clock
        t = events.times_in(clock.unit)
        reach = in_reach(t, events.row, clock, self.config.bad_rows, archive.span)
        arrivals = archive.read(events if reach == slice(0, len(t)) else events[reach], self.config.late)
        return replace(arrivals, kept=arrivals.kept + reach.start)

    def update(self, events: EventStream) -> Self:
        """Move the history forward: these events now count as past. Nothing is learned."""
        self._need_fit()
        archive = self._archive
        arrivals = self._in_reach(events)
        self._tell_out_of_time(arrivals)
        state = self._state
        if state.remembers:
            state = archive.advanced(arrivals, state, self._new_state, self.view, self.score_rows)
        self._state, self._archive = state, archive.extended(arrivals)
        return self

    def live(
        self,
        *,
        late: Late | None = None,
        flagged: Literal["keep", "skip"] = "keep",
        explain: bool = False,
    ) -> LiveScorer:
        """Score events as they come, on a copy of the history: see `LiveScorer`.

        A detector that looks at no context or no history has to be told that it shall `explain`; any other can anyhow.
        """
        from sdgad.detectors.live import LiveParts, LiveScorer

        self._need_fit()
        widened = explain and self.keeps_log and not self._sees_habits
        archive, view = self._archive, self._explaining_view if widened else self.view

        def parts(*, empty: bool) -> LiveParts:
            state = self._new_state()
            if self._state.remembers and not empty:
                state.load(self._state.arrays())
            if widened:
                state = Narrowed(state, self.history_length, self.uses_context)
            slots, buffer = archive.empty_live(view) if empty else archive.live(view)
            explains = widened or self._sees_habits or not self.keeps_log
            return LiveParts(archive.border, slots, buffer, state, view.device, explains, widened)

        return LiveScorer(self, parts, late=late or self.config.late, flagged=flagged)

    def set_params(self, **options: Any) -> Self:
        """Change options: `late`, `bad_rows`, `device`, `max_nodes` and `max_age` act at once, any other asks for a new fit.

        Where a state of its own speaks of nodes, bounds of memory cannot change after a fit: it was written under the old ones.
        """
        before = self.config
        super().set_params(**options)
        if (
            self._fitted
            and self.keeps_log
            and self._state.in_order
            and self.config.retention != before.retention
        ):
            self.config = before
            raise InputError(
                f"Options max_nodes and max_age cannot change after the fit of a {self.name} detector, whose own state was "
                "written without them: fit it with them."
            )
        if self._fitted and self.config.device != before.device:
            self._move_to(choose_device(self.config.device))
        return self

    def _move_to(self, device: torch.device) -> None:  # noqa: ARG002
        """What was learned, and a state that remembers, shall live there from now on."""
        if self._state.remembers:
            moved = self._new_state()
            moved.load(self._state.arrays())
            self._state = moved

    # ------------------------------------------------------------------ what it knows
    @property
    def _standing(self) -> OwnState:
        """The state at the end of the history; one that remembers nothing is as good as new."""
        return self._state if self._state.remembers else self._new_state()

    @property
    def view(self) -> View:
        """How it looks at history."""
        config = self.config
        device = choose_device(config.device)
        return View(self.history_length, self.uses_context, config.ties, config.retention, self.needs, device)

    @property
    def window_shape(self) -> WindowShape:
        """The widths of its Windows."""
        if "_archive" not in self.__dict__:  # while it is fitted, it has one already
            self._need_fit()
        border, context = self._archive.border, self.uses_context
        names = context_names(border.clock) if context else ()
        phases = len(PHASE_NAMES) if context and border.clock.wall_clock else 0
        return WindowShape(
            self.history_length, border.features.width, len(names), phases, self.sequels_length
        )

    @property
    def remembers(self) -> bool:
        """Whether it has a state of its own, beside the history, that scores depend on."""
        self._need_fit()
        return self._state.remembers

    @property
    def border(self) -> Border:
        """How raw events are read: what the training events were like. A new fit has a new one."""
        self._need_fit()
        return self._archive.border

    @property
    def columns(self) -> ColumnNames:
        """Names of the columns that the model was fitted on, for `read_events(..., columns=…)`."""
        return self.border.names

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that the model reads, one by one: a list column `msg` is msg0, msg1, …"""
        return self.border.feature_names

    @property
    def clock(self) -> Clock:
        """What the numbers of its time column mean."""
        return self.border.clock

    @property
    def bipartite(self) -> bool:
        """Whether sources and destinations have name spaces of their own."""
        return self.border.sides == 2

    @property
    def history_size(self) -> tuple[int, int]:
        """Events and nodes that the detector remembers."""
        self._need_fit()
        return self._archive.size

    @property
    def known_ids(self) -> list[pa.Array]:
        """Raw ids of the history as text, per name space; empty where the detector keeps none."""
        self._need_fit()
        return self._archive.known_ids if self._archive.size[1] else []

    @property
    def history_span(self) -> tuple[float, float] | None:
        """The times of the first and the last event in the history, in the clock's unit; None where it is empty."""
        self._need_fit()
        return self._archive.span

    @property
    def fitted_until(self) -> float | None:
        """The last time that `fit` has seen, in the clock's unit; None for a model of an older version."""
        self._need_fit()
        return self._archive.fitted_until

    def used_to_fit(self, events: EventStream) -> int:
        """How many of the events that it scores `fit` has seen; where no history was kept, how many are of its time."""
        self._need_fit()
        return self._archive.used_to_fit(self._in_reach(events))

    def _need_fit(self) -> None:
        if not self._fitted:
            raise NotFittedError(f"This {self.name} detector has not been fitted yet: call fit first.")


class WindowDetector(Detector):
    """A detector whose scores are a function of the Window alone: nothing of its own changes as events go by."""

    @abstractmethod
    def _score_window(self, window: Window) -> Array:
        """Scores in (0, 1) of a batch of events with their past."""

    def _score_windows(self, windows: Iterable[Window]) -> Array:
        """Those of several batches, one after the other."""
        return np.concatenate([self._score_window(window) for window in windows])

    def _new_state(self) -> OwnState:
        return Stateless(self._score_windows)


def used_to_fit_note(seen: int, total: int) -> str:
    """What to say of events that a model has been fitted on."""
    return (
        f"{seen:,} of these {total:,} events were used to fit this model. Figures on them are too good; "
        "use events that came later."
    )
