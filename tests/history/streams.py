"""Small random streams that are hard on an index: ties, self-loops, duplicates, few nodes, huge times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from sdgad.events.clock import Clock
from sdgad.history.index import HistoryIndex, Ties
from sdgad.history.window import Tensors, Window

from .reference import Event, Reference

Array = np.ndarray[Any, Any]
TIES: tuple[Ties, ...] = ("strict", "arrival")
GAPS = (
    0,
    0,
    0,
    0,
    1,
    1,
    7,
    60,
    3599,
    86_400,
    2_592_000,
)  # in units; half of all rows tie with the one before
EPOCH = {
    "s": 1_700_000_000,
    "ms": 1_700_000_000_123,
    "us": 1_700_000_000_123_456,
    "ns": 1_700_000_000_123_456_789,
}


@dataclass(frozen=True)
class Stream:
    src: Array
    dst: Array
    t: Array
    msg: Array
    nodes: int
    clock: Clock

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: slice | Array) -> Stream:
        return replace(self, src=self.src[rows], dst=self.dst[rows], t=self.t[rows], msg=self.msg[rows])

    def renamed(self, numbers: Array) -> Stream:
        return replace(self, src=numbers[self.src], dst=numbers[self.dst], nodes=int(numbers.max()) + 1)

    def with_row(self, at: int, src: int, dst: int, t: Any, msg: Array) -> Stream:
        """The stream with one more event, put in at a row."""
        return replace(
            self,
            src=np.insert(self.src, at, src),
            dst=np.insert(self.dst, at, dst),
            t=np.insert(self.t, at, t),
            msg=np.insert(self.msg, at, msg, axis=0),
        )

    def seconds(self, t: Any) -> float:
        """A time as the index counts it."""
        return float(t - self.t[0]) * self.clock.seconds

    def index(self, ties: Ties, **options: Any) -> HistoryIndex:
        return HistoryIndex(
            self.src, self.dst, self.t, self.msg, num_nodes=self.nodes, clock=self.clock, ties=ties, **options
        )

    def reference(self, ties: Ties) -> Reference:
        columns = (self.src.tolist(), self.dst.tolist(), self.t.tolist())
        events = [Event(*event, row=row) for row, event in enumerate(zip(*columns, strict=True))]
        return Reference(events, ties, self.clock.seconds)


@st.composite
def streams(draw: st.DrawFn, smallest: int = 0, largest: int = 36) -> Stream:
    nodes = draw(st.integers(1, 5))
    count = draw(st.integers(smallest, largest))
    node = st.lists(st.integers(0, nodes - 1), min_size=count, max_size=count)
    gaps = np.array(draw(st.lists(st.sampled_from(GAPS), min_size=count, max_size=count)), np.int64)
    unit = draw(st.sampled_from(sorted(EPOCH)))
    wall_clock = draw(st.booleans())
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    tick = draw(st.sampled_from([1, per_second]))  # gaps down to one unit of the clock, or whole seconds
    t = np.cumsum(gaps * tick) + (EPOCH[unit] if draw(st.booleans()) else 0)
    if draw(st.booleans()):
        t = t.astype(np.float64) + draw(st.sampled_from([0.0, 0.25, -1e6]))
    width = draw(st.integers(0, 2))
    msg = np.arange(1, count * width + 1, dtype=np.float32).reshape(count, width)
    src, dst = np.array(draw(node), np.int64), np.array(draw(node), np.int64)
    return Stream(src, dst, t, msg, nodes, Clock(unit, wall_clock))


def everything(index: HistoryIndex, history: int) -> Window:
    return index.rows(torch.arange(len(index)), history)


def tensors(batch: Tensors) -> dict[str, Tensor]:
    """All that a Window holds, by name: `node`, …, `hop.node`, …"""
    found: dict[str, Tensor] = {}
    for name, value in vars(batch).items():
        if isinstance(value, Tensors):
            found |= {f"{name}.{inner}": tensor for inner, tensor in tensors(value).items()}
        elif value is not None:
            found[name] = value
    return found


def assert_same_bits(one: Window, other: Window) -> None:
    found = tensors(other)
    assert tensors(one).keys() == found.keys()
    for name, value in tensors(one).items():
        assert torch.equal(value, found[name]), name
