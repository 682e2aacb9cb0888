"""Events by pair: how often each acts, and how long it pauses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdgad.events.stream import Array


@dataclass(frozen=True, eq=False)
class Rows:
    """Benign events in order of time; an ordered pair is the number src · nodes + dst."""

    src: Array
    dst: Array
    t: Array  # float64
    msg: Array | None
    nodes: int

    def __len__(self) -> int:
        return len(self.src)

    def take(self, rows: Array) -> Rows:
        msg = None if self.msg is None else self.msg[rows]
        return Rows(self.src[rows], self.dst[rows], self.t[rows], msg, self.nodes)

    @cached_property
    def pair(self) -> Array:
        """Source and destination as one number."""
        return self.src * self.nodes + self.dst

    @cached_property
    def pair_count(self) -> Array:
        """Per event: how often its pair acts."""
        number, count = self._pairs
        return count[number]

    @cached_property
    def pause(self) -> Array:
        """From each event to the next of its pair; NaN from the last."""
        order, start = self._by_pair
        pause = np.full(len(self), np.nan)
        pause[order[:-1]] = np.diff(self.t[order])
        pause[order[start[1:] - 1]] = np.nan
        return pause

    def pause_of(self, anchors: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """For each anchor a random pause of its pair, by its two ends; it ends at NaN for a pair that acts once."""
        order, start = self._by_pair
        pair = self._pairs[0][anchors]
        pauses = start[pair + 1] - start[pair] - 1
        which = np.floor(rng.random(len(anchors)) * np.maximum(pauses, 1)).astype(np.int64)
        event = order[start[pair] + which]
        return self.t[event], self.t[event] + self.pause[event]

    @cached_property
    def _pairs(self) -> tuple[Array, Array]:
        """The pair of each event, numbered from 0, and how often each pair acts."""
        _, number, count = np.unique(self.pair, return_inverse=True, return_counts=True)
        return number, count

    @cached_property
    def _by_pair(self) -> tuple[Array, Array]:
        """Events in order of pairs, and where each pair begins there."""
        number, count = self._pairs
        return np.argsort(number, kind="stable"), np.concatenate([[0], np.cumsum(count)])


def joined(earlier: Rows, later: Rows) -> Rows:
    """Events of one stream, one part after the other."""
    msg = None
    if earlier.msg is not None and later.msg is not None:
        msg = np.concatenate([earlier.msg, later.msg])
    return Rows(
        np.concatenate([earlier.src, later.src]),
        np.concatenate([earlier.dst, later.dst]),
        np.concatenate([earlier.t, later.t]),
        msg,
        later.nodes,
    )
