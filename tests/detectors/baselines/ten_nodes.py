"""A stream among ten nodes, small enough to work by hand, and one in which the last event tells."""

from __future__ import annotations

import numpy as np
import torch

from sdgad.detectors import make_detector
from sdgad.events.stream import EventStream, FeatureColumn
from sdgad.history.index import HistoryIndex
from sdgad.history.needs import Needs
from sdgad.history.window import Window
from sdgad.metrics import auroc

EVENTS = [(0, 1), (1, 2), (2, 3), (0, 2), (4, 5), (5, 6), (1, 0), (7, 8), (8, 9), (5, 0), (0, 4)]
LAST = len(EVENTS) - 1  # 0 meets 4: event 10, at ten o'clock
HISTORY, HOP = 3, 2
MARK = FeatureColumn("mark")


def index_of(events: list[tuple[int, int]], nodes: int = 10) -> HistoryIndex:
    """An event every hour; its one feature is its number plus 1."""
    src, dst = np.array(events).T
    t = 3600.0 * np.arange(len(events))
    msg = np.arange(1.0, len(events) + 1, dtype=np.float32)[:, None]
    return HistoryIndex(src, dst, t, msg, num_nodes=nodes, context=False)


def window_of(row: int, needs: Needs, history: int = HISTORY) -> Window:
    """The Window of one of the events among the ten."""
    return index_of(EVENTS).rows(torch.tensor([row]), history, needs)


def past_of(events: list[tuple[int, int]], node: int, row: int, most: int) -> list[int]:
    """The numbers of the last events of a node before an event."""
    return [k for k in range(row) if node in events[k]][-most:]


def other_of(event: tuple[int, int], node: int) -> int:
    return event[1] if event[0] == node else event[0]


def last_was_marked(events: int = 2400, nodes: int = 60, share: float = 0.25, seed: int = 0) -> EventStream:
    """Random pairs meet; an event is anomalous if the source's last one was marked. Counts and times say nothing."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, nodes, events)
    dst = (src + rng.integers(1, nodes, events)) % nodes
    mark, label = rng.random(events) < share, np.zeros(events)
    last: dict[int, int] = {}
    for row, (source, target) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        label[row] = source in last and mark[last[source]]
        last[source] = last[target] = row
    return EventStream(
        [f"n{i}" for i in src],
        [f"n{i}" for i in dst],
        np.cumsum(rng.exponential(10.0, events)),
        mark[:, None].astype(np.float32),
        label,
        features=(MARK,),
    )


def quality(name: str, **options: object) -> float:
    """AUROC after a short fit, without context features."""
    train, val, test = last_was_marked().split(train=0.5, val=0.2)
    small = {"history": 2, "hop": 2, "batch": 64, "context": False, "device": "cpu"}
    detector = make_detector(name, **{**small, **options}).fit(train, val)
    return auroc(test.label, detector.decision_function(test)) or 0.0
