"""Events without a past, for detectors whose own state replaces it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from sdgad.events.clock import Clock
from sdgad.history.buffer import Look, Rows
from sdgad.history.state import Array, FewValues
from sdgad.history.window import Window


def bare_window(node: Array, seconds: Array, msg: Array, first: int = 0) -> Window:
    """The Window of events (`node` is `[n, 2]`) of which nothing is known but themselves; `first` is the number of the first."""
    count = len(seconds)
    nothing = torch.zeros(count, 2, 0)
    return Window(
        node=torch.from_numpy(np.ascontiguousarray(node)),
        msg=torch.from_numpy(np.ascontiguousarray(msg)),
        context=torch.zeros(count, 0),
        past_node=nothing.long(),
        past_gap=nothing,
        past_msg=torch.zeros(count, 2, 0, msg.shape[1]),
        past_context=torch.zeros(count, 2, 0, 0),
        mask=nothing.bool(),
        time=torch.from_numpy(np.ascontiguousarray(seconds, np.float64)),
        event=torch.arange(first, first + count),
    )


class BareBuffer(FewValues[Look]):
    """In place of a `HistoryBuffer`: it counts events and knows the time, and remembers nobody."""

    values = ("origin", "newest", "events")
    pairs = waiting = 0

    def __init__(self, msg_width: int, clock: Clock) -> None:
        self.clock = clock
        self._width = msg_width
        self.origin: Any = None  # time of the first event, in its own type, so that differences are exact
        self.newest: Any = None
        self.events = 0

    @property
    def remembered(self) -> int:
        """Nodes that are remembered."""
        return 0

    def forgotten(self) -> Array:
        """Slots that are free now: there are none to begin with."""
        return np.empty(0, np.int64)

    def seconds(self, t: Array) -> Array:
        """Since the first event."""
        origin = t[0] if self.origin is None and len(t) else self.origin
        return np.asarray((t - origin) * self.clock.seconds, np.float64) if len(t) else np.empty(0)

    def runs(self, rows: Rows, *, alone: bool = False) -> Iterator[slice]:
        """Parts of a batch to be looked at together: all of it, or single events."""
        size = 1 if alone else max(len(rows), 1)
        return (slice(start, start + size) for start in range(0, len(rows), size))

    def push(self, rows: Rows) -> Window:
        """The Windows of the next events, which count from now on."""
        look = self.look(rows)
        self.enter(look)
        return look.window

    def look(self, rows: Rows) -> Look:
        """The Window of the next events; time moves on to them."""
        seconds = self.seconds(rows.t)
        if len(rows):
            self.origin = rows.t[0] if self.origin is None else self.origin
            self.newest = rows.t[-1]
        return Look(rows, rows.slot, seconds, bare_window(rows.slot, seconds, rows.msg, self.events), None)

    def enter(self, rows: Look, keep: Array | None = None) -> None:
        self.events += len(rows.rows) if keep is None else int(np.count_nonzero(keep))

    def window_of_nothing(self) -> Window:
        """A Window without events."""
        return bare_window(np.empty((0, 2), np.int64), np.empty(0), np.empty((0, self._width), np.float32))

    def arrays(self) -> dict[str, Array]:
        return {
            "stream.origin": np.array([] if self.origin is None else [self.origin]),
            "stream.newest": np.array([] if self.newest is None else [self.newest]),
            "stream.events": np.array([self.events]),
        }

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.origin, self.newest = (
            arrays[name][0] if len(arrays[name]) else None for name in ("stream.origin", "stream.newest")
        )
        self.events = int(arrays["stream.events"][0])
