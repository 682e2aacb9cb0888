"""Rows of a task for boosted trees: events by their labels, or against pseudo-anomalies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from torch import Generator, Tensor

from sdgad.detectors.event_table import EventTable, Table
from sdgad.detectors.growing import LabelledRows
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.detectors.task import Task
from sdgad.events.stream import Array

MOST = 300_000  # events, beside as many pseudo-anomalies: of these there are as many as one likes, and more teach nothing new


Rows = TypeVar("Rows", Tensor, Table, Array)


def thinned(rows: Rows, most: int) -> Rows:
    """At most so many of them, in even steps."""
    return rows[:: max(1, -(-len(rows) // most))]


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Rows of a task to tell apart."""

    task: Task
    table: EventTable
    generator: Generator

    def labelled(self, rows: Tensor, label: Tensor) -> LabelledRows:
        """Events by their labels, in all columns; an unknown one counts as normal."""
        return LabelledRows(self.table.rows(self.task.index, rows), (label == 1).cpu().numpy())

    def against_pseudo(self, rows: Tensor, real: Table | None = None) -> LabelledRows:
        """Events, which somebody may have looked up already, and as many pseudo-anomalies made from them, in the columns for a
        contrast."""
        index = self.task.index
        made = self.table.made(index, PseudoAnomalies(index, rows).draw(rows, self.generator))
        anomalous = np.repeat([False, True], [len(rows), len(made)])
        examples = np.concatenate([self.table.rows(index, rows) if real is None else real, made])
        return LabelledRows(self.table.for_contrast(examples), anomalous)

    def contrast(self) -> LabelledRows:
        """Training normals against pseudo-anomalies and the few real ones, each of which counts many times; likewise."""
        task = self.task
        real = task.train_label == 1
        examples = self.against_pseudo(thinned(task.train[~real], MOST))
        few = self.table.rows(task.index, task.train[real]) if real.any() else examples.table[:0]
        few = self.table.for_contrast(few)
        # copies, because weights make scikit-learn's binning slow
        copies = np.repeat(few, max(1, len(examples.table) // 2 // max(1, len(few))), axis=0)
        return LabelledRows(
            np.concatenate([examples.table, copies]),
            np.append(examples.anomalous, np.ones(len(copies), bool)),
        )

    def judge(self, few: bool) -> LabelledRows | None:
        """What the number of trees is chosen on: validation by its labels, or against pseudo-anomalies where the
        trees learn from such; a classifier without both classes in validation has no judge."""
        task = self.task
        if task.val_has_both_classes:
            known = self.labelled(task.val, task.val_label)
            return replace(known, table=self.table.for_contrast(known.table)) if few else known
        return self.against_pseudo(thinned(task.val, MOST)) if few else None
