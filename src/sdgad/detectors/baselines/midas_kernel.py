"""The loops of MIDAS, one event after the other: each is written once, and compiled by numba where that is installed.

Both ways do the same operations in the same order, so they give the same bits, and which of them runs is a matter of speed alone.
Hence plain numbers and flat arrays: arrays of numpy for numba, memoryviews for the interpreter, which reads those faster.

The end of a tick changes every cell, but a cell needs to know of it when it is next touched, not before. So each keeps how many
ticks had ended when it was last touched, `seen`, and catches up: what an event costs here depends neither on the number of
buckets nor on that of ticks (but each batch begins with a copy of the cells, `MidasState`). `power[k]` is decay^k; beyond its
last k, `reach`, several factors are multiplied.

`clock` is (number of the current tick, ticks that ended, growth); an event of an earlier tick counts as one of the current tick.
"""

# ruff: noqa: PLR1730  `min` and `max` would take the interpreter a third longer

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

Cells = Any  # a flat array, or a memoryview of one
Kernel = Callable[..., None]

WORTH_COMPILING = 4096  # events; fewer are through before numba is imported


def count_events(
    place: Cells,  # [n · sketches · rows] cells of each event
    tick: Cells,  # [n] tick numbers, from 1
    raw: Cells,  # [n] the scores
    now: Cells,  # a: count in the current tick, decayed counts of earlier ones included
    total: Cells,  # s: count so far
    seen: Cells,
    clock: Cells,
    power: Cells,
    sketches: int,
    rows: int,
) -> None:
    """MIDAS (Bhatia et al. 2020, section 4): count, then score (a − s/t)² t² / (s (t − 1)), and 0 in the first tick.

    a and s are the least of the rows. When a tick ends, a ← decay · a, once, however many empty ticks follow. The largest score
    of the sketches counts.
    """
    t, ended = clock[0], int(clock[1])
    reach = len(power) - 1
    at = 0
    for event in range(len(tick)):
        if tick[event] > t:
            t = tick[event]
            ended += 1
        most = 0.0
        for _ in range(sketches):
            a = s = math.inf
            for _ in range(rows):
                i = place[at]
                at += 1
                here = now[i]
                gap = ended - seen[i]
                if gap > 0:
                    while gap > reach:
                        here *= power[reach]
                        gap -= reach
                    here *= power[gap]
                    seen[i] = ended
                here += 1.0
                now[i] = here
                past = total[i] + 1.0
                total[i] = past
                if here < a:
                    a = here
                if past < s:
                    s = past
            if t > 1.0:
                beyond = (a - s / t) * t
                score = beyond * beyond / (s * (t - 1.0))
                if score > most:
                    most = score
        raw[event] = most
    clock[0], clock[1] = t, ended


def filter_events(
    place: Cells,
    tick: Cells,
    raw: Cells,
    now: Cells,  # a
    total: Cells,  # s: without the current tick
    score: Cells,  # the last one of a cell, by its own sketch
    grown: Cells,  # growth when the cell was last touched
    seen: Cells,
    clock: Cells,
    power: Cells,
    sketches: int,
    rows: int,
    threshold: float,
) -> None:
    """MIDAS-F (Bhatia et al. 2022, section 5): count, then score (a + s − a t)² / (s (t − 1)), and 0 where s = 0 or t = 1.

    When tick t ends, s ← s + a where the cell's last score is below the threshold, else s ← s + s / (t − 1) for t > 1; then
    a ← decay · a. A cell that was left alone while k ticks ended catches up: s ← s + a (1 + decay + … + decay^(k−1)), a geometric
    series, or s ← s · Π (1 + 1 / (t − 1)) over the ticks t that ended, the quotient of two values of `growth`, that product over
    all ticks.
    """
    t, ended, growth = clock[0], int(clock[1]), clock[2]
    reach = len(power) - 1
    lost = 1.0 - power[1]
    at = 0
    for event in range(len(tick)):
        if tick[event] > t:
            if t > 1.0:
                growth *= 1.0 + 1.0 / (t - 1.0)
            t = tick[event]
            ended += 1
        most = 0.0
        for _ in range(sketches):
            a = s = math.inf
            for k in range(at, at + rows):
                i = place[k]
                here = now[i]
                past = total[i]
                gap = ended - seen[i]
                if gap > 0:
                    fade = 1.0
                    while gap > reach:
                        fade *= power[reach]
                        gap -= reach
                    fade *= power[gap]
                    if score[i] < threshold:
                        past += here * ((1.0 - fade) / lost)
                    else:
                        past *= growth / grown[i]
                    total[i] = past
                    here *= fade
                    seen[i] = ended
                    grown[i] = growth
                here += 1.0
                now[i] = here
                if here < a:
                    a = here
                if past < s:
                    s = past
            own = 0.0
            if s > 0.0 and t > 1.0:
                beyond = a + s - a * t
                own = beyond * beyond / (s * (t - 1.0))
                if own > most:
                    most = own
            for k in range(at, at + rows):
                score[place[k]] = own
            at += rows
        raw[event] = most
    clock[0], clock[1], clock[2] = t, ended, growth


def run(kernel: Kernel, events: int, *arguments: Any) -> None:
    """One of the loops, compiled where that is worth it: here for `events` events in all."""
    fast = compiled(kernel) if events >= WORTH_COMPILING and uses_numba() else None
    if fast is not None:
        fast(*arguments)
    else:
        kernel(*(each.data if isinstance(each, np.ndarray) else each for each in arguments))


def uses_numba() -> bool:
    """Whether numba is there and can be imported beside this numpy."""
    return _numba() is not None


@cache
def compiled(kernel: Kernel) -> Kernel:
    """Machine code of a loop, kept in a file for the next process where there is a place for one."""
    numba = _numba()
    try:
        fast: Kernel = numba.njit(cache=True)(kernel)
    except RuntimeError:  # no folder that can be written to
        fast = numba.njit(kernel)
    return fast


@cache
def _numba() -> Any:
    try:
        return import_module("numba")
    except ImportError:
        return None
