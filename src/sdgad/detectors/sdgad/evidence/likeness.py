"""Known anomalies in closed form, where few are labelled: the second centre without a gradient."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.detectors.sdgad.evidence.normal_scores import NormalScores
from sdgad.events.held import held
from sdgad.events.stream import Array

MOST = 1e30  # of a direction


class Likeness(Kind):
    """r(v) = (m₁ − m₀)ᵀ (Σ + s I)⁻¹ v, with m₁ the mean of the labelled anomalies, m₀ and Σ those of training events.

    The columns of v are normal scores.
    """

    group: ClassVar[Group] = "like"
    shrink: ClassVar[float] = 3.0  # s: as much as three units of variance in every direction
    _scores: NormalScores
    _direction: Array

    @abstractmethod
    def columns(self, rows: Table) -> Table:
        """Those that it looks at."""

    def learns(self, lesson: Lesson) -> bool:
        return bool(lesson.anomalous.any()) and self.columns(lesson.train[:1]).shape[1] > 0

    def fit(self, lesson: Lesson) -> None:
        some = self.columns(lesson.some_train)
        self._scores = NormalScores.fit(some)
        rows = self._scores(some, self.table.device)
        usual = rows.mean(0)
        apart = self._scores(self.columns(lesson.train[lesson.anomalous]), self.table.device).mean(0) - usual
        centred = rows - usual
        covariance = centred.T @ centred / len(centred)
        self._direction = np.linalg.solve(covariance + self.shrink * np.eye(len(covariance)), apart)

    def raw(self, rows: Table) -> Array:
        odds: Array = self._scores(self.columns(rows), self.table.device) @ self._direction
        return odds

    def arrays(self) -> dict[str, Array]:
        return {"grid": self._scores.grid, "direction": self._direction}

    def load(self, arrays: Mapping[str, Array]) -> None:
        columns = self.columns(self.table.nothing).shape[1]
        self._scores = NormalScores.from_arrays(arrays, columns)
        self._direction = held(arrays, "direction", "f8", (columns,), low=-MOST, high=MOST)


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


@kinds.register("like-source")
class LikeSource(Likeness):
    """By what is known of the source alone. Of a few labels nobody can tell which side matters; validation can."""

    def columns(self, rows: Table) -> Table:
        return self.table.levels_about(rows, "src")


@kinds.register("like-destination")
class LikeDestination(Likeness):
    """By what is known of the destination alone."""

    def columns(self, rows: Table) -> Table:
        return self.table.levels_about(rows, "dst")


@kinds.register("like-pair")
class LikePair(Likeness):
    """By what the two have had to do with each other alone."""

    def columns(self, rows: Table) -> Table:
        return self.table.levels_about(rows, "pair")


@kinds.register("like-source-habits")
class LikeSourceHabits(Likeness):
    """By deviations from the habit of the source alone."""

    def columns(self, rows: Table) -> Table:
        return self.table.deviations(rows, 0)


@kinds.register("like-destination-habits")
class LikeDestinationHabits(Likeness):
    """By deviations from the habit of the destination alone."""

    def columns(self, rows: Table) -> Table:
        return self.table.deviations(rows, 1)


@kinds.register("like-features")
class LikeFeatures(Likeness):
    """By edge features alone."""

    def columns(self, rows: Table) -> Table:
        return self.table.features(rows)
