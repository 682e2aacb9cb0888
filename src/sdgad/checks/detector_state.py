"""Checks of detectors: the state that scores, and where a log would be in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from unittest.mock import patch

import numpy as np
import torch

from sdgad.checks.detector_subject import DetectorSubject, remembered
from sdgad.checks.saying import CLOSE, Array, close, need, same
from sdgad.checks.streams import TICK
from sdgad.detectors.base import Detector
from sdgad.detectors.own_state import OwnState, stretches
from sdgad.history.bare import bare_window
from sdgad.history.index import HistoryIndex
from sdgad.history.log import EventLog
from sdgad.history.window import Window


def check_what_begins_can_be_undone(subject: DetectorSubject) -> None:
    """After `begin`, `undo` leaves the arrays as they were, and `settle` those of a state that never began."""
    detector, walk = subject.detector(), Walk(subject.detector(), subject)
    state, plain = detector._new_state(), detector._new_state()
    walk.through(state, 0, walk.middle)
    before = _copied(state.arrays())
    state.begin()
    once = walk.through(state, walk.middle, walk.total)
    state.undo()
    _need_same_arrays(state.arrays(), before, "after undo")
    state.begin()
    same(walk.through(state, walk.middle, walk.total), once, "scores of the same events after undo")
    state.settle()
    walk.through(plain, 0, walk.total)
    _need_same_arrays(state.arrays(), plain.arrays(), "after settle", within=CLOSE)
    need(
        bool(before) == state.remembers,
        f"the state says remembers={state.remembers} and holds {sorted(before)}",
    )


def check_arrays_are_all_that_a_state_holds(subject: DetectorSubject) -> None:
    """A new state that loads the arrays of another goes on with the same scores, and shares no memory with them."""
    detector, walk = subject.detector(), Walk(subject.detector(), subject)
    state, other = detector._new_state(), detector._new_state()
    walk.through(state, 0, walk.middle)
    arrays = _copied(state.arrays())
    if state.remembers:
        other.load(arrays)
        _need_same_arrays(other.arrays(), state.arrays(), "after load")
    once = walk.through(state, walk.middle, walk.total)
    same(walk.through(other, walk.middle, walk.total), once, "scores of a state that was loaded")
    if state.remembers:
        third = detector._new_state()
        third.load(arrays)
        same(walk.through(third, walk.middle, walk.total), once, "scores of a state that was loaded later")
        _need_unfit(detector._new_state())


def check_scoring_lets_no_event_in(subject: DetectorSubject) -> None:
    """`score` twice, then `through`: the same scores; and `score` and `enter` leave what `through` leaves."""
    detector, walk = subject.detector(), Walk(subject.detector(), subject)
    state, other = detector._new_state(), detector._new_state()
    walk.through(state, 0, walk.middle)
    walk.through(other, 0, walk.middle)
    for window in walk.windows(state, walk.middle, walk.total):
        scores = state.score(window)
        same(state.score(window), scores, "scores of the same events, again")
        close(other.through(window), scores, "scores by `through`, against those by `score`")
        state.enter(window)
    _need_same_arrays(state.arrays(), other.arrays(), "after score and enter, against through")


def check_a_state_in_place_of_a_log_has_a_constant_size(subject: DetectorSubject) -> None:
    """keeps_log = False: no index is built, no node is kept, and what is remembered does not grow; else there is a log."""
    stream = subject.stream
    if subject.cls.keeps_log:
        need(subject.detector().history_size[1] > 0, "a detector that keeps a log knows no node")
        need(not subject.tags.hashes_ids, "ids are hashed though there is a log that keeps them")
        return
    need(subject.tags.hashes_ids, "a detector without a log hashes ids, and its tags have to say so")
    no_index = AssertionError("an index was built, though keeps_log is False")
    with patch.object(HistoryIndex, "__init__", side_effect=no_index):
        detector = subject.fitted(stream.train, stream.val)
        detector.decision_function(stream.test)
        detector.update(stream.test)
        live = detector.live()
        live.score_and_update(stream.test)
    need(detector.history_size[1] == 0, f"{detector.history_size[1]} nodes are kept")
    size = len(remembered(detector))
    ids = [f"new {i}" for i in range(500)]
    t = float(stream.test.t[-1]) + TICK * np.arange(1, 501)
    grown = len(remembered(detector.update(stream.fresh(ids, ids[::-1], t))))
    need(grown == size, f"what is remembered grew from {size} to {grown} bytes with 500 new nodes")


class Walk:
    """The Windows of the stream, and of strangers after it, as a detector looks at them; parts end at the cuts of a state."""

    def __init__(self, detector: Detector, subject: DetectorSubject) -> None:
        events, crowd = subject.stream.stream(), subject.stream.crowd()
        t, msg = detector.border.read(events)
        log = EventLog(events.src, events.dst, t, msg)
        t, msg = detector.border.read(crowd)
        number = events.num_nodes
        log, _ = log.merged(EventLog(number + crowd.src, number + crowd.dst, t, msg))
        t = log.t
        self.total = len(log)
        self.middle = subject.stream.fitted
        self._view, self._most = detector.view, 128
        self._seconds = detector.border.seconds(t, t[0])
        self._log = log
        self._index = self._view.index(log, detector.border.clock) if detector.keeps_log else None

    def windows(self, state: OwnState, first: int, last: int) -> Iterator[Window]:
        for part in stretches(state, self._seconds[first:last], self._most):
            rows = torch.arange(first + part.start, first + part.stop)
            if self._index is not None:
                yield self._view.rows(self._index, rows.to(self._index.device))
                continue
            log = self._log.take(rows.numpy())
            node = np.stack([log.src, log.dst], 1)
            yield bare_window(node, self._seconds[rows.numpy()], log.msg, int(rows[0])).to(self._view.device)

    def through(self, state: OwnState, first: int, last: int) -> Array:
        """Scores of some of the events, which enter."""
        return np.concatenate([state.through(window) for window in self.windows(state, first, last)])


def _copied(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name: array.copy() for name, array in arrays.items()}


def _need_same_arrays(
    found: Mapping[str, Array], expected: Mapping[str, Array], when: str, within: float = 0.0
) -> None:
    """Bit for bit, or `within` a tolerance where batches were cut elsewhere: what a network says is rounded by the batch."""
    need(found.keys() == expected.keys(), f"{when} there are {sorted(found)} instead of {sorted(expected)}")
    for name, array in expected.items():
        close(found[name], array, f"{name} {when}", within)


def _need_unfit(state: OwnState) -> None:
    try:
        state.load({})
    except (KeyError, ValueError):
        return
    need(False, "a state loads from nothing without a KeyError or ValueError")
