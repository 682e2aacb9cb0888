"""The recipe without fingerprints: nothing but the anomaly itself tells an injected event from a real one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdgad.events.injection.contexts import Distance, gower, unrepeated
from sdgad.events.injection.material import Draft, Material
from sdgad.events.injection.recipe import ATTEMPTS, Recipe
from sdgad.events.injection.seats import Seats
from sdgad.events.stream import Array, EventStream

_NEAR = 5  # events around a time that say how busy it is


class Clean(Recipe):
    """Injected events are tied, rounded and copied like real ones.

    An event that keeps its time in the published recipe gets one of its own, a gap of its source's after the anchor.
    Each takes the shape of a real event: as many rows on its time, as many of its source there, as many copies of
    itself (e-mail streams repeat rows: then an injected event is several rows). A pair is moved to times after it was
    first seen. Foreign pairs are foreign to all that came before, and never a node with itself. Nodes are those that
    act in this part, in their role. Numbers that are never repeated are not repeated.
    """

    title = "no cue but the anomaly itself"

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self._seats = Seats(material.ties, material.grid)
        self._t = np.repeat(material.ties.instants, material.ties.crowd)

    @staticmethod
    def reference(events: EventStream) -> EventStream | None:
        return events.predecessors

    def own_times(self, src: Array, near: Array, rng: np.random.Generator) -> Array:
        """One of the source's own gaps later or earlier."""
        gap = self.material.ties.gap_of(src, rng)
        return self._after(src, near, gap * rng.choice([-1, 1], len(src)), rng)

    def pair_times(self, anchors: Array, rng: np.random.Generator) -> Array:
        """One of the pair's own pauses later; for a pair that acted once, one of the source's gaps."""
        material = self.material
        src = material.src[anchors]
        pause = material.pause_of(anchors, rng)
        gap = np.where(np.isnan(pause), material.ties.gap_of(src, rng), pause)
        return self._after(src, material.t[anchors], gap, rng)

    def _after(self, src: Array, near: Array, gap: Array, rng: np.random.Generator) -> Array:
        """A gap after a time, or before where the part ends; if that is an hour or more, within half an hour of a time of
        the day at which the source acts."""
        first, last = self.material.first, self.material.last
        t = np.where((near + gap >= first) & (near + gap <= last), near + gap, near - gap)
        day = 86400 / self.material.clock.seconds
        usual = t - np.mod(t, day) + np.mod(self.material.ties.time_of(src, rng), day)
        usual += rng.uniform(-0.5, 0.5, len(t)) * day / 24
        t = np.where((np.abs(gap) > day / 24) & (usual >= first) & (usual <= last), usual, t)
        inside: Array = (t >= first) & (t <= last)
        return np.where(inside, t, rng.uniform(first, last, len(t)))

    def sometime(self, start: Array, end: Array, rng: np.random.Generator) -> Array:
        """Near a random event between the two, so that anomalies are not where nobody acts: uniform from five events
        before it to five after."""
        t = self._t
        low, high = np.searchsorted(t, start, side="left"), np.searchsorted(t, end, side="right")
        near = low + np.floor(rng.random(len(start)) * (high - low)).astype(np.int64)
        before = np.maximum(t[np.maximum(near - _NEAR, 0)], start)
        after = np.minimum(t[np.minimum(near + _NEAR, len(t) - 1)], end)
        return np.asarray(rng.uniform(before, np.maximum(before, after)))

    def displaced(self, count: int, salience: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """Times at which the stream is as busy as it is for real events, and pairs that were seen by then."""
        material = self.material
        target = self.sometime(np.full(count, material.first), np.full(count, material.last), rng)
        anchors = self.anchors(count, salience, rng)
        for _ in range(ATTEMPTS):
            unseen = np.flatnonzero(self._since(anchors) > target)
            if not len(unseen):
                break
            anchors[unseen] = self.anchors(len(unseen), salience, rng)
        return anchors, np.maximum(target, self._since(anchors))

    def _since(self, anchors: Array) -> Array:
        return self.material.observed.since_of(self.material.src[anchors], self.material.dst[anchors])

    def distance(self) -> Distance:
        msg = self.material.msg
        assert msg is not None  # kinds that change features need some
        return gower(msg, self.material.features)

    def unfit(self, src: Array, dst: Array) -> Array:
        refused: Array = super().unfit(src, dst) | (src == dst)
        return refused

    def anyone(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        return rng.choice(self.material.sources, count), rng.choice(self.material.destinations, count)

    def last_resort(
        self, anchors: Array, dst: Array, todo: Array, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Other anchors, with any destination of the part."""
        for _ in range(ATTEMPTS):
            if not len(todo):
                break
            anchors[todo] = self.anchors(len(todo), 1.0, rng)
            dst[todo] = rng.choice(self.material.dst, len(todo))
            todo = todo[self.unfit(self.material.src[anchors[todo]], dst[todo])]
        return anchors, dst

    def make(
        self, kind: Callable[..., Draft], count: int, salience: float, rng: np.random.Generator
    ) -> Draft:
        material = self.material
        shapes = material.ties.draw_shapes(count, rng)
        draft = kind(self, len(shapes), salience, rng)
        room = np.argsort(material.ties.most_siblings(draft.src), kind="stable")
        shapes = shapes.take(
            np.argsort(shapes.siblings, kind="stable")[np.argsort(room)]
        )  # large ones for whom they suit
        rung = material.grid.roundness(shapes.t)
        t = np.array(
            [
                self._seats.find(*seat)
                for seat in zip(
                    draft.src.tolist(), draft.dst.tolist(), draft.t.tolist(),
                    shapes.crowd.tolist(), shapes.siblings.tolist(), shapes.copies.tolist(), rung.tolist(),
                    strict=True,
                )
            ],
            np.float64,
        )  # fmt: skip
        msg = draft.msg
        if msg is not None and material.msg is not None:
            msg = unrepeated(msg, material.msg, material.features, rng)
        row = np.repeat(np.arange(len(shapes)), shapes.copies)
        return Draft(draft.src[row], draft.dst[row], t[row], None if msg is None else msg[row])
