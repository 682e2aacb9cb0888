"""The recipe as published: fingerprints and all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdgad.events.injection.contexts import Distance, cosine
from sdgad.events.injection.material import Draft
from sdgad.events.injection.places import Places
from sdgad.events.injection.recipe import ATTEMPTS, Recipe, towards
from sdgad.events.stream import Array, EventStream

TRAIN = 0.4  # the paper's training share


class Published(Recipe):
    """Postuvan et al. with the paper's T and S.

    A structural or contextual anomaly keeps its anchor's time, a temporal one gets a time that is uniform over the
    part, whatever else happens then. Observed are the pairs of the training part (the first 40% of the whole stream)
    and of the part itself.
    """

    @staticmethod
    def reference(events: EventStream) -> EventStream | None:
        past = events.predecessors
        return None if past is None else past[: int(np.floor(TRAIN * len(events.whole) + 1e-9))]

    @staticmethod
    def places(events: EventStream, rng: np.random.Generator) -> Places:  # noqa: ARG004
        return Places.anywhere()

    def own_times(self, src: Array, near: Array, rng: np.random.Generator) -> Array:  # noqa: ARG002
        return near

    def pair_times(self, anchors: Array, rng: np.random.Generator) -> Array:  # noqa: ARG002
        return self.material.t[anchors]

    def sometime(self, start: Array, end: Array, rng: np.random.Generator) -> Array:
        return rng.uniform(start, end)

    def displaced(self, count: int, salience: float, rng: np.random.Generator) -> tuple[Array, Array]:
        anchors = self.anchors(count, salience, rng)
        return anchors, rng.uniform(self.material.first, self.material.last, count)

    def distance(self) -> Distance:
        return cosine

    def moved(self, count: int, salience: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """On the grid, and drawn again while the pair has an event at this very time."""
        material = self.material
        anchors, t = super().moved(count, salience, rng)
        t = material.grid.down(t)
        mine = np.isin(material.pair, material.pair[anchors])
        there = set(zip(material.pair[mine].tolist(), material.t[mine].tolist(), strict=True))
        for _ in range(ATTEMPTS):
            pairs = material.pair[anchors].tolist()
            again = np.array([key in there for key in zip(pairs, t.tolist(), strict=True)], bool)
            if not again.any():
                break
            target = rng.uniform(material.first, material.last, int(again.sum()))
            t[again] = material.grid.down(
                towards(material.t[anchors[again]], target, salience, material.grid.tick)
            )
        return anchors, t

    def make(
        self, kind: Callable[..., Draft], count: int, salience: float, rng: np.random.Generator
    ) -> Draft:
        draft = kind(self, count, salience, rng)
        t = np.clip(self.material.grid.down(draft.t), self.material.first, self.material.last)
        return Draft(draft.src, draft.dst, t, draft.msg)
