"""Kind: one kind of evidence on events that are rows of a table."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
import torch

from sdgad.detectors.event_table import EventTable, Table
from sdgad.detectors.growing import Growth
from sdgad.detectors.row_maker import thinned
from sdgad.detectors.task import Task
from sdgad.events.stream import Array
from sdgad.registry import Registry

MANY = 60_000  # training events

Group = Literal["density", "contrast", "unfamiliar", "like", "known", "floods"]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a kind may learn from: a task, its training and validation events as rows, a seed, and how trees may grow."""

    task: Task
    train: Table
    val: Table
    seed: int
    growth: Growth

    @cached_property
    def anomalous(self) -> Array:
        """Which training events are labelled anomalous."""
        return (self.task.train_label == 1).cpu().numpy()

    @cached_property
    def normal(self) -> Array:
        """Places of training events that are not labelled anomalous, evenly thinned where they are many."""
        found: Array = thinned(np.flatnonzero(~self.anomalous), MANY)
        return found

    @property
    def some_train(self) -> Table:
        """Training events, thinned likewise: for means, spreads and ranks, more teach nothing new."""
        return thinned(self.train, MANY)

    @cached_property
    def some_normal(self) -> Table:
        """Those of `normal`."""
        found: Table = self.train[self.normal]
        return found

    @property
    def generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed)


class Kind(ABC):
    """A number for every event, the higher the more anomalous; in which unit is nobody's business but its `Tail`'s.

    A density asks how rare an event is, a contrast how unlike real ones, unfamiliar how little is known of who takes part; like
    and known how much like labelled anomalies, in closed form from the first label on, and learned from many. What is `absolute`
    is in nats already; nats beyond `most` are hardly counted.
    """

    name: ClassVar[str]
    group: ClassVar[Group]
    absolute: ClassVar[bool] = False
    most: ClassVar[float] = math.inf  # nats that it can have

    def __init__(self, table: EventTable) -> None:
        self.table = table

    def reading(self, table: EventTable) -> Self:
        """The same, of rows of a table on another device."""
        moved = copy.copy(self)
        moved.table = table
        return moved

    def learns(self, lesson: Lesson) -> bool:  # noqa: ARG002
        """Whether there is something to learn from."""
        return True

    @abstractmethod
    def fit(self, lesson: Lesson) -> None:
        """Learn; validation labels may stop it, and nothing else."""

    @abstractmethod
    def raw(self, rows: Table) -> Array:
        """`[B]` float64, of events as rows of the table."""

    def counted(self, raw: Array, surprise: Array) -> Array:  # noqa: ARG002
        """`[B]`, what is joined: the surprise n, −log p among normals, but m (1 − e^{−n/m}) of a kind that has m nats at most."""
        if self.most == math.inf:
            return surprise
        bounded: Array = -self.most * np.expm1(-surprise / self.most)
        return bounded

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """What was learned."""

    @abstractmethod
    def load(self, arrays: Mapping[str, Array]) -> None:
        """The inverse of `arrays`."""


kinds: Registry[Kind] = Registry("kind of evidence", "sdgad.evidence", base=Kind)
