"""Tick: the events of the newest time, which wait under strict ties until time moves on."""

from __future__ import annotations

import numpy as np

from sdgad.history.entering import COLUMNS, Entering
from sdgad.history.growing import GrowingArrays
from sdgad.history.state import State


class Tick(GrowingArrays, State[Entering]):
    """Events of one time never see each other: none of them is past before the first event of a later time comes."""

    def __init__(self, msg_width: int, context_width: int) -> None:
        super().__init__(
            "tick.",
            {
                "slot": (np.int64, (2,)),
                "life": (np.int64, (2,)),
                "seconds": (float, ()),
                "msg": (np.float32, (msg_width,)),
                "context": (np.float32, (context_width,)),
            },
        )

    def enter(self, rows: Entering) -> None:
        self.append(rows.columns)

    def release(self) -> Entering:
        """All of them; nobody waits any more."""
        everyone = np.arange(len(self))
        self.remember(everyone)
        columns = self.take(everyone)
        self.resize(0)
        return Entering(*(columns[name] for name in COLUMNS))
