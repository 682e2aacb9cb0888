"""Replay: the stream of a fit as snapshots, just as a state will see them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from sdgad.detectors.task import Task
from sdgad.history.blocks import BlockState
from sdgad.history.state import Array
from sdgad.history.window import Window


@dataclass(frozen=True)
class Snapshot:
    """Rows `start` to `stop` of the log; those from `first` to `last` are for training, those from `judged` on for validation."""

    number: int
    start: int
    stop: int
    first: int
    last: int
    judged: int


class Replay:
    """The snapshots of a task: predecessors, training and validation events, cut where the state's commits fall.

    A cut may not lie at the border of two parts: then the snapshot that holds it is trained on as far as it is for training,
    and its validation events are scored, as later by the state, with what was known before it.
    """

    def __init__(self, task: Task, size: int) -> None:
        log, device = task.log, task.label.device
        self.task = task
        src, dst = (torch.from_numpy(nodes).to(device) for nodes in (log.src, log.dst))
        self.node = torch.stack([src, dst], 1)
        self.label = task.label
        self.held_back = 0  # snapshots that are past and nothing else
        self._share = 1.0  # of the training rows of a snapshot
        total, first, middle = len(log), task.first, task.middle
        edges = [0, *Cuts(size).cuts(task.border.seconds(log.t, log.t[0])).tolist(), total]
        self.snapshots = [
            Snapshot(
                number,
                start,
                stop,
                min(max(start, first), stop),
                max(min(stop, middle), start),
                min(max(start, middle), stop),
            )
            for number, (start, stop) in enumerate(pairwise(edges))
        ]

    def hold_back(self, snapshots: int) -> None:
        """Learn nothing from the first so many of the stream, before which too little came; half are left to learn from."""
        first = next(each.number for each in self.training if each.first < each.last)
        self.held_back = min(snapshots, first + (len(self.training) - first) // 2)

    def draw(self, most: int | None) -> None:
        """About so many rows of an epoch, drawn anew in each, where there are more; only where steps are parts of snapshots."""
        total = sum(self._count(each, 1.0) for each in self.training)
        self._share = min(1.0, (most or total) / total)

    def _count(self, snapshot: Snapshot, share: float) -> int:
        if snapshot.number < self.held_back:
            return 0
        return math.ceil(share * max(snapshot.last - snapshot.first, 0))

    @property
    def training(self) -> list[Snapshot]:
        """Those that hold training events, and those of predecessors before them."""
        return [each for each in self.snapshots if each.start < self.task.middle]

    @property
    def trained_nodes(self) -> int:
        """Distinct nodes up to the end of training."""
        return int(torch.unique(self.node[: self.task.middle]).numel())

    def parts(self, snapshot: Snapshot, most: int | None, generator: torch.Generator) -> Iterator[Tensor]:
        """Training rows of a snapshot: all at once, or in a new order, at most so many at a time."""
        count = self._count(snapshot, self._share if most else 1.0)
        if not count:
            return
        rows = torch.arange(snapshot.first, snapshot.last, device=self.node.device)
        if most:
            order = torch.randperm(len(rows), generator=generator, device=generator.device)
            rows = rows[order[:count].to(rows.device)]
        yield from torch.tensor_split(rows, -(-count // most) if most else 1)

    def num_parts(self, most: int | None) -> int:
        """Steps of an epoch."""
        counts = [self._count(each, self._share if most else 1.0) for each in self.training]
        return sum((-(-count // most) if most else 1) for count in counts if count)


class Cuts(BlockState):
    """A state that holds nothing: it says where snapshots of this size end."""

    def commit(self, block: Window) -> None:
        pass

    def table(self) -> dict[str, Array]:
        return {}

    def set_table(self, table: Mapping[str, Array]) -> None:
        pass
