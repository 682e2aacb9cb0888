"""The steps that kinds of anomalies are made of, after Postuvan et al. (TMLR 2024), each with a dial."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from sdgad.events.injection.contexts import Distance, exchanged
from sdgad.events.injection.material import Draft, Material
from sdgad.events.injection.places import Places
from sdgad.events.stream import Array, EventStream

logger = logging.getLogger("sdgad.events")

WINDOW = 10  # events to either side of an anchor from which a new destination comes
ATTEMPTS = 100  # to find what has not been observed
PAIR_POWER = -1.5  # of a pair's count: one power undoes the multiplicity, the half favours rare pairs


class Recipe(ABC):
    """How anomalies are made of one material; presets differ in what else they take care of.

    `salience` s is 1 for the classical recipe. Below it, each step keeps closer to what is usual:
    anchors are drawn with weight c^{−3s/2}, c the count of their pair; a displacement d of time becomes
    g·(|d|/g)^s, g the granularity; features come from the ⌈10 s⌉-th closest of ten events; a foreign partner is
    taken with probability π + (1 − π)s, π the share of real events that are the first of their pair, else the anchor's own.
    """

    def __init__(self, material: Material) -> None:
        self.material = material
        self._weights: dict[float, Array] = {}  # of anchors, cumulated, by salience

    @staticmethod
    @abstractmethod
    def reference(events: EventStream) -> EventStream | None:
        """The other events whose pairs count as observed, beside those of the part itself."""

    @staticmethod
    @abstractmethod
    def places(events: EventStream, rng: np.random.Generator) -> Places:
        """Where rows stand among those of their time."""

    @abstractmethod
    def own_times(self, src: Array, near: Array, rng: np.random.Generator) -> Array:
        """Times at which these sources might act, near a time at which an anchor has happened."""

    @abstractmethod
    def pair_times(self, anchors: Array, rng: np.random.Generator) -> Array:
        """Times at which the anchors' pairs might act again."""

    @abstractmethod
    def displaced(self, count: int, salience: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """Anchors, and a time for each at which its pair has no business."""

    @abstractmethod
    def sometime(self, start: Array, end: Array, rng: np.random.Generator) -> Array:
        """Any time between two, whoever acts then."""

    @abstractmethod
    def distance(self) -> Distance:
        """How far features are from each other."""

    @abstractmethod
    def make(
        self, kind: Callable[..., Draft], count: int, salience: float, rng: np.random.Generator
    ) -> Draft:
        """`count` rows of one kind, with their final times."""

    # ------------------------------------------------------------------ steps
    def anchors(self, count: int, salience: float, rng: np.random.Generator) -> Array:
        """Benign events to start from, drawn with weight c^{−3s/2}."""
        if salience not in self._weights:
            weight = self.material.pair_count.astype(np.float64) ** (PAIR_POWER * salience)
            self._weights[salience] = np.cumsum(weight)
        total = self._weights[salience]
        drawn: Array = np.searchsorted(total, self.lots(count, rng) * total[-1], side="right")
        return np.minimum(drawn, len(total) - 1)

    def moved(self, count: int, salience: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """Anchors, and times from one of the pair's own towards any time of the part."""
        anchors, target = self.displaced(count, salience, rng)
        return anchors, towards(self.pair_times(anchors, rng), target, salience, self.material.grid.tick)

    def foreign_partners(
        self, anchors: Array, salience: float, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Anchors, and a destination for the source of each: that of an event up to ten rows away with which it was not
        observed; below salience 1 sometimes its own (see `foreign`)."""
        material = self.material
        anchors, dst = anchors.copy(), material.dst[anchors]
        todo = np.flatnonzero(rng.random(len(anchors)) < self.foreign(salience))
        for _ in range(ATTEMPTS):
            step = rng.integers(1, WINDOW + 1, len(todo)) * rng.choice([-1, 1], len(todo))
            dst[todo] = material.dst[np.clip(anchors[todo] + step, 0, len(material) - 1)]
            todo = todo[self.unfit(material.src[anchors[todo]], dst[todo])]
            if not len(todo):
                break
        return self.last_resort(anchors, dst, todo, rng)

    def foreign_pairs(self, anchors: Array, salience: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """Two nodes that were not observed together, each drawn by itself; below salience 1 sometimes the anchor's."""
        material = self.material
        src, dst = material.src[anchors], material.dst[anchors]
        todo = np.flatnonzero(rng.random(len(anchors)) < self.foreign(salience))
        for _ in range(ATTEMPTS):
            src[todo], dst[todo] = self.anyone(len(todo), rng)
            todo = todo[self.unfit(src[todo], dst[todo])]
            if not len(todo):
                break
        tell_known(len(todo), len(anchors))
        return src, dst

    def other_contexts(self, anchors: Array, salience: float, rng: np.random.Generator) -> Array | None:
        """Features far from the anchors' own."""
        if self.material.msg is None:
            return None
        return exchanged(self.material.msg, anchors, salience, self.distance(), rng)

    def contexts(self, anchors: Array) -> Array | None:
        """The anchors' own features."""
        return None if self.material.msg is None else self.material.msg[anchors]

    def foreign(self, salience: float) -> float:
        """The probability π + (1 − π)s that a partner is new, π that of a real event."""
        return self.material.novelty + (1 - self.material.novelty) * salience

    def times(self, anchors: Array, dst: Array, rng: np.random.Generator) -> Array:
        """Times of the sources' own with a new destination, and of the pairs' own where it is that of the anchor."""
        material = self.material
        own = self.own_times(material.src[anchors], material.t[anchors], rng)
        return np.where(dst == material.dst[anchors], self.pair_times(anchors, rng), own)

    # ------------------------------------------------------------------ where presets may differ
    def lots(self, count: int, rng: np.random.Generator) -> Array:
        """Numbers that are uniform on [0, 1)."""
        return rng.random(count)

    def unfit(self, src: Array, dst: Array) -> Array:
        """Whether a pair cannot be a foreign one."""
        return self.material.observed.has(src, dst)

    def anyone(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Sources and destinations, uniform over all nodes that can be such."""
        nodes, sources = self.material.nodes, self.material.num_sources
        low = sources if self.material.bipartite else 0
        return rng.integers(sources, size=count), rng.integers(low, nodes, size=count)

    def last_resort(
        self,
        anchors: Array,
        dst: Array,
        todo: Array,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> tuple[Array, Array]:
        """What becomes of anchors around which everybody is known to the source: the last try stands."""
        tell_known(len(todo), len(anchors))
        return anchors, dst


def tell_known(known: int, count: int) -> None:
    """Say so where strangers were wanted and there are none."""
    if known:
        logger.warning(
            "%d of %d injected events have a pair that is known: no other was found.", known, count
        )


def towards(start: Array, target: Array, salience: float, tick: float) -> Array:
    """From `start` in the direction of `target`, by g·(|d|/g)^s of the distance d; at s = 1 all of it."""
    if salience == 1:
        return target
    distance = target - start
    ratio = np.abs(distance) / tick
    moved: Array = start + np.sign(distance) * tick * np.where(ratio > 1, ratio**salience, ratio)
    return moved
