"""Density by an isolation forest: events whose habits are easy to set apart are rare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.detectors.trees import IsolationTrees
from sdgad.events.stream import Array

TREES, SAMPLES = 100, 256


@kinds.register("forest")
class Forest(Kind):
    """Score of an isolation forest on relations and deviations (Liu, Ting, Zhou 2008)."""

    group: ClassVar[Group] = "density"
    _trees: IsolationTrees

    def fit(self, lesson: Lesson) -> None:
        from sklearn.ensemble import IsolationForest

        rows = self.table.residuals(lesson.some_normal)
        forest = IsolationForest(
            n_estimators=TREES, max_samples=min(SAMPLES, len(rows)), random_state=lesson.seed
        )
        self._trees = IsolationTrees.from_sklearn(forest.fit(rows))

    def raw(self, rows: Table) -> Array:
        return self._trees.raw_score(self.table.residuals(rows), self.table.device)

    def arrays(self) -> dict[str, Array]:
        return self._trees.arrays()

    def load(self, arrays: Mapping[str, Array]) -> None:
        columns = self.table.residuals(self.table.nothing).shape[1]
        self._trees = IsolationTrees.from_arrays(arrays).need_for(columns)
