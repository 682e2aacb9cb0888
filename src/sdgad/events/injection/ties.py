"""Who shares a time with whom: how real events are tied, and seats among them for injected ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdgad.events.injection.copies import divided
from sdgad.events.stream import Array


@dataclass(frozen=True, eq=False)
class Shapes:
    """How an event is tied: `crowd` rows have its time, `siblings` of them its source too, `copies` its destination too.

    All three count the event itself; `t` is the time of the real event that has this shape.
    """

    crowd: Array
    siblings: Array
    copies: Array
    t: Array

    def __len__(self) -> int:
        return len(self.crowd)

    def take(self, rows: Array) -> Shapes:
        return Shapes(self.crowd[rows], self.siblings[rows], self.copies[rows], self.t[rows])


@dataclass(frozen=True, eq=False)
class Ties:
    """All rows of a part by distinct time (`instants`), by source and time, and by pair and time."""

    instants: Array
    crowd: Array  # rows per instant
    own: Array  # source · instants + instant, sorted, distinct
    own_count: Array
    triple: Array  # pair · instants + instant, sorted, distinct
    triple_count: Array
    pairs: Array  # ordered pairs, sorted, distinct
    nodes: int
    benign: Array  # triples with a benign event

    @classmethod
    def of(cls, src: Array, dst: Array, t: Array, nodes: int, benign: Array) -> Ties:
        instants, when = np.unique(t, return_inverse=True)
        pairs, pair = np.unique(src * nodes + dst, return_inverse=True)
        own, own_count = np.unique(src * len(instants) + when, return_counts=True)
        key = pair * len(instants) + when
        triple, place, triple_count = np.unique(key, return_inverse=True, return_counts=True)
        crowd = np.bincount(when, minlength=len(instants))
        return cls(
            instants, crowd, own, own_count, triple, triple_count, pairs, nodes, np.unique(place[benign])
        )

    # ------------------------------------------------------------------ shapes of real events
    def draw_shapes(self, rows: int, rng: np.random.Generator) -> Shapes:
        """Shapes of real events, so many that their copies are `rows` rows in all.

        Each distinct (source, destination, time) is as likely as any other; as all its copies are made, an injected
        row has the shape of a random real row (see `divided`).
        """
        real = self.triple_count[self.benign]
        copies, size = divided(rows, np.bincount(real), rng)
        by_size = np.lexsort((self._siblings(self.benign), real))
        low, high = (np.searchsorted(real[by_size], size, side=side) for side in ("left", "right"))
        even = (rng.permutation(len(size)) + rng.random(len(size))) / len(size)  # few draws, evenly spread
        place = low + np.floor(even * (high - low)).astype(np.int64)
        triple = self.benign[by_size[np.minimum(place, len(by_size) - 1)]]
        instant = self.triple[triple] % len(self.instants)
        return Shapes(self.crowd[instant], self._siblings(triple), copies, self.instants[instant])

    def _siblings(self, triple: Array) -> Array:
        """Rows of each triple's source at its time."""
        pair, instant = np.divmod(self.triple[triple], len(self.instants))
        src = self.pairs[pair] // self.nodes
        return self.own_count[np.searchsorted(self.own, src * len(self.instants) + instant)]

    def most_siblings(self, src: Array) -> Array:
        """For each source, the most rows that it has at one time."""
        most = np.zeros(self.nodes, np.int64)
        np.maximum.at(most, self.own // len(self.instants), self.own_count)
        return most[src]

    # ------------------------------------------------------------------ habits
    @cached_property
    def own_start(self) -> Array:
        """Where each source's own instants begin in `own`."""
        start: Array = np.searchsorted(self.own, np.arange(self.nodes + 1) * len(self.instants))
        return start

    @cached_property
    def own_time(self) -> Array:
        time: Array = self.instants[self.own % len(self.instants)]
        return time

    @cached_property
    def own_gap(self) -> Array:
        """From each of a source's instants to its next; NaN from the last."""
        gap = np.append(np.diff(self.own_time), np.nan)
        gap[self.own_start[1:][np.diff(self.own_start) > 0] - 1] = np.nan
        return gap

    @cached_property
    def gaps(self) -> Array:
        """All gaps between one source's consecutive instants; where there is none, those of the stream."""
        gaps = self.own_gap[~np.isnan(self.own_gap)]
        return gaps if len(gaps) else np.append(np.diff(self.instants), 1.0)

    def time_of(self, src: Array, rng: np.random.Generator) -> Array:
        """For each source one of its own instants."""
        start, count = self.own_start[src], np.diff(self.own_start)[src]
        which = start + np.floor(rng.random(len(src)) * count).astype(np.int64)
        return np.asarray(self.own_time[np.minimum(which, len(self.own) - 1)])

    def gap_of(self, src: Array, rng: np.random.Generator) -> Array:
        """For each source one of its own gaps; for one with a single instant, anybody's."""
        start, count = self.own_start[src], np.diff(self.own_start)[src] - 1
        own = self.own_gap[start + np.floor(rng.random(len(src)) * np.maximum(count, 1)).astype(np.int64)]
        return np.where(count > 0, own, rng.choice(self.gaps, len(src)))
