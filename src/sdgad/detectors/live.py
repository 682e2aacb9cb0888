"""LiveScorer: a fitted detector at work on a stream, event by event or in batches."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
import torch

from sdgad.detectors.border import Border, in_time, need_stream
from sdgad.detectors.config import Late
from sdgad.detectors.deciding import sound
from sdgad.detectors.explaining.account import Account
from sdgad.detectors.explaining.explainer import MOST
from sdgad.detectors.explaining.explanation import Explanation
from sdgad.detectors.explaining.findings import Findings
from sdgad.detectors.live_state import read_state, write_state
from sdgad.detectors.own_state import OwnState, stretches
from sdgad.detectors.saving import UNSOUND, prefixed, unprefixed
from sdgad.errors import InputError, ModelFolderError
from sdgad.events.hashing import HashedIds
from sdgad.events.slots import NodeSlots
from sdgad.events.stream import Array, EventStream
from sdgad.history.bare import BareBuffer
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.window import Window

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

logger = logging.getLogger("sdgad.detectors")

Flagged = Literal["keep", "skip"]

SHAPES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Batches that the model gets to see: a smaller one is filled up, a larger one is cut."""

SPARE = 1024  # slots or pairs that may be held for nothing before forgotten ones are cleared away
WIDENED = " explained"  # a snapshot of one with explanations holds more
LATE_IN_A_ROW = 1000  # events, after which the newest time is doubtful


@dataclass(frozen=True)
class LiveParts:
    """What a live scorer works with, all its own: how events are read, who is in which slot, the past, the state that scores."""

    border: Border
    slots: NodeSlots | HashedIds
    buffer: HistoryBuffer | BareBuffer
    state: OwnState
    device: torch.device
    explains: bool = True  # whether Windows hold all that explanations need
    widened: bool = False  # for explanations: they hold more than the detector looks at


class MakeParts(Protocol):
    """Parts that go on where the detector's history ends, or `empty` ones."""

    def __call__(self, *, empty: bool) -> LiveParts: ...


class LiveScorer:
    """Scores events as they come, against the history so far, and lets them become history.

    It begins with a copy of the detector's history; the detector stays where it is. The score of an event is that of
    `decision_function` on the same stream, to 1e-5, however the stream is cut into batches.

    `late` is for events older than the newest one: `"score"` takes them as if they happened now, at the newest time
    (a live history cannot be rewritten); `"drop"` gives NaN and leaves them out; `"error"` refuses the batch.
    `flagged="skip"` keeps events whose score reaches the detector's `threshold_` out of the history, so that an attack
    does not become a habit; time moves on with them all the same.
    """

    def __init__(
        self, detector: Detector, parts: MakeParts, *, late: Late = "score", flagged: Flagged = "keep"
    ) -> None:
        for name, value, allowed in (("late", late, get_args(Late)), ("flagged", flagged, get_args(Flagged))):
            if value not in allowed:
                raise InputError(f"{name}={value!r} is not one of {', '.join(allowed)}.")
        self.detector = detector
        self.late: Late = late
        self.flagged: Flagged = flagged
        self._make = parts
        self._bounded = detector.config.retention.bounded
        self._late = 0  # events in a row
        self._take(parts(empty=False))
        self._model = detector.fingerprint() + (WIDENED if self._widened else "")
        self._clear_away()
        self._warm_up()

    def _take(self, parts: LiveParts) -> None:
        self._border, self._device = parts.border, parts.device
        self._slots, self._buffer, self._state = parts.slots, parts.buffer, parts.state
        self._explains, self._widened = parts.explains, parts.widened
        self._account: Account | None = None
        self._room = self._pair_room = 0

    # ------------------------------------------------------------------ verbs
    def score(self, events: EventStream) -> Array:
        """One score per row of the stream, as `score_and_update` would give it; nothing is kept."""
        with self._slots.trial(), self._buffer.trial(), self._state.trial():
            return self._run(events, self._through)

    def update(self, events: EventStream) -> None:
        """These events are past from now on."""
        self._clear_away()
        self._run(events, self._attempt(self._enter))

    def score_and_update(self, events: EventStream) -> Array:
        """One score per row of the stream; the events are past from now on.

        Should the model fail, no event of the part of the batch that it failed on (512 rows) has become past.
        """
        self._clear_away()
        return self._run(events, self._attempt(self._through))

    def explain(self, events: EventStream, *, most: int = MOST) -> list[Explanation]:
        """Why each row would have its score, as the detector's `explain` tells it at this place; nothing is kept."""
        return self.findings(events).explanations(most=most)

    def findings(self, events: EventStream, *, update: bool = False) -> Findings:
        """Scores and, for rows that are asked for afterwards, explanations; with `update` the events are past from now on."""
        if not self._explains:
            raise InputError(
                f"This live scorer of a {self.detector.name} detector keeps nothing that tells a habit: ask for one with "
                "live(explain=True)."
            )
        account = self._told()
        with account.listening(), self._watched(account):
            scores = self.score_and_update(events) if update else self.score(events)
        explainer = self.detector._the_explainer() if self.detector.keeps_log else None
        known = int(np.count_nonzero(~np.isnan(scores)))
        return self.detector._found(
            scores, np.arange(known) if explainer else np.full(known, -1), explainer, account
        )

    @property
    def newest(self) -> Any:
        """Time of the newest event, as a number in the unit of the detector's clock; None before the first."""
        return self._buffer.newest

    @property
    def history_size(self) -> tuple[int, int]:
        """Events that have come, and nodes that are remembered."""
        nodes = self._buffer.remembered
        return self._buffer.events + self._buffer.waiting, len(self._slots) if nodes is None else nodes

    # ------------------------------------------------------------------ how
    def _told(self) -> Account:
        """What the state tells of the events that it scores: when it is first asked for, an equal state that tells takes over."""
        if self._account is None:
            self._account = Account()
            state = self.detector._telling_state(self._account, wide=self._widened)
            if self._state.remembers:
                state.load(self._state.arrays())
            self._state = state
        return self._account

    @contextmanager
    def _watched(self, account: Account) -> Iterator[None]:
        state = self._state
        if self.detector.keeps_log:
            self._state = self.detector._witness(account, state)
        try:
            yield
        finally:
            self._state = state

    def _run(self, events: EventStream, act: Callable[[Rows], Array]) -> Array:
        """Let rows come in parts; those that are dropped have no score."""
        rows, kept = self._rows(events)
        scores = np.full(len(events), np.nan)
        for start in range(0, len(rows), SHAPES[-1]):
            part = slice(start, start + SHAPES[-1])
            scores[kept[part]] = act(rows[part])
        return scores

    def _attempt(self, act: Callable[[Rows], Array]) -> Callable[[Rows], Array]:
        """The same, undone if it fails."""

        def attempt(rows: Rows) -> Array:
            with self._buffer.trial(keep=True), self._state.trial(keep=True):
                return act(rows)

        return attempt

    def _rows(self, events: EventStream) -> tuple[Rows, Array]:
        """Events as the buffer takes them, and which of them these are, under the policy for late ones."""
        need_stream(events)
        if self.detector.border is not self._border:
            raise InputError("The detector has been fitted again: ask it for a new live scorer.")
        t, msg = self._border.read(events)
        newest = self._buffer.newest
        kept = in_time(t, newest, self.late, events, "the newest event")
        if newest is not None and len(t) and t[0] < newest:
            late = t < newest
            self._tell_late(late, newest)
            t = np.where(late, newest, t)
        else:
            self._late = 0
        return Rows(self._slots.of_events(events, kept), t[kept], msg[kept]), kept

    def _tell_late(self, late: Array, newest: Any) -> None:
        """One wrong clock makes all others late, which nobody would notice."""
        before = self._late
        self._late = before + int(late.sum()) if late.all() else 0
        if before < LATE_IN_A_ROW <= self._late:
            logger.warning(
                "%d events in a row are older than the newest one, of time %s: was its clock wrong?",
                self._late, newest,
            )  # fmt: skip

    def _through(self, rows: Rows) -> Array:
        scores = np.empty(len(rows))
        for stretch in self._stretches(rows):
            if self.flagged == "keep":
                scores[stretch] = self._pass(self._buffer.push(rows[stretch]))
                continue
            here = rows[stretch]
            for part in self._buffer.runs(here, alone=True):
                look = self._buffer.look(here[part])
                found = self._score(look.window)
                keep = found < self.detector.threshold_
                scores[stretch][part] = found
                self._buffer.enter(look, keep)
                self._state.enter(look.window.take(torch.from_numpy(keep)).to(self._device))
        return sound(scores)

    def _enter(self, rows: Rows) -> Array:
        for stretch in self._stretches(rows):
            self._state.enter(self._buffer.push(rows[stretch]).to(self._device))
        return np.full(len(rows), np.nan)

    def _stretches(self, rows: Rows) -> list[slice]:
        """Parts between which the detector's own state changes."""
        if not self._state.remembers:
            return [slice(0, len(rows))] if len(rows) else []
        return list(stretches(self._state, self._buffer.seconds(rows.t), SHAPES[-1]))

    def _pass(self, window: Window) -> Array:
        """Scores of events that enter the detector's own state."""
        if not self._state.pads:
            return self._state.through(window.to(self._device))
        return self._state.padded_through(window.to(self._device), self._shape(window))

    def _score(self, window: Window) -> Array:
        """Scores of at most as many events as the largest shape has; always one of a few shapes, so that no
        event pays for preparing a new one."""
        if not self._state.pads:
            return self._state.score(window.to(self._device))
        return self._state.score(window.padded(self._shape(window)).to(self._device))[: len(window)]

    def _shape(self, window: Window) -> int:
        return next(shape for shape in SHAPES if shape >= len(window))

    def _warm_up(self) -> None:
        if self._state.pads:
            empty = self._buffer.window_of_nothing()
            with self._state.trial():
                for shape in SHAPES:
                    self._state.score(empty.padded(shape).to(self._device))

    def _clear_away(self) -> None:
        """Give back what forgotten nodes and pairs take, once it is as much as is in use."""
        if self._bounded and (len(self._slots) >= self._room or self._buffer.pairs >= self._pair_room):
            self._slots.release(self._buffer.forgotten())
            self._room = 2 * len(self._slots) + SPARE
            self._pair_room = 2 * self._buffer.pairs + SPARE

    # ------------------------------------------------------------------ files
    def snapshot(self, path: str | os.PathLike[str], note: Mapping[str, Any] | None = None) -> None:
        """Write all that it remembers into one file, whole or not at all; `note` is what JSON can hold."""
        arrays = self._buffer.arrays() | self._slots.arrays() | prefixed(self._state.arrays())
        write_state(path, arrays, self._model, note or {})

    def restore(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Go on from a snapshot of the same model; returns its note."""
        arrays, note = read_state(path, self._model)
        parts = self._make(empty=True)
        try:
            parts.buffer.load(arrays)
            parts.slots.load(arrays)
            if parts.state.remembers:
                parts.state.load(unprefixed(arrays))
        except UNSOUND as problem:
            raise ModelFolderError(
                f"The state {path} does not fit this version of sdgad: {problem}."
            ) from None
        self._take(parts)
        return note
