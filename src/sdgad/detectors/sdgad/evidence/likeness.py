"""Known anomalies in closed form, where few are labelled: their centres without a gradient."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.detectors.sdgad.evidence.normal_scores import NormalScores
from sdgad.events.held import ANY, held
from sdgad.events.stream import Array

MOST = 1e30  # of a direction
EACH = 50  # labelled anomalies, beyond which only their mean counts: there trees tell one sort from another
WIDE = 4.0  # T, how much wider than normals the sorts are taken for


class Likeness(Kind):
    """Like any of the labelled anomalies aᵢ, in whichever way: r(v) = T log mean_i exp((aᵢᵀ S v − ½ aᵢᵀ S aᵢ) / T).

    That is the log-odds of a mixture of Gaussians around the anomalies against one around the normals, all of the precision
    S = (Σ + s I)⁻¹, taken T = 4 times as wide. v and aᵢ are normal scores of the columns, from the mean of training events on,
    and Σ is their covariance. Anomalies of several sorts have a mean that is like none of them; of one sort, T makes the mean of
    their directions lead. Beyond 50 of them that mean takes their place: r(v) = (mean aᵢ)ᵀ S v.
    """

    group: ClassVar[Group] = "like"
    shrink: ClassVar[float] = 3.0  # s: as much as three units of variance in every direction
    _scores: NormalScores
    _direction: Array  # [k, columns], S aᵢ
    _offset: Array  # [k], aᵢᵀ S (m₀ + ½ aᵢ), since v is not yet taken from m₀ on; 0 for one alone

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
        apart = self._scores(self.columns(lesson.train[lesson.anomalous]), self.table.device) - usual
        if len(apart) > EACH:
            apart = apart.mean(0, keepdims=True)
        centred = rows - usual
        covariance = centred.T @ centred / len(centred)
        self._direction = np.linalg.solve(covariance + self.shrink * np.eye(len(covariance)), apart.T).T
        self._offset = (self._direction * (usual + apart / 2)).sum(1) * (len(apart) > 1)

    def raw(self, rows: Table) -> Array:
        return self.like(self._scores(self.columns(rows), self.table.device))

    def like(self, scores: Array) -> Array:
        """r of rows of normal scores."""
        odds: Array = scores @ self._direction.T - self._offset
        if odds.shape[1] == 1:
            return odds[:, 0]
        most = odds.max(1)
        likely: Array = most + WIDE * np.log(np.exp((odds - most[:, None]) / WIDE).mean(1))
        return likely

    def arrays(self) -> dict[str, Array]:
        return {"grid": self._scores.grid, "direction": self._direction, "offset": self._offset}

    def load(self, arrays: Mapping[str, Array]) -> None:
        columns = self.columns(self.table.nothing).shape[1]
        self._scores = NormalScores.from_arrays({"grid": arrays["grid"]}, columns)
        if "offset" not in arrays:  # a folder from when the mean alone counted
            direction = held(arrays, "direction", "f8", (columns,), low=-MOST, high=MOST)
            self._direction, self._offset = direction[None], np.zeros(1)
            return
        self._direction = held(arrays, "direction", "f8", (ANY, columns), low=-MOST, high=MOST)
        self._offset = held(arrays, "offset", "f8", self._direction.shape[:1], low=-MOST, high=MOST)
        if not 1 <= len(self._offset) <= EACH:
            raise ValueError(f"there are {len(self._offset)} anomalies to be like")


@kinds.register("like-levels")
class LikeLevels(Likeness):
    """By context and edge features: who such things happen to, and how much is at stake."""

    def columns(self, rows: Table) -> Table:
        return self.table.levels(rows)


@kinds.register("like-levels-plain")
class LikeLevelsPlain(LikeLevels):
    """The same, by hardly more than the distance from the normals' mean: of one label, covariances make too much."""

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
