"""Density by one ellipsoid: how far an event lies from the middle of all, in directions of little spread most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.detectors.sdgad.evidence.normal_scores import NormalScores
from sdgad.events.held import held
from sdgad.events.stream import Array

LEAST, MOST = 1e-30, 1e30  # of what is in a file
LIMIT = 20.0  # standard deviations: one absurd value is not all that counts


@kinds.register("ellipse")
class Ellipse(Kind):
    """Mahalanobis distance (v − m)ᵀ (C + 0.01 I)⁻¹ (v − m) of standardised relations and deviations."""

    group: ClassVar[Group] = "density"
    ridge: ClassVar[float] = 1e-2  # no direction counts more than a hundredfold
    _mean: Array
    _scale: Array
    _whiten: Array

    def source(self, rows: Table) -> Table:
        """The columns that it looks at."""
        return self.table.residuals(rows)

    def columns(self, rows: Table) -> Array:
        """The same as numbers that are standardised next."""
        return self.source(rows).astype(np.float64)

    def fit(self, lesson: Lesson) -> None:
        rows = self.columns(lesson.some_normal)
        spread = rows.std(0)
        self._mean, self._scale = rows.mean(0), np.where(spread > 1e-6, spread, 1.0)
        inside = self._standardised(rows)
        covariance = inside.T @ inside / len(inside)
        variance, axes = np.linalg.eigh(covariance + self.ridge * np.eye(len(covariance)))
        self._whiten = axes / np.sqrt(variance)

    def raw(self, rows: Table) -> Array:
        white = self._standardised(self.columns(rows)) @ self._whiten
        distance: Array = np.square(white).sum(1)
        return distance

    def _standardised(self, rows: Array) -> Array:
        return np.clip((rows - self._mean) / self._scale, -LIMIT, LIMIT)

    def arrays(self) -> dict[str, Array]:
        return {"mean": self._mean, "scale": self._scale, "whiten": self._whiten}

    def load(self, arrays: Mapping[str, Array]) -> None:
        columns = self.source(self.table.nothing).shape[1]
        self._mean = held(arrays, "mean", "f8", (columns,), low=-MOST, high=MOST)
        self._scale = held(arrays, "scale", "f8", (columns,), low=LEAST, high=MOST)
        self._whiten = held(arrays, "whiten", "f8", (columns, columns), low=-MOST, high=MOST)


@kinds.register("ranks")
class Ranks(Ellipse):
    """The same distance of normal scores of relations: how odd their combination is, whatever their size."""

    ridge: ClassVar[float] = 0.1
    _scores: NormalScores

    def source(self, rows: Table) -> Table:
        return self.table.relations(rows)

    def columns(self, rows: Table) -> Array:
        scores: Array = self._scores(self.source(rows), self.table.device)
        return scores

    def fit(self, lesson: Lesson) -> None:
        self._scores = NormalScores.fit(self.source(lesson.some_normal))
        super().fit(lesson)

    def arrays(self) -> dict[str, Array]:
        return {**super().arrays(), "grid": self._scores.grid}

    def load(self, arrays: Mapping[str, Array]) -> None:
        super().load(arrays)
        self._scores = NormalScores.from_arrays(arrays, len(self._mean))
