"""Known anomalies in closed form, where few are labelled: the second centre without a gradient."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.events.stream import Array

GRID = 513  # quantiles that a column is ranked by
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


class Likeness(Kind):
    """r(v) = (m₁ − m₀)ᵀ (Σ + s I)⁻¹ v, with m₁ the mean of the labelled anomalies, m₀ and Σ those of training events.

    Every column of v is the normal score of its rank among training events, so that no single heavy tail leads.
    """

    group: ClassVar[Group] = "like"
    shrink: ClassVar[float] = 3.0  # s: as much as three units of variance in every direction
    _grid: Array
    _direction: Array

    @abstractmethod
    def columns(self, rows: Table) -> Table:
        """Those that it looks at."""

    @classmethod
    def learns(cls, lesson: Lesson) -> bool:
        return bool(lesson.anomalous.any())

    def fit(self, lesson: Lesson) -> None:
        self._grid = np.quantile(self.columns(lesson.train), np.linspace(0, 1, GRID), axis=0).T.astype(
            np.float32
        )
        rows = self._normal_scores(lesson.train)
        usual = rows.mean(0)
        apart = rows[lesson.anomalous].mean(0) - usual
        centred = rows - usual
        covariance = centred.T @ centred / len(centred)
        self._direction = np.linalg.solve(covariance + self.shrink * np.eye(len(covariance)), apart)

    def raw(self, rows: Table) -> Array:
        odds: Array = self._normal_scores(rows) @ self._direction
        return odds

    def _normal_scores(self, rows: Table) -> NDArray[np.float64]:
        rows = self.columns(rows)
        rank = np.empty(rows.shape)
        for i, grid in enumerate(self._grid):
            low, high = (np.searchsorted(grid, rows[:, i], side) for side in SIDES)
            rank[:, i] = (low + high + 1) / (2 * GRID + 2)
        scores: NDArray[np.float64] = torch.special.ndtri(torch.from_numpy(rank)).numpy()
        return scores

    def arrays(self) -> dict[str, Array]:
        return {"grid": self._grid, "direction": self._direction}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self._grid, self._direction = arrays["grid"], arrays["direction"]


@kinds.register("like-levels")
class LikeLevels(Likeness):
    """By context and edge features: who such things happen to, and how much is at stake."""

    def columns(self, rows: Table) -> Table:
        return self.table.levels(rows)


@kinds.register("like-levels-plain")
class LikeLevelsPlain(LikeLevels):
    """The same, by hardly more than the difference of the two means: of one label, covariances make too much."""

    shrink: ClassVar[float] = 100.0


@kinds.register("like-relations")
class LikeRelations(Likeness):
    """By relations inside the context alone."""

    def columns(self, rows: Table) -> Table:
        return self.table.relations(rows)


@kinds.register("like-habits")
class LikeHabits(Likeness):
    """By relations and deviations: what is unlike the endpoints about it."""

    def columns(self, rows: Table) -> Table:
        return self.table.residuals(rows)
