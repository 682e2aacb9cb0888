"""Halves: events on their way into a live history, seen from one endpoint each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sdgad.history.state import Array


@dataclass(frozen=True, eq=False)
class Halves:
    """Half-events sorted by (slot, arrival); a self-loop is one half, as its source."""

    slot: Array  # [H] of the endpoint
    event: Array  # [H] which of the events that come together
    side: Array  # [H] which endpoint of it, 0 or 1
    start: Array  # [G] where the halves of each slot begin
    size: Array  # [G] how many there are
    rank: Array  # [H] which of its slot's, from 0

    @classmethod
    def of(cls, slot: Array) -> Self:
        """Of events between the slots `[n, 2]`."""
        keep = np.stack([np.ones(len(slot), bool), slot[:, 0] != slot[:, 1]], 1)
        own = slot[keep]
        event, side = np.nonzero(keep)
        order = np.argsort(own, kind="stable")
        own = own[order]
        start = np.flatnonzero(np.append(True, own[1:] != own[:-1])[: len(own)])
        size = np.diff(start, append=len(own))
        return cls(own, event[order], side[order], start, size, np.arange(len(own)) - np.repeat(start, size))

    @property
    def each(self) -> Array:
        """[G] the slots, each once."""
        found: Array = self.slot[self.start]
        return found

    def latest(self, length: int) -> Array:
        """[H] which of them are among the last so many of their slot."""
        found: Array = self.rank >= np.repeat(self.size, self.size) - length
        return found
