"""Examples: what a step learns from: events, the few labelled anomalies, and pseudo-anomalies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.pseudo import FEW_LABELS, PseudoAnomalies
from sdgad.history.positions import at
from sdgad.history.query import Asked
from sdgad.history.window import Window

PSEUDO_WEIGHT = 0.2  # the say of one of them beside that of a normal event
FEW_WEIGHT = 0.1  # the say of all the few labelled anomalies together, as a share of the batch


@dataclass(frozen=True)
class Examples:
    """Events with their past, which of them are anomalous, the say of each in a cross-entropy, and of which there is a label."""

    window: Window
    anomalous: Tensor
    weight: Tensor
    known: Tensor


class ExampleMaker:
    """Turns the training events of a task into batches of examples, epoch after epoch.

    Where fewer than 20 anomalies are labelled, these are part of every batch. Where fewer than `pseudo_below` are,
    pseudo-anomalies made of every other event of a batch join in. An encoder with memory knows the state of the current batch
    only: there a labelled anomaly stays in its own batch, with the same say as all of them together would have had in it.

    What is drawn at random is drawn once per epoch, into tables that stay where they are: a batch is the places of its events
    in the order of the epoch, and to make its examples asks nothing of the host.
    """

    def __init__(
        self,
        reader: Reader,
        generator: torch.Generator,
        *,
        batch: int,
        shuffled: bool,
        pseudo_below: int,
    ) -> None:
        task = reader.task
        label = task.train_label
        anomalies = task.train[label == 1]
        self.few = len(anomalies) < FEW_LABELS
        short = len(anomalies) < pseudo_below
        self.pseudo = PseudoAnomalies(task.index, task.train[label != 1]) if short else None
        self._always = anomalies if self.few and reader.memory is None else anomalies[:0]
        self._reader = reader
        self._generator = generator
        self._size = batch
        self._shuffled = shuffled and reader.memory is None
        self._rows = task.train[label != 1] if len(self._always) else task.train
        self._order = self._rows.clone()
        sizes = reader.sizes(self._rows, batch)
        self.num_batches = len(sizes)
        edges = pairwise(accumulate(sizes, initial=0))
        every_other = torch.cat([torch.arange(start, stop, 2) for start, stop in edges])
        self._parents = every_other.to(
            self._rows.device
        )  # places of the events that pseudo-anomalies are made of
        self._made: Asked | None = None

    @property
    def alike(self) -> bool:
        """Whether all batches of one size are the same work; not where a memory moves on between them."""
        return self._reader.memory is None

    def epoch(self, _: int) -> Iterator[Tensor]:
        """The places of each batch, in a new order and with new pseudo-anomalies."""
        self._draw()
        return self._reader.places(self._order, self._size)

    def __call__(self, places: Tensor) -> Examples:
        """Examples of one batch."""
        always, reader = self._always, self._reader
        rows = torch.cat([at(self._order, places), always])
        label = at(reader.task.label, rows)
        anomalous, known = label == 1, ~label.isnan()
        asked = [reader.asked(rows)]
        weight = torch.ones(len(rows), device=rows.device)
        if len(always):
            weight = torch.where(anomalous, FEW_WEIGHT * len(rows) / len(always), weight)
        elif self.few and reader.memory is not None:
            weight = torch.where(anomalous, FEW_WEIGHT * len(rows), weight)
        if self._made is not None:
            count = -(-len(places) // 2)
            first = torch.searchsorted(self._parents, places[:1])
            asked.append(self._made.take(first + torch.arange(count, device=rows.device)))
            anomalous, known = (torch.cat([part, part.new_ones(count)]) for part in (anomalous, known))
            weight = torch.cat([weight, weight.new_full((count,), PSEUDO_WEIGHT)])
        return Examples(reader.look_up(Asked.cat(asked)), anomalous, weight, known)

    def _draw(self) -> None:
        rows, generator = self._rows, self._generator
        if self._shuffled:
            order = torch.randperm(len(rows), generator=generator, device=generator.device)
            self._order.copy_(at(rows, order.to(rows.device)))
        if self.pseudo is None:
            return
        made = self.pseudo.draw(at(self._order, self._parents), generator)
        asked = self.pseudo.index.asked(made.query, made.msg)
        if self._made is None:
            self._made = asked
        else:
            self._made.refill(asked)
