"""EventLog: all that a fitted detector remembers of the stream, in its own numbering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sdgad.events.clock import Clock
from sdgad.events.held import ANY, held
from sdgad.history.index import HistoryIndex
from sdgad.history.positions import Ties
from sdgad.history.retention import Lives, Retention

Array = np.ndarray[Any, Any]
SQUASHED = 2000.0  # features are logarithms of what may be as large as a float64 can be
FURTHEST = 2.0**62  # times beyond it have differences that no int64 holds


@dataclass(frozen=True)
class EventLog:
    """Events in time order: endpoints as node numbers, times as they were, features as the model has them."""

    src: Array
    dst: Array
    t: Array
    msg: Array

    @classmethod
    def empty(cls, width: int) -> EventLog:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, np.empty((0, width), np.float32))

    def __len__(self) -> int:
        return len(self.t)

    def take(self, rows: Array) -> EventLog:
        """Some of the rows, by number, in order."""
        return EventLog(self.src[rows], self.dst[rows], self.t[rows], self.msg[rows])

    def merged(self, new: EventLog) -> tuple[EventLog, Array]:
        """This log with `new` put in by time, after rows of the same time; and where the new rows went.

        Ordinarily the new rows come last; late ones go where they belong.
        """
        both = EventLog(
            np.concatenate([self.src, new.src]),
            np.concatenate([self.dst, new.dst]),
            np.concatenate([self.t, new.t]),
            np.concatenate([self.msg, new.msg]),
        )
        place = np.arange(len(self), len(both))
        if len(self) == 0 or len(new) == 0 or new.t[0] >= self.t[-1]:
            return both, place
        order = np.argsort(both.t, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return both.take(order), rank[place]

    def joined(self, new: EventLog) -> tuple[EventLog, Array, Array]:
        """This log with those of `new` that it does not hold yet; where the new rows stand; which were held already.

        A row older than the end of the log that the log holds is delivered twice and stays where it stands. At its very
        end that cannot be told: equal rows of one time are two events.
        """
        known = np.full(len(new), -1)
        if len(self):
            late = new.t < self.t[-1]
            known[late] = self.find(new.take(np.flatnonzero(late)))
        again = known >= 0
        fresh = new.take(np.flatnonzero(~again))
        both, added = self.merged(fresh)
        place = np.empty(len(new), np.int64)
        place[~again] = added
        place[again] = known[again] + np.searchsorted(
            fresh.t, self.t[known[again]]
        )  # late ones moved them on
        return both, place, again

    def find(self, new: EventLog) -> Array:
        """Where each new row stands in this log already, to the last bit of its features; −1 where it does not.

        The n-th of equal rows is the n-th of equal rows here, so that duplicates are matched one to one.
        """
        found = np.full(len(new), -1)
        if len(self) == 0 or len(new) == 0:
            return found
        first = int(np.searchsorted(self.t, new.t.min()))
        both = [
            np.concatenate([old[first:], more]) for old, more in zip(self._keys(), new._keys(), strict=True)
        ]
        old = len(self) - first
        order = np.lexsort(both)  # stable: of equal rows those of the log come first, in their order
        fresh = np.ones(len(order), bool)
        fresh[1:] = np.any([key[order][1:] != key[order][:-1] for key in both], axis=0)
        group = np.cumsum(fresh) - 1
        start = np.flatnonzero(fresh)
        held = np.bincount(group, weights=order < old).astype(np.int64)[
            group
        ]  # rows of the log that are equal to it
        nth = np.arange(len(order)) - start[group] - held  # of the new rows among its equals
        match = (nth >= 0) & (nth < held)
        found[order[match] - old] = first + order[start[group[match]] + nth[match]]
        return found

    def _keys(self) -> list[Array]:
        """Columns that are equal for equal rows."""
        if self.msg.shape[1] == 0:
            return [self.dst, self.src, self.t]
        rows = np.ascontiguousarray(self.msg)
        return [
            rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0],
            self.dst,
            self.src,
            self.t,
        ]

    def index(
        self,
        clock: Clock,
        ties: Ties,
        *,
        then: EventLog | None = None,
        context: bool = True,
        retention: Retention | None = None,
        device: str | torch.device = "cpu",
    ) -> HistoryIndex:
        """The HistoryIndex over these events and those that come `then`; under a retention its nodes are the lives of ours."""
        src, dst, t = self.src, self.dst, self.t
        if then is not None:
            pairs = ((src, then.src), (dst, then.dst), (t, then.t))
            src, dst, t = (np.concatenate(pair) for pair in pairs)
        if retention is not None and retention.bounded and len(t):
            seconds = np.asarray((t - t[0]) * clock.seconds, np.float64)
            src, dst = Lives(retention).assign(src, dst, seconds).T
        return HistoryIndex(
            src,
            dst,
            t,
            [self.msg] if then is None else [self.msg, then.msg],
            clock=clock,
            ties=ties,
            context=context,
            pair_age=None if retention is None else retention.max_age,
            device=device,
        )

    def arrays(self) -> dict[str, Array]:
        """As they go into `state.safetensors`."""
        return {"log.src": self.src, "log.dst": self.dst, "log.t": self.t, "log.msg": self.msg}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], width: int) -> EventLog:
        """The inverse of `arrays`, of events with so many features; a ValueError where they cannot be a log."""
        t = held(arrays, "log.t", "i8 f8", (ANY,), low=-FURTHEST, high=FURTHEST, rising=True)
        src, dst = (held(arrays, f"log.{name}", "i8", (len(t),), low=0) for name in ("src", "dst"))
        return cls(src, dst, t, held(arrays, "log.msg", "f4", (len(t), width), low=-SQUASHED, high=SQUASHED))
