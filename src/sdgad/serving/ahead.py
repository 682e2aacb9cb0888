"""How far in the future an event may be: one wrong clock must not make all later events late."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.stream import Array, EventStream

A_DAY = 86_400.0
"""Seconds that events may be ahead of this machine, unless somebody says otherwise."""


@dataclass(frozen=True)
class Ahead:
    """Bounds in seconds, None for none: ahead of this machine's clock, and of the newest event before.

    Only a wall clock can be compared with the machine's. That bound stands still with silence and cannot be led on by a
    row of events that each go a little further; the other one is for old events, which are all in the machine's past, and
    for clocks that count from anywhere. After a silence longer than itself it refuses whatever comes.
    """

    clock: Clock
    column: str
    of_now: float | None = None
    of_newest: float | None = None
    now: Callable[[], float] = time.time

    def check(self, events: EventStream) -> None:
        """Refuse events of which any is too far ahead of the machine."""
        if self.of_now is not None:
            t = events.times_in(self.clock.unit).astype(np.float64)
            self._refuse(t * self.clock.seconds - self.now(), self.of_now, "this machine's clock")

    def check_order(self, events: EventStream, newest: Any) -> None:
        """Refuse events in time order of which any is too far ahead of those before; `newest` is in the clock's unit."""
        if self.of_newest is not None:
            t: Array = events.times_in(self.clock.unit).astype(np.float64)
            before = np.concatenate([[t[0] if newest is None else newest], t[:-1]])
            ahead = (t - np.maximum.accumulate(before)) * self.clock.seconds
            self._refuse(ahead, self.of_newest, "the newest one")

    def _refuse(self, ahead: Array, most: float, of: str) -> None:
        if (ahead > most).any():
            raise InputError(
                f"Column {self.column!r}: the event is {span(float(ahead.max()))} ahead of {of}, "
                f"more than the {span(most)} that are allowed."
            )


def span(seconds: float) -> str:
    """`40 seconds`, `3 hours`, `12.5 days`."""
    size, unit = next(
        pair for pair in ((86_400, "days"), (3600, "hours"), (0, "seconds")) if seconds >= 2 * pair[0]
    )
    return f"{float(f'{seconds / (size or 1):.3g}'):,g} {unit}"
