"""Contrast: how much unlike real events, as trees tell them from pseudo-anomalies."""

from __future__ import annotations

from typing import ClassVar

import torch

from sdgad.detectors.event_table import Table
from sdgad.detectors.growing import grow
from sdgad.detectors.row_maker import RowMaker, thinned
from sdgad.detectors.sdgad.evidence.base import MANY, Group, Lesson, kinds
from sdgad.detectors.sdgad.evidence.boosted_kind import BoostedKind


@kinds.register("contrast")
class Contrast(BoostedKind):
    """Log-odds of boosted trees, training events against one pseudo-anomaly each."""

    group: ClassVar[Group] = "contrast"

    def columns(self, rows: Table) -> Table:
        return self.table.for_contrast(rows)

    def fit(self, lesson: Lesson) -> None:
        task = lesson.task
        maker = RowMaker(task, self.table, lesson.generator)
        normal = task.train[torch.from_numpy(lesson.normal).to(task.train.device)]
        examples = maker.against_pseudo(normal, lesson.some_normal)
        judge = maker.against_pseudo(thinned(task.val, MANY), thinned(lesson.val, MANY))
        self._trees = grow(examples, judge, lesson.growth, lesson.seed, device=self.table.device)
