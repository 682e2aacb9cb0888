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
from sdgad.history.needs import Needs
from sdgad.history.query import Asked
from sdgad.history.window import Window


class Reader:
    """Windows of real and of made-up events.

    Without memory any events may be read in any order. With it, `places` and `windows` go through the stream in
    order, from where the memory stands, and let it move on behind them; `rows`, `made` and `look_up` then read events of
    the current batch.
    """

    def __init__(self, task: Task, memory: NodeMemory | None, needs: Needs | None = None) -> None:
        self.task = task
        self.needs = needs or task.view.needs  # those of the network may be fewer than the detector's
        self.memory = memory
        if memory is not None:
            memory.expect(task.index.num_nodes)

    def rows(self, rows: Tensor) -> Window:
        """Events of the stream, by number."""
        return self.look_up(self.asked(rows))

    def made(self, events: PseudoEvents) -> Window:
        """Events that did not happen."""
        return self.look_up(self.task.index.asked(events.query, events.msg))

    def asked(self, rows: Tensor) -> Asked:
        """Events of the stream, by number, as `look_up` takes them."""
        return self.task.index.asked_rows(rows)

    def look_up(self, asked: Asked) -> Window:
        """Windows of events of both kinds."""
        view = self.task.view
        return self._with_memory(self.task.index.look_up(asked, view.history, self.needs))

    def sizes(self, rows: Tensor, size: int) -> list[int]:
        """How many events each batch has, where there are at most `size`: a memory cuts some of them short."""
        if self.memory is None:
            lengths = [len(rows)]
        else:
            self.memory.reset()
            first = int(rows[0])
            cuts = self.memory.cuts(self.seconds(torch.arange(first + len(rows)))) - first
            lengths = np.diff([0, *cuts[cuts > 0].tolist(), len(rows)]).tolist()
        return [min(size, length - i) for length in lengths for i in range(0, length, size)]

    def places(self, rows: Tensor, size: int) -> Iterator[Tensor]:
        """Batches, each as the places of its events among the rows: with memory, which begins anew, in order of time."""
        places = torch.arange(len(rows), device=rows.device)
        if self.memory is None:
            yield from torch.split(places, size)
            return
        self.begin_before(rows)
        for part in self._walk(self.memory, rows, size):
            yield part - rows[0]

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
        anchor = events.anchor.cpu()
        first = int(rows[0]) if len(rows) else 0
        stop = first
        for part in self._walk(self.memory, rows, most):
            start, stop = stop, stop + len(part)
            here = ((anchor >= start) & (anchor < stop)).nonzero()[:, 0]
            if len(here):
                yield self.made(events.take(here.to(rows.device)))

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
        seconds = self.seconds(rows)
        for part in stretches(memory, seconds, most):
            window = self.task.view.rows(self.task.index, rows[part])
            memory.move_on(window, seconds[part])
            yield rows[part]
            memory.enter(window, seconds[part])

    def seconds(self, rows: Tensor) -> Array:
        """When these events happened, since the first of the stream."""
        t = self.task.log.t
        return self.task.border.seconds(t[rows.cpu().numpy()], t[0])

    def _with_memory(self, window: Window) -> Window:
        return window if self.memory is None else self.memory.attach(window)
