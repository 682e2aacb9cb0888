"""The recipe without fingerprints: nothing but the anomaly itself tells an injected event from a real one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdgad.events.injection.contexts import Distance, gower, unrepeated
from sdgad.events.injection.material import Draft, Material
from sdgad.events.injection.places import Places
from sdgad.events.injection.recipe import ATTEMPTS, Recipe, tell_known
from sdgad.events.injection.seats import Seats, Shape
from sdgad.events.injection.ties import Shapes, evenly
from sdgad.events.stream import Array, EventStream

_TRIED = 10  # events to find one that suits a shape
_NEAR = 5  # times around one that say how busy it is
_LOPSIDED = 4  # how much farther they may lie to one side than to the other


class Clean(Recipe):
    """Injected events are tied, rounded, copied and ordered like real ones.

    An event that keeps its time in the published recipe gets one of its own, a gap of its source's from the anchor.
    Each takes the shape of a real event: as many rows on its time, as many of its source there, as many copies of
    itself (e-mail streams repeat rows: then an injected event is several rows). Among the rows of its time it stands
    where a real one would. A pair is moved to times after it was first seen. Foreign pairs are foreign to all that came
    before, and never a node with itself. Nodes are those that act in this part, in their role. Numbers that are never
    repeated are not repeated.

    The shape outranks the wanted time. Where most rows share their times, few times have the right shape, and a burst
    or a group may spread over hours or days.
    """

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self._hour = 3600 / material.clock.seconds
        self._seats = Seats(material.ties, material.grid, material.observed, self._hour)
        self._t = np.repeat(material.ties.instants, material.ties.crowd)

    @staticmethod
    def reference(events: EventStream) -> EventStream | None:
        return events.predecessors

    @staticmethod
    def places(events: EventStream, rng: np.random.Generator) -> Places:
        return Places.learned(events.src, events.dst, events.t, rng)

    def own_times(self, src: Array, near: Array, rng: np.random.Generator) -> Array:
        """One of the source's own gaps later or earlier."""
        begin, end = self.material.ties.gap_of(src, rng)
        return self._after(near, begin, end, rng.choice([-1, 1], len(src)), rng)

    def pair_times(self, anchors: Array, rng: np.random.Generator) -> Array:
        """One of the pair's own pauses later; for a pair that acted once, one of the source's gaps."""
        material = self.material
        begin, end = material.pause_of(anchors, rng)
        once, gap = np.isnan(end), material.ties.gap_of(material.src[anchors], rng)
        begin[once], end[once] = gap[0][once], gap[1][once]
        return self._after(material.t[anchors], begin, end, np.ones(len(anchors), np.int64), rng)

    def _after(self, near: Array, begin: Array, end: Array, way: Array, rng: np.random.Generator) -> Array:
        """A real gap later than a time (`way` 1) or earlier (−1); the other way round where the part ends.

        An hour or more is measured in rows of the stream, as a night or a holiday has few: a gap of 500 rows becomes
        one of 500 rows elsewhere.
        """
        row, since, until = (np.searchsorted(self._t, t) for t in (near, begin, end))
        for_long = end - begin > self._hour
        first, last = self.material.first, self.material.last
        for _ in range(2):
            t, there = near + way * (end - begin), row + way * (until - since)
            outside = np.where(for_long, (there < 0) | (there >= len(self._t)), (t < first) | (t > last))
            way = np.where(outside, -way, way)
        there = np.where(outside, rng.integers(len(self._t), size=len(t)), there)
        everywhere = np.full(len(t), first), np.full(len(t), last)
        return np.where(for_long | outside, self._around(there, *everywhere, rng), t)

    def sometime(self, start: Array, end: Array, rng: np.random.Generator) -> Array:
        """Near a random event between the two, so that anomalies are not where nobody acts."""
        low, high = np.searchsorted(self._t, start, side="left"), np.searchsorted(self._t, end, side="right")
        row = low + np.floor(self.lots(len(start), rng) * (high - low)).astype(np.int64)
        return self._around(row, start, end, rng)

    def _around(self, row: Array, start: Array, end: Array, rng: np.random.Generator) -> Array:
        """A time from the fifth before that of a row to the fifth after, between two times.

        The longer side is cut at a multiple of the shorter: nothing falls into the night because the last row of a
        day was drawn.
        """
        instants = self.material.ties.instants
        here = np.searchsorted(instants, self._t[np.clip(row, 0, len(self._t) - 1)])
        back = instants[here] - instants[np.maximum(here - _NEAR, 0)]
        ahead = instants[np.minimum(here + _NEAR, len(instants) - 1)] - instants[here]
        low = instants[here] - np.minimum(back, _LOPSIDED * ahead)
        high = instants[here] + np.minimum(ahead, _LOPSIDED * back)
        return np.asarray(np.clip(rng.uniform(low, high), start, end))

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

    def lots(self, count: int, rng: np.random.Generator) -> Array:
        """Evenly spread, so that even a handful are not all from one season."""
        return evenly(count, rng)

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
        tell_known(len(todo), len(anchors))
        return anchors, dst

    def make(
        self, kind: Callable[..., Draft], count: int, salience: float, rng: np.random.Generator
    ) -> Draft:
        material = self.material
        drawn = material.ties.draw_shapes(count, rng)
        draft = kind(self, len(drawn), salience, rng)
        shapes = self._suited(draft, drawn, rng)
        t, moved = draft.t.copy(), 0.0
        for i, shape in enumerate(shapes):
            first = draft.incident is None or i == 0 or draft.incident[i] != draft.incident[i - 1]
            wanted = draft.t[i] + (0.0 if first else moved)
            t[i] = self._seats.find(int(draft.src[i]), int(draft.dst[i]), float(wanted), shape)
            moved = t[i] - draft.t[i] if first else moved
        msg = draft.msg
        if msg is not None and material.msg is not None:
            msg = unrepeated(msg, material.msg, material.features, rng)
        row = np.repeat(np.arange(len(shapes)), [shape.copies for shape in shapes])
        return Draft(draft.src[row], draft.dst[row], t[row], None if msg is None else msg[row])

    def _suited(self, draft: Draft, drawn: Shapes, rng: np.random.Generator) -> list[Shape]:
        """A shape for each event: each goes, the largest first, to the one of ten whose source has had the most like it."""
        columns = (drawn.crowd, drawn.siblings, drawn.partners, drawn.copies)
        rung = self.material.grid.roundness(drawn.t)
        shapes = [Shape(*values) for values in np.stack([*columns, rung], 1).tolist()]
        given, left = list(shapes), rng.permutation(len(draft)).tolist()
        src, t = draft.src.tolist(), draft.t.tolist()
        for shape in sorted(shapes, key=lambda shape: shape.copies - shape.siblings):
            strange = [self._seats.strangeness(src[event], t[event], shape) for event in left[-_TRIED:]]
            given[left.pop(strange.index(min(strange)) - len(strange))] = shape
        return given
