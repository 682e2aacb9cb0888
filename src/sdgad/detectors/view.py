"""View: how a detector looks at history."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sdgad.events.clock import Clock
from sdgad.history.buffer import HistoryBuffer
from sdgad.history.index import HistoryIndex
from sdgad.history.log import EventLog
from sdgad.history.needs import NONE, Needs
from sdgad.history.positions import Ties
from sdgad.history.retention import Retention
from sdgad.history.window import Window

CPU = torch.device("cpu")
UNBOUNDED = Retention()


@dataclass(frozen=True)
class View:
    """L past events per endpoint, context features or not, who sees whom, how much is remembered, and what an encoder needs."""

    history: int = 0
    context: bool = True
    ties: Ties = "strict"
    retention: Retention = UNBOUNDED
    needs: Needs = NONE
    device: torch.device = CPU

    def index(self, log: EventLog, clock: Clock, then: EventLog | None = None) -> HistoryIndex:
        """The index over a log, and over events that follow it, on the view's device."""
        return log.index(
            clock,
            self.ties,
            then=then,
            context=self.context,
            retention=self.retention,
            device=self.device,
        )

    def rows(self, index: HistoryIndex, rows: torch.Tensor) -> Window:
        """The Window of some of an index's own events."""
        return index.rows(rows, self.history, self.needs)

    def buffer(self, log: EventLog, clock: Clock) -> HistoryBuffer:
        """A live buffer that goes on where a log ends."""
        return HistoryBuffer.from_log(
            log,
            self.history,
            clock=clock,
            ties=self.ties,
            context=self.context,
            retention=self.retention,
            needs=self.needs,
        )
