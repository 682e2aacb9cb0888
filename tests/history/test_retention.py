"""Forgetting: the stated rule, bounded memory, and the same lives however the stream is cut."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.history.retention import Lives, Retention

Events = list[tuple[int, int, int]]

events = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0, 0, 1, 1, 2, 5, 20])),
    min_size=1,
    max_size=60,
)
retentions = st.builds(
    Retention,
    st.one_of(st.none(), st.integers(2, 9)),
    st.one_of(st.none(), st.sampled_from([0.5, 1.0, 4.0, 30.0])),
)
examples = settings(max_examples=300, deadline=None)


def arrays(rows: Events) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    src, dst, gap = np.array(rows).T
    return src, dst, np.cumsum(gap).astype(float)


def by_the_book(rows: Events, retention: Retention) -> list[list[int]]:
    """The rule as its docstring says it, one event after the other."""
    life: dict[int, int] = {}
    last: dict[int, tuple[float, int]] = {}
    generation, active, now, lives, out = 0, set(), -np.inf, 0, []
    for src, dst, time in zip(*(column.tolist() for column in arrays(rows)), strict=True):
        if retention.max_nodes is not None and time > now and len(active) >= retention.max_nodes // 2:
            generation, active = generation + 1, set()
        now = time
        for node in (src, dst):
            when, where = last.get(node, (-np.inf, -2))
            silent = retention.max_age is not None and time - when > retention.max_age
            if node not in last or silent or generation - where > 1:
                life[node], lives = lives, lives + 1
            last[node] = (time, generation)
            active.add(node)
        out.append([life[src], life[dst]])
    return out


@given(events, retentions, st.lists(st.integers(0, 60), max_size=5))
@examples
def test_lives_follow_the_rule_however_the_stream_is_cut(
    rows: Events, retention: Retention, cuts: list[int]
) -> None:
    src, dst, seconds = arrays(rows)
    lives, found = Lives(retention), []
    bounds = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    for start, stop in pairwise(bounds):
        found += lives.assign(src[start:stop], dst[start:stop], seconds[start:stop]).tolist()
    assert found == by_the_book(rows, retention)


@given(events, st.integers(2, 9))
@examples
def test_the_latest_nodes_are_remembered_and_no_more_than_were_asked_for(rows: Events, most: int) -> None:
    lives, latest = Lives(Retention(max_nodes=most)), OrderedDict[int, None]()
    src, dst, _ = arrays(rows)
    for row in range(len(rows)):  # at a time of its own
        lives.assign(src[row : row + 1], dst[row : row + 1], np.array([float(row)]))
        for node in (src[row], dst[row]):
            latest.pop(int(node), None)
            latest[int(node)] = None
        alive = set(np.flatnonzero(lives.alive()).tolist())
        assert set(list(latest)[-(most // 2) :]) <= alive
        assert len(alive) <= most + 2  # an event brings two at once


@given(events, st.sampled_from([0.5, 1.0, 4.0, 30.0]))
@examples
def test_a_node_is_forgotten_after_a_silence_longer_than_the_age(rows: Events, age: float) -> None:
    src, dst, seconds = arrays(rows)
    lives = Lives(Retention(max_age=age))
    lives.assign(src, dst, seconds)
    last = {
        int(node): float(time)
        for pair, time in zip(np.stack([src, dst], 1), seconds, strict=True)
        for node in pair
    }
    assert set(np.flatnonzero(lives.alive()).tolist()) == {
        n for n, t in last.items() if seconds[-1] - t <= age
    }


def test_without_bounds_nothing_is_forgotten() -> None:
    assert not Retention().bounded
    found = Lives(Retention()).assign(np.array([3, 3]), np.array([5, 3]), np.array([0.0, 1e12]))
    assert found.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("options", "named"), [({"max_nodes": 1}, "max_nodes=1"), ({"max_age": 0}, "max_age=0")]
)
def test_bounds_that_would_remember_nothing_are_refused(options: dict[str, int], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Retention(**options)
