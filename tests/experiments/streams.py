"""Small streams for protocols: one without anomalies, one with its own."""

from __future__ import annotations

import numpy as np

from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream

RATES = {"train": {"T": 0.02}, "val": {"T": 0.02}, "test": {"T": 0.01, "S": 0.01}}


def messages(events: int = 1500, people: int = 60, seed: int = 0) -> EventStream:
    """Nobody did anything wrong: people write to a few friends each."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, people, events)
    dst = (src + rng.integers(1, 6, events) ** 2) % people
    return EventStream(src, dst, np.cumsum(rng.integers(0, 90, events)))


def payments(events: int = 1500) -> EventStream:
    """With anomalies and types of their own."""
    return simulate_payments(events, anomaly_rate=0.05, seed=1)
