"""Reader: the Windows of a task's events, with the memory of the encoder as it stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.own_state import stretches
from sdgad.detectors.pseudo import PseudoEvents
from sdgad.detectors.task import Task
from sdgad.events.stream import Array
from sdgad.history.memory import NodeMemory
from sdgad.history.window import Window


class Reader:
    """Windows of real and of made-up events.

    Without memory any events may be read in any order. With it, `batches` and `windows` go through the stream in
    order, from where the memory stands, and let it move on behind them; `rows` and `made` then read events of the
    current batch.
    """

    def __init__(self, task: Task, memory: NodeMemory | None) -> None:
        self.task = task
        self.memory = memory

    def rows(self, rows: Tensor) -> Window:
        """Events of the stream, by number."""
        return self._with_memory(self.task.view.rows(self.task.index, rows))

    def made(self, events: PseudoEvents) -> Window:
        """Events that did not happen."""
        view = self.task.view
        return self._with_memory(self.task.index.window(events.query, view.history, events.msg, view.needs))

    def count(self, rows: Tensor, size: int) -> int:
        """How many batches there are."""
        if self.memory is None:
            return -(-len(rows) // size)
        self.memory.reset()
        first = int(rows[0])
        cuts = self.memory.cuts(self._seconds(torch.arange(first + len(rows)))) - first
        lengths = np.diff([0, *cuts[cuts > 0].tolist(), len(rows)])
        return int((-(-lengths // size)).sum())

    def batches(self, rows: Tensor, size: int, shuffle: torch.Generator | None) -> Iterator[Tensor]:
        """Consecutive events, cut into batches: shuffled, or in order; with memory from its beginning, in order."""
        if self.memory is None:
            if shuffle is not None:
                rows = rows[torch.randperm(len(rows), generator=shuffle).to(rows.device)]
            yield from torch.split(rows, size)
            return
        self.begin_before(rows)
        yield from self._walk(self.memory, rows, size)

    def windows(self, rows: Tensor, most: int) -> Iterator[Window]:
        """Windows of consecutive events, in order, of at most `most` events each."""
        memory = self.memory
        parts = torch.split(rows, most) if memory is None else self._walk(memory, rows, most)
        return (self.rows(part) for part in parts)

    def windows_made(self, events: PseudoEvents, rows: Tensor, most: int) -> Iterator[Window]:
        """Windows of made-up events, whose anchors are consecutive events; with memory in the order of these."""
        if self.memory is None:
            for part in torch.split(torch.arange(len(events), device=rows.device), most):
                yield self.made(events.take(part))
            return
        for part in self._walk(self.memory, rows, most):
            here = (events.anchor >= part[0]) & (events.anchor <= part[-1])
            if here.any():
                yield self.made(events.take(here.nonzero()[:, 0]))

    def begin_before(self, rows: Tensor) -> None:
        """Let the memory begin anew and go through all that happened before these consecutive events, its predecessors too."""
        if self.memory is None:
            return
        self.memory.reset()
        before = torch.arange(int(rows[0]) if len(rows) else 0, device=rows.device)
        for _ in self._walk(self.memory, before, self.memory.size):
            pass

    def trial(self) -> AbstractContextManager[None]:
        """Whatever the memory goes through within is undone."""
        return nullcontext() if self.memory is None else self.memory.trial()

    def _walk(self, memory: NodeMemory, rows: Tensor, most: int) -> Iterator[Tensor]:
        for part in stretches(memory, self._seconds(rows), most):
            window = self.task.view.rows(self.task.index, rows[part])
            memory.move_on(window)
            yield rows[part]
            memory.enter(window)

    def _seconds(self, rows: Tensor) -> Array:
        t = self.task.log.t
        return self.task.border.seconds(t[rows.cpu().numpy()], t[0])

    def _with_memory(self, window: Window) -> Window:
        return window if self.memory is None else self.memory.attach(window)
