"""Who shares a time with whom: how real events are tied, and seats among them for injected ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdgad.events.injection.copies import divided
from sdgad.events.stream import Array


@dataclass(frozen=True, eq=False)
class Shapes:
    """How events are tied: `crowd` rows have their time; `siblings` of them their source too, with `partners` destinations;
    `copies` their destination too.

    All count the event itself; `t` is the time of the real event that has this shape.
    """

    crowd: Array
    siblings: Array
    partners: Array
    copies: Array
    t: Array

    def __len__(self) -> int:
        return len(self.crowd)


@dataclass(frozen=True, eq=False)
class Ties:
    """All rows of a part by distinct time (`instants`), by source and time, and by pair and time."""

    instants: Array
    crowd: Array  # rows per instant
    own: Array  # source · instants + instant, sorted, distinct
    own_count: Array
    own_partners: Array  # distinct destinations
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
        known, moment = np.divmod(triple, len(instants))
        partners = np.bincount(np.searchsorted(own, pairs[known] // nodes * len(instants) + moment))
        return cls(
            instants, np.bincount(when), own, own_count, partners, triple, triple_count, pairs, nodes,
            np.unique(place[benign]),
        )  # fmt: skip

    # ------------------------------------------------------------------ shapes of real events
    def draw_shapes(self, rows: int, rng: np.random.Generator) -> Shapes:
        """Shapes of real events, so many that their copies are `rows` rows in all.

        Each distinct (source, destination, time) is as likely as any other; as all its copies are made, an injected
        row has the shape of a random real row (see `divided`).
        """
        real = self.triple_count[self.benign]
        copies, size = divided(rows, np.bincount(real), rng)
        by_size = np.lexsort((self.own_count[self._own(self.benign)], real))
        low, high = (np.searchsorted(real[by_size], size, side=side) for side in ("left", "right"))
        place = low + np.floor(evenly(len(size), rng) * (high - low)).astype(np.int64)
        triple = self.benign[by_size[np.minimum(place, len(by_size) - 1)]]
        instant, own = self.triple[triple] % len(self.instants), self._own(triple)
        return Shapes(
            self.crowd[instant], self.own_count[own], self.own_partners[own], copies, self.instants[instant]
        )

    def _own(self, triple: Array) -> Array:
        """Where the source and time of each triple stand in `own`."""
        pair, instant = np.divmod(self.triple[triple], len(self.instants))
        own: Array = np.searchsorted(self.own, self.pairs[pair] // self.nodes * len(self.instants) + instant)
        return own

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
        begin, end = self._stretches
        return end - begin

    @cached_property
    def _stretches(self) -> tuple[Array, Array]:
        """Where each of these gaps begins, and where it ends."""
        known = np.flatnonzero(~np.isnan(self.own_gap))
        if len(known):
            return self.own_time[known], self.own_time[known + 1]
        return self.instants, np.append(self.instants[1:], self.instants[-1] + 1.0)

    def gap_of(self, src: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """For each source one of its own gaps, by its two ends; for one with a single instant, anybody's."""
        start, count = self.own_start[src], np.diff(self.own_start)[src] - 1
        anybody = rng.integers(len(self.gaps), size=len(src))
        begin, end = (ends[anybody] for ends in self._stretches)
        own = start + np.floor(rng.random(len(src)) * np.maximum(count, 1)).astype(np.int64)
        known = own[count > 0]
        begin[count > 0], end[count > 0] = self.own_time[known], self.own_time[known + 1]
        return begin, end


def evenly(count: int, rng: np.random.Generator) -> Array:
    """Uniform numbers, one in each of `count` equal parts of [0, 1), in random order."""
    return np.asarray((rng.permutation(count) + rng.random(count)) / max(count, 1))
