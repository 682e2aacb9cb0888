"""What the benchmark compares: our scores, and those of a state that knows the whole snapshot."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from sdgad.detectors import make_detector
from sdgad.detectors.baselines.snapshots.method import SnapshotMethod
from sdgad.events.stream import Array, EventStream

from .community_stream import communities

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
SMALL = {
    "netwalk": {"snapshot": 60, "width": 6, "walks": 3, "passes": 1, "clusters": 3},
    "addgraph": {"snapshot": 60, "epochs": 2, "width": 8},
    "strgnn": {"snapshot": 60, "epochs": 1, "width": 4, "hidden": 8, "window": 3, "neighbours": 4},
    "taddy": {"snapshot": 60, "epochs": 1, "width": 8},
}
TEST = 450  # where the test part begins: a snapshot is open, of 30 events
ROUNDING = 1e-6  # the last bits of a product depend on how many rows it has, on some processors more

Both = Callable[[SnapshotMethod, EventStream], tuple[Array, Array]]


@pytest.fixture(scope="module")
def both_ways() -> Both:
    with mock.patch.object(sys, "path", [str(BENCHMARKS), *sys.path]):
        found: Both = runpy.run_path(str(BENCHMARKS / "within_snapshot.py"))["both_ways"]
    return found


def fitted(method: str, events: EventStream, **changes: Any) -> SnapshotMethod:
    model = make_detector(method, seed=0, device="cpu", **SMALL[method] | changes)
    assert isinstance(model, SnapshotMethod)
    return model.fit(events[:350], val=events[350:TEST])


@pytest.mark.parametrize("method", SMALL)
def test_before_is_what_decision_function_says_and_within_knows_what_follows_in_the_snapshot(
    both_ways: Both, method: str
) -> None:
    events = communities(650)
    model = fitted(method, events)
    before, within = both_ways(model, events[TEST:])
    np.testing.assert_array_equal(before, model.decision_function(events[TEST:]))
    assert len(within) == len(before)
    shorter_before, shorter_within = both_ways(model, events[TEST:510])  # half of the next snapshot
    np.testing.assert_allclose(shorter_before, before[:60], rtol=ROUNDING)
    np.testing.assert_allclose(shorter_within[:30], within[:30], rtol=ROUNDING)
    assert not np.allclose(shorter_within[30:], within[30:60], rtol=ROUNDING)


@pytest.mark.parametrize("method", SMALL)
def test_within_scores_an_event_as_if_it_came_again_right_after_its_snapshot(
    both_ways: Both, method: str
) -> None:
    events = communities(650)
    model = fitted(method, events)
    last, after = events[TEST:480], events[480:510]  # the rest of the open snapshot, and what follows
    again = EventStream(*(last.vocabulary.raw(side) for side in (last.src, last.dst)), after.t)
    _, within = both_ways(model, events[TEST:])
    np.testing.assert_allclose(within[:30], model.update(last).decision_function(again), rtol=ROUNDING)


def test_a_snapshot_that_was_complete_when_the_test_part_began_is_not_scored_with_it(both_ways: Both) -> None:
    events = communities(650)
    model = fitted("addgraph", events, snapshot=50)
    before, _ = both_ways(model, events[TEST:])
    np.testing.assert_array_equal(before, model.decision_function(events[TEST:]))
