"""Contrast: how much unlike real events, as trees tell them from pseudo-anomalies."""

from __future__ import annotations

from typing import ClassVar

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
        normal = task.train[task.train_label != 1]
        maker = RowMaker(task, self.table, lesson.generator)
        examples, judge = (maker.against_pseudo(thinned(rows, MANY)) for rows in (normal, task.val))
        self._trees = grow(examples, judge, lesson.growth, lesson.seed, device=self.table.device)
