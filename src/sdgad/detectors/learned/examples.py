"""Examples: what a step learns from: events, the few labelled anomalies, and pseudo-anomalies."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.pseudo import FEW_LABELS, PseudoAnomalies
from sdgad.history.window import Window

PSEUDO_WEIGHT = 0.2  # the say of one of them beside that of a normal event
FEW_WEIGHT = 0.1  # the say of all the few labelled anomalies together, as a share of the batch


@dataclass(frozen=True)
class Examples:
    """Events with their past, which of them are anomalous, and the say of each in a cross-entropy."""

    window: Window
    anomalous: Tensor
    weight: Tensor


class ExampleMaker:
    """Turns batches of training events into examples.

    Where fewer than 20 anomalies are labelled, these are part of every batch. Where fewer than `pseudo_below` are,
    pseudo-anomalies made of every other event join in. An encoder with memory knows the state of the current batch
    only: there a labelled anomaly stays in its own batch, with the same say as all of them together would have had in
    it.
    """

    def __init__(self, reader: Reader, generator: torch.Generator, *, pseudo_below: int) -> None:
        task = reader.task
        label = task.train_label
        anomalies = task.train[label == 1]
        self.few = len(anomalies) < FEW_LABELS
        short = len(anomalies) < pseudo_below
        self.pseudo = PseudoAnomalies(task.index, task.train[label != 1]) if short else None
        self._always = anomalies if self.few and reader.memory is None else anomalies[:0]
        self._reader = reader
        self._generator = generator

    def __call__(self, rows: Tensor) -> Examples:
        """Examples of one batch."""
        always, label = self._always, self._reader.task.label
        if len(always):
            rows = torch.cat([rows[(rows[:, None] != always).all(1)], always])
        window = self._reader.rows(rows)
        anomalous = label[rows] == 1
        weight = torch.ones(len(rows), device=rows.device)
        if len(always):
            weight = torch.where(anomalous, FEW_WEIGHT * len(rows) / len(always), weight)
        elif self.few and self._reader.memory is not None:
            weight = torch.where(anomalous, FEW_WEIGHT * len(rows), weight)
        if self.pseudo is not None:
            made = self.pseudo.draw(rows[: len(rows) - len(always) : 2], self._generator)
            window = window.joined(self._reader.made(made))
            anomalous = torch.cat([anomalous, torch.ones(len(made), dtype=torch.bool, device=rows.device)])
            weight = torch.cat([weight, torch.full((len(made),), PSEUDO_WEIGHT, device=rows.device)])
        return Examples(window, anomalous, weight)
