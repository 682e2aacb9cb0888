"""Contrast: how much unlike real events, as trees tell them from pseudo-anomalies."""

from __future__ import annotations

from typing import ClassVar

from sdgad.detectors.boosted import ExampleMaker, grow
from sdgad.detectors.sdgad.evidence.base import Group, Lesson, kinds
from sdgad.detectors.sdgad.evidence.boosted_kind import BoostedKind

MOST = 60_000  # events: more teach nothing new


@kinds.register("contrast")
class Contrast(BoostedKind):
    """Log-odds of boosted trees, training events against one pseudo-anomaly each."""

    group: ClassVar[Group] = "contrast"

    def fit(self, lesson: Lesson) -> None:
        task = lesson.task
        normal = task.train[task.train_label != 1]
        maker = ExampleMaker(task, self.table, lesson.generator)
        examples = maker.against_pseudo(normal[:: -(-len(normal) // MOST)])
        judge = maker.against_pseudo(task.val[:: -(-len(task.val) // MOST)])
        self._trees = grow(examples, judge, lesson.growth, lesson.seed)
