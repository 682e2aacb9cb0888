"""Known anomalies by trees, where many are labelled."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.growing import LabelledRows, grow
from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.sdgad.evidence.base import Group, Lesson, kinds
from sdgad.detectors.sdgad.evidence.boosted_kind import BoostedKind

ENSEMBLES = 3  # with a few dozen anomalies, what one of them learns depends on its draws


@kinds.register("trees")
class LabelledTrees(BoostedKind):
    """Log-odds of boosted trees on labels, the mean of three ensembles; an unknown label counts as normal."""

    group: ClassVar[Group] = "known"

    def learns(self, lesson: Lesson) -> bool:
        return int(lesson.anomalous.sum()) >= FEW_LABELS

    def fit(self, lesson: Lesson) -> None:
        task = lesson.task
        judge = None
        if task.val_has_both_classes:
            judge = LabelledRows(self.columns(lesson.val), np.asarray((task.val_label == 1).cpu()))
        examples = LabelledRows(self.columns(lesson.train), lesson.anomalous)
        self._trees = grow(examples, judge, lesson.growth, lesson.seed, ENSEMBLES, self.table.device)


@kinds.register("level-trees")
class LevelTrees(LabelledTrees):
    """The same on context and edge features alone: fewer columns to be misled by, and other mistakes."""

    def columns(self, rows: Table) -> Table:
        return self.table.levels(rows)
