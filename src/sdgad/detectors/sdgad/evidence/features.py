"""Density by the one edge feature that is furthest from its habits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.detectors.sdgad.evidence.column_tails import ColumnTails
from sdgad.events.stream import Array


@kinds.register("features")
class Features(Kind):
    """max over edge features and whose habit it is of −log P(|D| ≥ |d|), d being its residual and D that of a normal event.

    The other densities look at all columns together, of which few are about edge features: an amount ten times the usual is lost
    among fifty habits that are kept.
    """

    group: ClassVar[Group] = "density"
    _tails: ColumnTails

    def columns(self, rows: Table) -> Table:
        found: Table = np.abs(self.table.feature_habits(rows))
        return found

    def learns(self, lesson: Lesson) -> bool:
        return bool(self.columns(lesson.train[:0]).shape[1])

    def fit(self, lesson: Lesson) -> None:
        self._tails = ColumnTails.fit(self.columns(lesson.some_normal))

    def raw(self, rows: Table) -> Array:
        furthest: Array = self._tails(self.columns(rows)).max(1)
        return furthest

    def arrays(self) -> dict[str, Array]:
        return self._tails.arrays()

    def load(self, arrays: Mapping[str, Array]) -> None:
        self._tails = ColumnTails.from_arrays(arrays, self.columns(self.table.nothing).shape[1])
