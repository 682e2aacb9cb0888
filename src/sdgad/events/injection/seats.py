"""A time for each injected event, such that it shares it with as many rows as a real event does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdgad.events.injection.grid import Grid
from sdgad.events.injection.observed import Observed
from sdgad.events.injection.ties import Ties
from sdgad.events.stream import Array

_STEPS = 64  # how far to look to either side
_UNLIKE = 0.75  # what another roundness counts, where a factor of e in rows counts 1
_UNEVEN = 2.0  # what a factor of e in copies of other rows counts
_FAR = 0.1  # what a factor of e in hours from the wanted time counts


class Shape(NamedTuple):
    """How one event is tied (see `Shapes`), and how round its time is."""

    crowd: int
    siblings: int
    partners: int
    copies: int
    rung: int


class Seats:
    """Gives out times, one by one; a pair never gets the same one twice, nor one that it has already, nor one from
    before it was first seen.

    For an event that is to have the given shape, in order:

    - a time of the source's own, with siblings − copies of its rows to partners − 1 others, and crowd − copies rows in all;
    - a time with crowd − copies rows of others;
    - a time that nobody has, as round as the real event's that has this shape.

    Of those that fit, as round as the real one if possible, the one closest to the time that is wanted.
    """

    def __init__(self, ties: Ties, grid: Grid, observed: Observed, hour: float) -> None:
        self._ties = ties
        self._observed = observed
        self._grid = grid
        self._hour = hour
        self._rung = grid.roundness(ties.instants)
        self._by_crowd = np.argsort(ties.crowd, kind="stable")
        self._crowds, self._crowd_start = np.unique(ties.crowd[self._by_crowd], return_index=True)
        self._crowd_end = np.append(self._crowd_start[1:], len(ties.crowd))
        self._taken: set[tuple[int, float]] = set()  # by an injected pair
        self._used: set[float] = set()  # by anything injected

    def find(self, src: int, dst: int, wanted: float, shape: Shape) -> float:
        """The seat for one event."""
        pair = src * self._ties.nodes + dst
        found = self._among_own(src, pair, wanted, shape) if shape.siblings > shape.copies else None
        if found is None and shape.crowd > shape.copies:
            found = self._among_others(src, pair, wanted, shape)
        if found is None:
            found = self._alone(pair, wanted, shape.rung)
        self._taken.add((pair, found))
        self._used.add(found)
        return found

    def strangeness(self, src: int, wanted: float, shape: Shape) -> float:
        """How far the source is, near a time, from having had this shape; 0 for one without other rows of the source."""
        if shape.siblings <= shape.copies:
            return 0.0
        return float(self._misfit(src, wanted, shape).min(initial=np.inf))

    def _misfit(self, src: int, wanted: float, shape: Shape) -> Array:
        """For each of a source's own times, how far it is from the shape without the event itself, on a log scale."""
        ties = self._ties
        mine = slice(ties.own_start[src], ties.own_start[src + 1])
        instant, count = ties.own[mine] % len(ties.instants), ties.own_count[mine]
        siblings, partners = shape.siblings - shape.copies, max(shape.partners - 1, 1)
        misfit: Array = (
            np.abs(np.log(count / siblings))
            + np.abs(np.log((ties.crowd[instant] - count + 1) / (shape.crowd - shape.siblings + 1)))
            + _UNEVEN * np.abs(np.log(count / ties.own_partners[mine] * partners / siblings))
            + _UNLIKE * (self._rung[instant] != shape.rung)
            + _FAR * np.log1p(np.abs(ties.own_time[mine] - wanted) / self._hour)
        )
        return misfit

    def _among_own(self, src: int, pair: int, wanted: float, shape: Shape) -> float | None:
        time = self._ties.own_time[self._ties.own_start[src] : self._ties.own_start[src + 1]]
        for i in np.argsort(self._misfit(src, wanted, shape), kind="stable")[:_STEPS]:
            if self._free(pair, float(time[i])):
                return float(time[i])
        return None

    def _among_others(self, src: int, pair: int, wanted: float, shape: Shape) -> float | None:
        ties, crowd = self._ties, shape.crowd - shape.copies
        nearest = int(np.argmin(np.abs(np.log(self._crowds / crowd))))
        candidates = self._by_crowd[self._crowd_start[nearest] : self._crowd_end[nearest]]
        middle = int(np.searchsorted(ties.instants[candidates], wanted))
        around = candidates[max(0, middle - _STEPS) : middle + _STEPS]
        for i in around[
            np.lexsort((np.abs(ties.instants[around] - wanted), self._rung[around] != shape.rung))
        ]:
            time = float(ties.instants[i])
            if not _within(ties.own, src * len(ties.instants) + int(i)) and self._free(pair, time):
                return time
        return None

    def _alone(self, pair: int, wanted: float, rung: int) -> float:
        ties, grid = self._ties, self._grid
        last, since = float(ties.instants[-1]), self._observed.first(pair)
        first = max(float(ties.instants[0]), since)
        start = grid.near(max(wanted, first), rung)
        step = grid.step(rung)
        shared: float | None = None  # where no time is left to itself
        for distance in range(2 * _STEPS):
            for time in (grid.near(start + distance * step, rung), grid.near(start - distance * step, rung)):
                if not first <= time <= last:
                    continue
                if time not in self._used and not _within(ties.instants, time):
                    return time
                if shared is None and self._free(pair, time):
                    shared = time
        return min(max(start, first), last) if shared is None else shared

    def _free(self, pair: int, time: float) -> bool:
        """Whether the pair has been seen by this time, and has no event at it, real or injected."""
        if time <= self._observed.first(pair) or (pair, time) in self._taken:
            return False
        ties = self._ties
        number = int(np.searchsorted(ties.pairs, pair))
        if number == len(ties.pairs) or ties.pairs[number] != pair:
            return True
        instant = int(np.searchsorted(ties.instants, time))
        return not _within(ties.triple, number * len(ties.instants) + instant)


def _within(ordered: Array, value: float) -> bool:
    place = int(np.searchsorted(ordered, value))
    return place < len(ordered) and bool(ordered[place] == value)
