"""Density by one ellipsoid: how far habits lie from the middle of all, in directions of little spread most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.events.stream import Array

LIMIT = 20.0  # standard deviations: one absurd value is not all that counts
RIDGE = 1e-2  # no direction counts more than a hundredfold


@kinds.register("ellipse")
class Ellipse(Kind):
    """Mahalanobis distance (v − m)ᵀ (C + 0.01 I)⁻¹ (v − m) of standardised relations and deviations."""

    group: ClassVar[Group] = "density"
    _mean: Array
    _scale: Array
    _whiten: Array

    def fit(self, lesson: Lesson) -> None:
        rows = self.table.residuals(lesson.train)[~lesson.anomalous].astype(np.float64)
        spread = rows.std(0)
        self._mean, self._scale = rows.mean(0), np.where(spread > 1e-6, spread, 1.0)
        inside = self._standardised(rows)
        covariance = inside.T @ inside / len(inside)
        variance, axes = np.linalg.eigh(covariance + RIDGE * np.eye(len(covariance)))
        self._whiten = axes / np.sqrt(variance)

    def raw(self, rows: Table) -> Array:
        white = self._standardised(self.table.residuals(rows).astype(np.float64)) @ self._whiten
        distance: Array = np.square(white).sum(1)
        return distance

    def _standardised(self, rows: Array) -> Array:
        return np.clip((rows - self._mean) / self._scale, -LIMIT, LIMIT)

    def arrays(self) -> dict[str, Array]:
        return {"mean": self._mean, "scale": self._scale, "whiten": self._whiten}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self._mean, self._scale, self._whiten = arrays["mean"], arrays["scale"], arrays["whiten"]
