"""The small streams that detectors are checked on: payments on a coarse clock, with all that is awkward in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sdgad.events.clock import Clock
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import Array, EventStream

EVENTS = 900
TICK = 7200.0  # seconds between two times of the clock: most events share theirs with others

Rename = Callable[[str], Any]


class Payments:
    """Payments as raw columns, with ties, self-loops, duplicate rows, and ids that the test part sees first."""

    def __init__(self, num_events: int = EVENTS, seed: int = 3) -> None:
        events = simulate_payments(num_events, anomaly_rate=0.08, seed=seed)
        row = np.arange(num_events)
        row[50::50] -= 1  # duplicates
        self.src = np.asarray(events.vocabulary.raw(events.src).to_pylist(), object)[row]
        self.dst = np.asarray(events.vocabulary.raw(events.dst).to_pylist(), object)[row]
        self.dst[::40] = self.src[::40]  # self-loops
        late = np.arange(int(0.6 * num_events), num_events)[::9]
        self.dst[late] = [f"shop-{9000 + row // 40}" for row in late]  # unseen before
        self.t = np.round(np.floor(events.t[row] / TICK) * TICK + 0.123, 3)  # no whole seconds
        assert events.msg is not None
        self.msg, self.label, self.features = events.msg[row], events.label[row], events.features
        self.clock = Clock("s", wall_clock=True)

    def stream(self, rename: Rename = str, unit: str = "s") -> EventStream:
        """All of it, under other names or in another unit of time."""
        clock = Clock(unit, wall_clock=True)
        t = self.t if unit == "s" else (self.t / clock.seconds).round().astype(np.int64)
        src, dst = ([rename(node) for node in side] for side in (self.src, self.dst))
        return EventStream(src, dst, t, self.msg, self.label, features=self.features, clock=clock)

    @cached_property
    def parts(self) -> tuple[EventStream, EventStream, EventStream]:
        return self.stream().split(train=0.4, val=0.2)

    @property
    def train(self) -> EventStream:
        return self.parts[0]

    @property
    def val(self) -> EventStream:
        return self.parts[1]

    @property
    def test(self) -> EventStream:
        return self.parts[2]

    @property
    def fitted(self) -> int:
        """How many events come before the test part."""
        return len(self.train) + len(self.val)

    @property
    def end(self) -> float:
        """When the history of a detector that was fitted on them ends."""
        return float(self.val.t[-1])

    def fresh(self, src: Iterable[Any], dst: Iterable[Any], t: Any, msg: Any = None) -> EventStream:
        """Other events with the same features, and no past of their own."""
        columns = np.tile(self.msg[:1], (len(t), 1)) if msg is None else msg
        return EventStream(list(src), list(dst), t, columns, features=self.features, clock=self.clock)

    def rows(self, rows: slice, **other: Any) -> EventStream:
        """Some of the events as a stream of their own, with other columns where they are given."""
        given: Mapping[str, Any] = {"t": self.t[rows], "msg": self.msg[rows], **other}
        return self.fresh(self.src[rows], self.dst[rows], given["t"], given["msg"])

    def arrivals(self, draw: np.random.Generator) -> EventStream:
        """A few events after the end of the history: known and unseen ids, ties, self-loops, missing features."""
        count = int(draw.integers(1, 15))
        ids = np.array([*sorted(set(self.src[:60]))[:6], "unseen", "Ünseen 🙈", "7"], object)
        gaps = draw.choice([0.0, 0.0, 1.0, 3600.0, 90_000.0], count)
        amount = np.where(draw.random(count) < 0.2, np.nan, 10 ** draw.uniform(-2, 6, count))
        channel = draw.choice([0.0, 1.0, 2.0, np.nan], count)
        src, dst = (draw.choice(ids, count).tolist() for _ in range(2))
        return self.fresh(src, dst, self.end + np.cumsum(gaps), np.stack([amount, channel], 1))

    def crowd(self, count: int = 150) -> EventStream:
        """Events after the test part, each of two strangers and at a time of its own."""
        ids = [f"stranger {i}" for i in range(2 * count)]
        return self.fresh(ids[::2], ids[1::2], float(self.t[-1]) + TICK * np.arange(1, count + 1))

    def cuts(self, draw: np.random.Generator) -> Array:
        """Rows of the test part, half of them inside a tie."""
        tied = np.flatnonzero(self.test.t[1:] == self.test.t[:-1]) + 1
        anywhere = draw.integers(0, len(self.test) + 1, 2)
        return np.sort(np.where(draw.random(2) < 0.5, anywhere, draw.choice(tied, 2)))


@lru_cache(maxsize=1)
def payments() -> Payments:
    """The stream that all detectors are checked on."""
    return Payments()


def backwards(node: str) -> int:
    """A number for each of the simulator's ids (acc-00012, shop-0003), in reverse order."""
    kind, number = node.split("-")
    return -int(number) * 2 - (kind == "shop")


def in_other_letters(node: str) -> str:
    """Another name for each id, with characters that are no ASCII."""
    return f"💸 {node[::-1]} ü"
