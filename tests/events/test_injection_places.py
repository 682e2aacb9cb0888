"""Where injected rows stand among those of their time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sdgad.events.injection import PRESETS, inject
from sdgad.events.injection.places import Places
from sdgad.events.stream import Array, EventStream

from .small_streams import types


def tied(order: str, *, copies: int = 1, times: int = 200, seed: int = 0) -> EventStream:
    """Each time has ten rows of five sources: sorted by source and destination, grouped by source, or in any order."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, int, int]] = []
    for t in range(times):
        here = [
            (source, int(rng.integers(20, 400)))
            for source in rng.choice(20, 5, replace=False)
            for _ in range(2)
        ]
        here = ARRANGED[order](here, rng)
        rows += [(source, destination, t) for source, destination in here for _ in range(copies)]
    return EventStream(*np.array(rows).T)


Pairs = list[tuple[int, int]]
ARRANGED: dict[str, Callable[[Pairs, np.random.Generator], Pairs]] = {
    "sorted": lambda rows, _: sorted(rows),
    "grouped": lambda rows, _: rows,
    "anyhow": lambda rows, rng: [rows[i] for i in rng.permutation(len(rows))],
}


def torn(events: EventStream) -> Array:
    """Rows whose source has other rows at this time, but not beside it."""
    same = (events.src[1:] == events.src[:-1]) & (events.t[1:] == events.t[:-1])
    beside = np.append(same, False) | np.append(False, same)
    key = events.t * events.num_nodes + events.src
    return (np.bincount(key)[key] > 1) & ~beside


@pytest.mark.parametrize("preset", PRESETS)
def test_any_place_among_rows_in_no_order_is_as_likely(preset: str) -> None:
    """Over many seeds, the places of one or several injected rows among ten real ones are uniform."""
    places = np.zeros(11)
    events = tied("anyhow", times=40)
    for seed in range(60):
        found = inject(events, {"S": 0.2}, seed=seed, preset=preset)  # type: ignore[arg-type]
        made = types(found) == "S"
        real_before = np.cumsum(~made) - np.searchsorted(events.t, found.t)
        places += np.bincount(real_before[made], minlength=11)
    expected = places.sum() / 11
    assert places.sum() > 4000
    assert np.sum((places - expected) ** 2 / expected) < 29.6  # χ² with 10 degrees of freedom, 0.1%


def test_rows_of_one_time_that_are_all_injected_are_in_any_order() -> None:
    places = Places.anywhere()
    rng = np.random.default_rng(0)
    orders = [
        tuple(places.put(np.zeros(1, int), np.zeros(1, int), np.arange(2), np.arange(2), rng))
        for _ in range(6000)
    ]
    found = np.array([orders.count(order) for order in set(orders)])
    assert len(found) == 6
    assert np.abs(found - 1000).max() < 130


@pytest.mark.parametrize("copies", [1, 3])
def test_where_rows_are_sorted_injected_ones_are(copies: int) -> None:
    events = tied("sorted", copies=copies)
    assert down(events) == 0
    assert down(inject(events, {"T": 0.1, "S": 0.1})) < 0.002
    assert down(inject(events, {"T": 0.1, "S": 0.1}, preset="paper")) > 0.05


def down(events: EventStream) -> float:
    """How often ids go down from a row to the next of the same time."""
    key = (events.t * events.num_nodes + events.src) * events.num_nodes + events.dst
    return float(np.mean(np.diff(key) < 0))


def test_where_sources_stay_together_injected_rows_tear_nothing_apart() -> None:
    events = tied("grouped")
    assert not torn(events).any()
    assert torn(inject(events, {"T": 0.1, "S": 0.1})).mean() < 0.005
    assert torn(inject(events, {"T": 0.1, "S": 0.1}, preset="paper")).mean() > 0.05


@pytest.mark.parametrize("together", [True, False])
def test_copies_stand_together_where_those_of_real_rows_do(together: bool) -> None:
    """A file may repeat a row at once, or all rows of a time one after the other."""
    rng = np.random.default_rng(0)
    src, dst, t = (
        rng.integers(0, 9, (300, 4)),
        rng.integers(9, 90, (300, 4)),
        np.arange(300)[:, None] + np.zeros(8),
    )
    src, dst = (np.repeat(ids, 2, 1) if together else np.tile(ids, 2) for ids in (src, dst))
    events = EventStream(src.ravel(), dst.ravel(), t.ravel())
    found = inject(events, {"T": 0.1})
    key = (found.t * found.num_nodes + found.src) * found.num_nodes + found.dst
    beside = np.append(key[1:] == key[:-1], False) | np.append(False, key[1:] == key[:-1])
    made = types(found) == "T"
    copied = np.isin(key, np.unique(key)[np.unique(key, return_counts=True)[1] > 1])
    assert copied[made].mean() > 0.9
    assert (beside[made & copied].mean() > 0.99) if together else (beside[made & copied].mean() < 0.2)


def test_a_file_without_ties_teaches_nothing() -> None:
    learned = Places.learned(np.arange(9), np.arange(9), np.arange(9), np.random.default_rng(0))
    assert not learned.preference.any()


def test_few_ties_teach_little() -> None:
    src, dst, t = np.array([1, 2]), np.array([3, 4]), np.zeros(2)
    learned = Places.learned(src, dst, t, np.random.default_rng(0)).preference
    assert 0 < np.abs(learned).max() < 3
