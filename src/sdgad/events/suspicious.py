"""Times that are absurd beside those of the other events: 1970 or 2099 among rows of 2026."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdgad.events.clock import WALL, Clock

Array = np.ndarray[Any, Any]
Span = tuple[float, float]  # first and last time

FAR = 20  # spans of all the others
FEW = 10  # events, below which a file has no bulk; and no more than one in so many, at either end, is outside of it
DAY = 86_400.0
SHORT = 30 * DAY  # seconds; a shorter span says little about how far the next event may be
SHORT_HISTORY = 365 * DAY  # the same where a model's history speaks, since a model may be old


def core(t: Array) -> Array:
    """First and last of the middle 80% of sorted times, which bad ones do not reach; of few, the median."""
    edge = len(t) // FEW if len(t) >= FEW else (len(t) - 1) // 2
    return t[[edge, len(t) - 1 - edge]] if len(t) else t


def bulk(t: Array, clock: Clock, history: Span | None = None) -> slice:
    """Of sorted times those that belong together; what is before or after them is suspicious.

    The bulk of a file is the middle 80% of its events and whatever is no further from it than 20 times the span of the
    whole: of the bulk and, where a model looks at them, of the model's `history` (first and last time, in the
    same unit). A span below 30 days counts as 30 days. On a wall clock whose bulk lies between 1990 and 2100, what lies
    outside of these years is suspicious as soon as it is further away than the span itself. Fewer than ten events have
    no bulk: they, and files of which most events are near the history, have to be no further from the history than 20
    times its span, or 20 years.
    """
    x = np.asarray(t, np.float64) * clock.seconds
    past = None if history is None else (history[0] * clock.seconds, history[1] * clock.seconds)
    first, stop = 0, len(x)
    if len(x) >= FEW:
        low, high = core(x)
        hull = (low, high) if past is None else (min(low, past[0]), max(high, past[1]))
        first, stop = _grown(x, hull, SHORT, clock)
    if past is not None and len(x):
        near = _grown(x, past, SHORT_HISTORY, clock)
        if len(x) < FEW or 2 * (near[1] - near[0]) >= len(x):
            first, stop = max(first, near[0]), min(stop, near[1])
    return slice(first, max(first, stop))


def far_from(t: Array, clock: Clock, history: Span | None = None) -> Array:
    """The same as a mask of suspicious events, whatever their order."""
    order = np.argsort(t, kind="stable")
    far = np.ones(len(t), bool)
    far[order[bulk(t[order], clock, history)]] = False
    return far


def _grown(x: Array, hull: Span, short: float, clock: Clock) -> tuple[int, int]:
    """First row of the events that belong to a hull, and where they end: it grows over its neighbours."""
    low, high = hull
    inside = clock.wall_clock and WALL[0] <= low and high <= WALL[1]
    spans = np.where(inside & ((x < WALL[0]) | (x > WALL[1])), 1, FAR)
    first, stop = int(np.searchsorted(x, low, "left")), int(np.searchsorted(x, high, "right"))
    while True:
        before = first, stop
        first, low = _down(x[:first], spans[:first], low, high, short)
        grown, top = _down(-x[stop:][::-1], spans[stop:][::-1], -high, -low, short)
        stop, high = len(x) - grown, -top
        if (first, stop) == before:
            return first, stop


def _down(x: Array, spans: Array, low: float, high: float, short: float) -> tuple[int, float]:
    """How many of the events below an interval stay outside as it grows down over its neighbours, and its lower end then."""
    if not len(x):
        return 0, low
    above = np.append(x[1:], low)
    far = np.flatnonzero(above - x > np.maximum(spans * (high - above), FAR * short))
    outside = int(far[-1]) + 1 if len(far) else 0
    return outside, float(x[outside]) if outside < len(x) else low
