"""The detector contract, and all that detectors share: the border to raw events, history, thresholds, files."""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor

from sdgad.calibration.conformal import ConformalPValues
from sdgad.calibration.threshold import ValidationScores, default_rule, threshold_rule
from sdgad.configuration import build
from sdgad.detectors.card import write_card
from sdgad.detectors.config import AT_ONCE, DetectorConfig, Late
from sdgad.detectors.device import choose_device, usable_device
from sdgad.detectors.folder import ModelFiles, write_folder
from sdgad.detectors.task import MIN_TRAIN, MIN_VAL, FitScores, Task, hold_out
from sdgad.errors import InputError, ModelFolderError, NotFittedError
from sdgad.events.clock import Clock
from sdgad.events.features import CategoryEncoding, FeatureEncoder
from sdgad.events.stream import Array, ColumnNames, EventStream
from sdgad.events.vocabulary import NodeTable
from sdgad.history.index import HistoryIndex
from sdgad.history.log import EventLog
from sdgad.history.window import Window

if TYPE_CHECKING:
    from sdgad.detectors.live import LiveScorer

logger = logging.getLogger("sdgad.detectors")


class Detector(ABC):
    """`fit`, `decision_function`, `predict`, `predict_proba`, `update`, `set_threshold`, `save`: PyOD manners.

    Scores are float64 in (0, 1), one per row of the stream, higher = more anomalous. A fitted detector carries its
    history, which ends after the validation part: `decision_function(new)` continues from there and changes nothing,
    `update(new)` moves the history forward.
    """

    name: ClassVar[str]
    config_type: ClassVar[type[DetectorConfig]] = DetectorConfig

    threshold_: float
    threshold_rule_: str
    decision_scores_: Array
    validation_scores_: Array

    def __init__(self, **options: Any) -> None:
        self.config: Any = self.configure(options)
        self._fitted = False

    @classmethod
    def configure(cls, options: dict[str, Any]) -> DetectorConfig:
        """Options → typed config."""
        return build(cls.config_type, options)

    # ------------------------------------------------------------------ what a detector implements
    @abstractmethod
    def _learn(self, task: Task, *, epochs: int | None, progress: bool) -> FitScores:
        """Learn from the task; returns what `_score` gives for its events."""

    @abstractmethod
    def _score_window(self, window: Window) -> Array:
        """Scores in (0, 1) of a batch of events with their past."""

    @abstractmethod
    def _weights(self) -> dict[str, Array]:
        """All that was learned, as arrays."""

    @abstractmethod
    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        """The inverse of `_weights` and `_calibration`."""

    def _score_both(self, task: Task) -> FitScores:
        return self._score(task.index, task.train), self._score(task.index, task.val)

    def _calibration(self) -> dict[str, Any]:
        """Numbers that turn what the model computes into a score."""
        return {}

    @property
    def uses_context(self) -> bool:
        """Whether the index has to hold context features."""
        return True

    @property
    def history_length(self) -> int:
        """L: how many past events per endpoint a Window has to hold."""
        return 0

    score_rows: ClassVar[int] = 1 << 16  # events of a Window, when scoring

    def _score(self, index: HistoryIndex, rows: Tensor) -> Array:
        """Scores in (0, 1) of some rows of an index."""
        parts = torch.split(rows, self.score_rows)
        return np.concatenate([self._score_window(index.rows(part, self.history_length)) for part in parts])

    # ------------------------------------------------------------------ fit
    def fit(
        self,
        train: EventStream,
        val: EventStream | None = None,
        *,
        epochs: int | None = None,
        progress: bool = False,
    ) -> Self:
        """Learn from `train`; select and calibrate on `val`, or on the last 20% by time where none is given."""
        for given in (train, val):
            _need_stream(given)
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
        self._fitted = False
        self._clock = train.clock
        self._names = train.names
        self._features = FeatureEncoder.fit(train)
        self._nodes = NodeTable(len(train.vocabulary.names))
        self._log = EventLog.empty(self._features.width)
        past = train.predecessors
        parts = [part for part in (past, train, val) if part is not None]
        for part in parts:
            self._nodes, new = self._border(part)
            if len(self._log) and new.t[0] < self._log.t[-1]:
                raise InputError("The validation events begin before the training events end.")
            self._log, _ = self._log.merged(new)
        self._fitted_until: float | None = self._log.t[-1].item()
        if self._log.t[0] == self._log.t[-1] and self.config.ties == "strict":
            logger.warning(
                "All %s events have one time, so none sees another; is the time column right? "
                "(With ties=arrival those that come first are seen.)",
                f"{len(self._log):,}",
            )

        index = self._index(self._log)
        label = np.concatenate([part.label for part in parts]).astype(np.float32)
        first = 0 if past is None else len(past)
        middle = first + len(train)
        if not train.has_labels:
            label[middle:] = np.nan
        label[:first] = np.nan
        rows = torch.arange(len(index), device=index.device)
        task = Task(index, rows[first:middle], rows[middle:], torch.from_numpy(label).to(index.device))
        self.decision_scores_, self.validation_scores_ = self._learn(task, epochs=epochs, progress=progress)

        span = float(self._log.t[-1] - self._log.t[middle]) * self._clock.seconds
        self._validation = ValidationScores(self.validation_scores_, label[middle:], span)
        self._p_values = self._conformal()
        self._fitted = True
        rule = default_rule(self._validation)
        self.threshold_, self.threshold_rule_ = rule(self._validation), str(rule)
        return self

    @property
    def validation(self) -> ValidationScores:
        """Scores and labels of the validation part, which thresholds are chosen on."""
        self._need_fit()
        return self._validation

    def _conformal(self) -> ConformalPValues:
        normal = ~(self._validation.label == 1)
        return ConformalPValues(self._validation.score[normal])

    # ------------------------------------------------------------------ scores
    def decision_function(self, events: EventStream) -> Array:
        """One score per row of the stream, continuing from the end of the detector's history, which stays as it is."""
        self._need_fit()
        if not len(self._log):
            logger.warning(
                "The model has no history, so everybody is a stranger to it; update it with past events first."
            )
        _, new = self._border(events)
        kept = self._in_time(new, events)
        if seen := self._used_to_fit(new.take(kept)):
            logger.warning(used_to_fit_note(seen, len(kept)))
        merged, place = self._log_with(new.take(kept), after=self._fitted_until)
        scores = np.full(len(events), np.nan)
        if len(place):
            index = self._index(merged)
            scores[kept] = self._score(index, torch.from_numpy(place).to(index.device))
        return scores

    def predict(self, events: EventStream) -> Array:
        """1 where the score reaches `threshold_`, else 0."""
        return (self.decision_function(events) >= self.threshold_).astype(np.int64)

    def predict_proba(self, events: EventStream) -> Array:
        """`[n, 2]`: 1 − score and score."""
        score = self.decision_function(events)
        return np.stack([1 - score, score], 1)

    def p_value(self, scores: Array) -> Array:
        """Conformal p-values: how rare a score at least this high is among validation normals."""
        self._need_fit()
        return self._p_values(scores)

    @property
    def labels_(self) -> Array:
        """The decisions on the training events."""
        self._need_fit()
        return (self.decision_scores_ >= self.threshold_).astype(np.int64)

    def update(self, events: EventStream) -> Self:
        """Move the history forward: these events now count as past. Nothing is learned."""
        self._need_fit()
        nodes, new = self._border(events)
        self._log, _ = self._log_with(new.take(self._in_time(new, events)))
        self._nodes = nodes
        return self

    def live(self, *, late: Late | None = None, flagged: Literal["keep", "skip"] = "keep") -> LiveScorer:
        """Score events as they come, on a copy of the history: see `LiveScorer`."""
        from sdgad.detectors.live import LiveScorer

        self._need_fit()
        return LiveScorer(self, late=late or self.config.late, flagged=flagged)

    def set_threshold(self, rule: str | float, amount: float | None = None) -> Self:
        """`"f1"`, `("fpr", 0.001)`, `("alerts_per_day", 20)`, `("quantile", 0.01)` on validation scores, or a value."""
        self._need_fit()
        chosen = threshold_rule(rule, amount)
        self.threshold_, self.threshold_rule_ = chosen(self._validation), str(chosen)
        return self

    # ------------------------------------------------------------------ border
    @property
    def columns(self) -> ColumnNames:
        """Names of the columns that the model was fitted on, for `read_events(..., columns=…)`."""
        self._need_fit()
        return self._names

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that the model reads, one by one: a list column `msg` is msg0, msg1, …"""
        self._need_fit()
        return tuple(column.name for column in self._features.columns)

    @property
    def feature_categories(self) -> dict[str, int | None]:
        """The features, and how many categories the model tells apart in each; None for numbers."""
        self._need_fit()
        return {
            column.name: len(column.categories) if isinstance(column, CategoryEncoding) else None
            for column in self._features.columns
        }

    @property
    def clock(self) -> Clock:
        self._need_fit()
        return self._clock

    @property
    def bipartite(self) -> bool:
        self._need_fit()
        return self._nodes.sides == 2

    @property
    def history_size(self) -> tuple[int, int]:
        """Events and nodes that the detector remembers."""
        self._need_fit()
        return len(self._log), self._nodes.size

    @property
    def history_span(self) -> tuple[float, float] | None:
        """The times of the first and the last event in the history, in the clock's unit; None where it is empty."""
        self._need_fit()
        return (self._log.t[0].item(), self._log.t[-1].item()) if len(self._log) else None

    @property
    def fitted_until(self) -> float | None:
        """The last time that `fit` has seen, in the clock's unit; None for a model of an older version."""
        self._need_fit()
        return self._fitted_until

    def used_to_fit(self, events: EventStream) -> int:
        """How many of the events that it scores `fit` has seen; where no history was kept, how many are of its time."""
        self._need_fit()
        _, new = self._border(events)
        return self._used_to_fit(new.take(self._in_time(new, events)))

    def _used_to_fit(self, new: EventLog) -> int:
        if self._fitted_until is None or not np.any(new.t < self._fitted_until):
            return 0  # equal rows at its very end are two events: a cut may fall between them
        early = new.take(np.flatnonzero(new.t <= self._fitted_until))
        if not len(self._log) or self._log.t[0] > self._fitted_until:  # saved without it
            return len(early)
        return int(np.count_nonzero(self._log.find(early) >= 0))

    def _border(self, events: EventStream) -> tuple[NodeTable, EventLog]:
        """Raw events → the model's own numbering and features."""
        _need_stream(events)
        src, dst, nodes = self._nodes.number(events.src, events.dst, events.vocabulary)
        return nodes, EventLog(src, dst, *self._translate(events))

    def _translate(self, events: EventStream) -> tuple[Array, Array]:
        """Times in the model's unit, and features as it has them."""
        return events.times_in(self._clock.unit), self._features.encode(events)

    def _in_time(self, new: EventLog, events: EventStream) -> Array:
        """Rows to keep under the policy for events older than the end of the history."""
        if len(self._log) == 0 or self.config.late == "score":
            return np.arange(len(new))
        late = new.t < self._log.t[-1]
        if self.config.late == "error" and late.any():
            row = int(events.row[np.flatnonzero(late)[0]])
            raise InputError(f"Row {row + 1} is older than the end of the model's history (late='error').")
        return np.flatnonzero(~late)

    def _log_with(self, new: EventLog, after: float | None = None) -> tuple[EventLog, Array]:
        """The history with new events put in, and where these stand; of those it has already, later than `after`, it is said."""
        joined, place, again = self._log.joined(new)
        told = again if after is None else again & (new.t > after)
        if told.any():
            logger.warning(
                "%s of %s events are in the model's history already and count once.",
                f"{told.sum():,}",
                f"{len(new):,}",
            )
        return joined, place

    def _index(self, log: EventLog) -> HistoryIndex:
        device = choose_device(self.config.device)
        return log.index(
            self._clock,
            self.config.ties,
            context=self.uses_context,
            retention=self.config.retention,
            device=device,
        )

    def _need_fit(self) -> None:
        if not self._fitted:
            raise NotFittedError(f"This {self.name} detector has not been fitted yet: call fit first.")

    # ------------------------------------------------------------------ options and files
    def get_params(self) -> dict[str, Any]:
        """The options, as they may be given to the constructor."""
        return asdict(self.config)

    def set_params(self, **options: Any) -> Self:
        """Change options: `late`, `device`, `max_nodes` and `max_age` act at once, any other asks for a new fit."""
        self.config = self.configure({**self.get_params(), **options})
        if not set(options) <= AT_ONCE:
            self._fitted = False
        return self

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.get_params().items())
        return f"{type(self).__name__}({options})"

    def save(self, path: str | os.PathLike[str], *, history: bool = True) -> None:
        """Write the model folder; `history=False` leaves raw ids and past events out."""
        self._need_fit()
        log = self._log if history else EventLog.empty(self._features.width)
        nodes = self._nodes if history else NodeTable(self._nodes.sides)
        config = {
            "detector": self.name,
            "options": self.get_params(),
            "columns": asdict(self._names),
            "clock": asdict(self._clock),
            "features": self._features.to_json(),
            "sides": self._nodes.sides,
        }
        calibration = {
            **self._calibration(),
            "threshold": self.threshold_,
            "threshold_rule": self.threshold_rule_,
            "validation_seconds": self._validation.seconds,
            "fitted_until": self._fitted_until,
        }
        state = {
            **log.arrays(),
            "validation.score": self.validation_scores_,
            "validation.label": self._validation.label,
            "train.score": self.decision_scores_,
        }
        vocabulary = nodes.to_table() if history else None
        write_folder(
            path, ModelFiles(config, calibration, self._weights(), state, vocabulary, write_card(self))
        )

    @classmethod
    def from_files(cls, files: ModelFiles) -> Self:
        """The detector that `save` wrote."""
        config, state = files.config, files.state
        try:
            detector = cls(**{**config["options"], "device": usable_device(config["options"]["device"])})
            detector._clock = Clock(**config["clock"])
            names = dict(config["columns"])
            detector._names = ColumnNames(**{**names, "features": tuple(names["features"])})
            detector._features = FeatureEncoder.from_json(config["features"])
            detector._nodes = (
                NodeTable(config["sides"])
                if files.vocabulary is None
                else NodeTable.from_table(files.vocabulary, config["sides"])
            )
            detector._log = EventLog.from_arrays(state)
            detector.decision_scores_ = state["train.score"]
            detector.validation_scores_ = state["validation.score"]
            seconds = float(files.calibration["validation_seconds"])
            detector._validation = ValidationScores(
                state["validation.score"], state["validation.label"], seconds
            )
            detector.threshold_ = float(files.calibration["threshold"])
            detector.threshold_rule_ = str(files.calibration["threshold_rule"])
            detector._fitted_until = files.calibration.get("fitted_until")
            detector._restore(files.weights, files.calibration)
        except (KeyError, TypeError) as problem:
            raise ModelFolderError(
                f"The model folder does not fit this version of sdgad: {problem}."
            ) from None
        detector._p_values = detector._conformal()
        detector._fitted = True
        return detector


def used_to_fit_note(seen: int, total: int) -> str:
    """What to say of events that a model has been fitted on."""
    return (
        f"{seen:,} of these {total:,} events were used to fit this model. Figures on them are too good; "
        "use events that came later."
    )


def _need_stream(events: Any) -> None:
    if events is not None and not isinstance(events, EventStream):
        kind = type(events).__name__
        raise InputError(
            f"A detector takes an EventStream, not a {kind}: sdgad.read_events makes one of a table or file."
        )
