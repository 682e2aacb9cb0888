"""Entering: events on their way into a live history."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdgad.history.halves import Halves
from sdgad.history.state import Array

COLUMNS = ("slot", "life", "seconds", "msg", "context")


@dataclass
class Entering:
    """Columns of events, in order, that become past together: those of one node all at one time.

    Each part of a live history takes what it needs, and writes here what it finds out for those that they enter after it.
    """

    slot: Array  # [n, 2] where the endpoints are kept
    life: Array  # [n, 2] what Windows call the endpoints
    seconds: Array  # [n] since the stream began
    msg: Array  # [n, d]
    context: Array  # [n, C]
    # what is found out on the way
    first: int = field(default=0, init=False)  # number of the first of them: events that entered before
    meeting: Array | None = field(
        default=None, init=False
    )  # [n] who is the first of its pair; by the pair table
    before: Array | None = field(
        default=None, init=False
    )  # [G] events that each slot of `halves` had; by the rings
    met: Array | None = field(default=None, init=False)  # [G] whom its newest one was with; likewise
    sees: Array | None = field(default=None, init=False)  # [n, 2] `RecentEvents.sees`; by the rings
    previous: Array | None = field(default=None, init=False)  # [n, 2] likewise

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def columns(self) -> dict[str, Array]:
        """The events as they came."""
        return {name: getattr(self, name) for name in COLUMNS}

    @cached_property
    def halves(self) -> Halves:
        """The events as their endpoints see them."""
        return Halves.of(self.slot)

    @property
    def number(self) -> Array:
        """Of each event in the stream."""
        return np.arange(self.first, self.first + len(self))

    def take(self, rows: Array) -> Entering:
        """Some of them, as they came."""
        return Entering(*(column[rows] for column in self.columns.values()))
