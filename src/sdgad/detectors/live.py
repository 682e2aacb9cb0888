"""LiveScorer: a fitted detector at work on a stream, event by event or in batches."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np

from sdgad.detectors.base import Detector
from sdgad.detectors.config import Late
from sdgad.detectors.device import choose_device
from sdgad.detectors.live_state import fingerprint, read_state, write_state
from sdgad.errors import InputError, ModelFolderError
from sdgad.events.slots import NodeSlots
from sdgad.events.stream import Array, EventStream
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.window import Window

logger = logging.getLogger("sdgad.detectors")

Flagged = Literal["keep", "skip"]

SHAPES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Batches that the model gets to see: a smaller one is filled up, a larger one is cut."""

SPARE = 1024  # slots or pairs that may be held for nothing before forgotten ones are cleared away
LATE_IN_A_ROW = 1000  # events, after which the newest time is doubtful


class LiveScorer:
    """Scores events as they come, against the history so far, and lets them become history.

    It begins with a copy of the detector's history; the detector stays where it is. The score of an event is that of
    `decision_function` on the same stream, to 1e-5, however the stream is cut into batches.

    `late` is for events older than the newest one: `"score"` takes them as if they happened now, at the newest time
    (a live history cannot be rewritten); `"drop"` gives NaN and leaves them out; `"error"` refuses the batch.
    `flagged="skip"` keeps events whose score reaches the detector's `threshold_` out of the history, so that an attack
    does not become a habit; time moves on with them all the same.
    """

    def __init__(self, detector: Detector, *, late: Late = "score", flagged: Flagged = "keep") -> None:
        for name, value, allowed in (("late", late, get_args(Late)), ("flagged", flagged, get_args(Flagged))):
            if value not in allowed:
                raise InputError(f"{name}={value!r} is not one of {', '.join(allowed)}.")
        self.detector = detector
        self.late: Late = late
        self.flagged: Flagged = flagged
        self._device = choose_device(detector.config.device)
        self._features = detector._features  # those of this fit
        self._options: dict[str, Any] = {
            "clock": detector.clock,
            "ties": detector.config.ties,
            "context": detector.uses_context,
            "retention": detector.config.retention,
        }
        self._slots = NodeSlots.of(detector._nodes)
        self._buffer = HistoryBuffer.from_log(detector._log, detector.history_length, **self._options)
        self._model = fingerprint(detector)
        self._late = 0  # events in a row
        self._room = self._pair_room = 0
        self._clear_away()
        self._warm_up()

    # ------------------------------------------------------------------ verbs
    def score(self, events: EventStream) -> Array:
        """One score per row of the stream, as `score_and_update` would give it; nothing is kept."""
        with self._slots.trial(), self._buffer.trial():
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
            with self._buffer.trial(keep=True):
                return act(rows)

        return attempt

    def _rows(self, events: EventStream) -> tuple[Rows, Array]:
        """Events as the buffer takes them, and which of them these are, under the policy for late ones."""
        if not isinstance(events, EventStream):
            kind = type(events).__name__
            raise InputError(f"Live scoring takes an EventStream, not a {kind}: sdgad.read_events makes one.")
        self.detector._need_fit()
        if self.detector._features is not self._features:
            raise InputError("The detector has been fitted again: ask it for a new live scorer.")
        t, msg = self.detector._translate(events)
        kept, newest = np.arange(len(events)), self._buffer.newest
        if newest is not None and len(t) and t[0] < newest:
            late = t < newest
            if self.late == "error":
                row = int(events.row[0])
                raise InputError(f"Row {row + 1} is older than the newest event (late='error').")
            if self.late == "drop":
                kept = np.flatnonzero(~late)
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
        if self.flagged == "keep":
            return self._score(self._buffer.push(rows))
        scores = np.empty(len(rows))
        for part in self._buffer.runs(rows, alone=True):
            look = self._buffer.look(rows[part])
            scores[part] = self._score(look.window)
            self._buffer.enter(look, scores[part] < self.detector.threshold_)
        return scores

    def _enter(self, rows: Rows) -> Array:
        self._buffer.push(rows)
        return np.full(len(rows), np.nan)

    def _score(self, window: Window) -> Array:
        """Scores of at most as many events as the largest shape has; always one of a few shapes, so that no
        event pays for preparing a new one."""
        size = next(shape for shape in SHAPES if shape >= len(window))
        return self.detector._score_window(window.padded(size).to(self._device))[: len(window)]

    def _warm_up(self) -> None:
        empty = self._buffer.window_of_nothing()
        for shape in SHAPES:
            self.detector._score_window(empty.padded(shape).to(self._device))

    def _clear_away(self) -> None:
        """Give back what forgotten nodes and pairs take, once it is as much as is in use."""
        bounded = self._options["retention"].bounded
        if bounded and (len(self._slots) >= self._room or self._buffer.pairs >= self._pair_room):
            self._slots.release(self._buffer.forgotten())
            self._room = 2 * len(self._slots) + SPARE
            self._pair_room = 2 * self._buffer.pairs + SPARE

    # ------------------------------------------------------------------ files
    def snapshot(self, path: str | os.PathLike[str], note: Mapping[str, Any] | None = None) -> None:
        """Write all that it remembers into one file, whole or not at all; `note` is what JSON can hold."""
        write_state(path, self._buffer.arrays() | self._slots.arrays(), self._model, note or {})

    def restore(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Go on from a snapshot of the same model; returns its note."""
        arrays, note = read_state(path, self._model)
        buffer = HistoryBuffer(self.detector.history_length, self._features.width, **self._options)
        slots = NodeSlots(self.detector._nodes.sides)
        try:
            buffer.load(arrays)
            slots.load(arrays)
        except (KeyError, ValueError, IndexError) as problem:
            raise ModelFolderError(
                f"The state {path} does not fit this version of sdgad: {problem}."
            ) from None
        self._buffer, self._slots = buffer, slots
        self._room = self._pair_room = 0
        return note
