"""A small stream of communities: normal events stay inside, anomalous ones go across; new pairs are as common among both."""

from __future__ import annotations

import numpy as np

from sdgad.events.stream import EventStream


def communities(
    events: int = 3000, nodes: int = 100, groups: int = 2, rate: float = 0.05, seed: int = 0
) -> EventStream:
    """Every node acts alike often, with a partner drawn afresh from its own community, or from the others."""
    draw = np.random.default_rng(seed)
    group = np.arange(nodes) % groups
    src, label = draw.integers(0, nodes, events), draw.random(events) < rate
    inside = [np.flatnonzero(group == own) for own in range(groups)]
    outside = [np.flatnonzero(group != own) for own in range(groups)]
    dst = np.array(
        [draw.choice((outside if odd else inside)[group[who]]) for who, odd in zip(src, label, strict=True)]
    )
    dst = np.where(dst == src, (dst + groups) % nodes, dst)
    names = [f"n{i}" for i in range(nodes)]
    return EventStream(
        [names[i] for i in src], [names[i] for i in dst], np.arange(events) * 60.0, label=label.astype(float)
    )
