"""Small streams to inject into, of every make: how times are written, who is tied, what is labelled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdgad.events.clock import Clock
from sdgad.events.injection import KINDS
from sdgad.events.stream import Array, EventStream, FeatureColumn

TIMES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "ticks": lambda rng, n: rng.integers(0, n // 3, n),
    "seconds": lambda rng, n: rng.integers(-(10**6), 10**6, n),
    "minutes": lambda rng, n: 60.0 * rng.integers(0, n, n),
    "halves": lambda rng, n: 0.5 * rng.integers(0, 4 * n, n),
    "epoch milliseconds": lambda rng, n: np.round(1.7e9 + rng.integers(0, 50 * n, n) / 1000, 3),
    "continuous": lambda rng, n: rng.random(n) * 1e5,
    "epoch ns": lambda rng, n: 1_700_000_000_000_000_001 + rng.integers(0, 10**13, n),
    "one time": lambda _, n: np.full(n, 7),
}
"""How times may be written; most have ties."""


def small(
    times: str = "seconds",
    *,
    count: int = 120,
    nodes: int = 12,
    seed: int = 0,
    bipartite: bool = False,
    features: bool = False,
    labels: str = "none",
    clock: Clock | None = None,
) -> EventStream:
    """Events among few nodes; one feature is a category, and some values are missing."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, nodes, (2, count))
    msg = np.stack([rng.integers(0, 3, count), rng.normal(size=count), rng.integers(0, 9, count)], 1)
    msg[rng.random(msg.shape) < 0.1] = np.nan
    label = (rng.random(count) < 0.2).astype(float)
    if labels == "some":
        label[rng.random(count) < 0.5] = np.nan
    return EventStream(
        src,
        dst,
        np.sort(TIMES[times](rng, count)),
        msg if features else None,
        None if labels == "none" else label,
        bipartite=bipartite,
        features=(FeatureColumn("c", ("a", "b", "z")), FeatureColumn("x"), FeatureColumn("y"))
        if features
        else None,
        clock=clock,
    )


def kinds_for(events: EventStream) -> list[str]:
    """The kinds of anomalies that can be injected here."""
    return [
        name
        for name, kind in KINDS.items()
        if not (kind.needs_features and events.msg is None) and not (kind.needs_one_side and events.bipartite)
    ]


def types(events: EventStream) -> Array:
    """Anomaly types of a stream that has them."""
    assert events.anomaly_type is not None
    return events.anomaly_type


def pairs(events: EventStream) -> list[tuple[int, int]]:
    return list(zip(events.src.tolist(), events.dst.tolist(), strict=True))
