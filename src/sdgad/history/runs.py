"""Runs: parts of a batch in which no event has to see another one's trace at its endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sdgad.history.grouping import Array, Grouping


def runs(node: Array, t: Array, *, strict: bool, newest: Any = None, alone: bool = False) -> Iterator[slice]:
    """Cut events (`node` is `[n, 2]`, `t` sorted) into runs as long as possible.

    Under strict ties an event must see those before its time, else all that came before it. A run that begins
    within a time of which other events wait in the tick (`newest`, or a run before) ends with that time, since
    what comes later has to see them. `alone`: no event has to see another one at all: runs of one time each, or
    single events under arrival ties.
    """
    count = len(t)
    if count == 0:
        return
    instant = np.arange(count)
    if strict:
        instant = np.cumsum(np.append(False, t[1:] != t[:-1]))
    seen = instant - 1 if alone else _last_seen(node, instant)
    start = first = 0
    joined = strict and newest is not None and t[0] == newest
    previous = 0
    for row, (latest, here) in enumerate(zip(seen.tolist(), instant.tolist(), strict=True)):
        if row and (latest >= first or (joined and here > first)):
            yield slice(start, row)
            start, first, joined = row, here, here == previous
        previous = here
    yield slice(start, count)


def _last_seen(node: Array, instant: Array) -> Array:
    """Per event: the last earlier instant of an event with a node in common; −1 if there is none."""
    count, half = len(instant), node.reshape(-1)
    if count == 1:
        return np.array([-1])
    event = np.repeat(np.arange(count, dtype=np.int32), 2)
    numbers, group = np.unique(half, return_inverse=True)
    halves = Grouping.of(group, event, instant, len(numbers))
    before = halves.first_unseen(strict=True) - 1
    seen = np.where(before >= halves.start[group], instant[halves.event[before]], -1)
    latest: Array = seen.reshape(count, 2).max(1)
    return latest
