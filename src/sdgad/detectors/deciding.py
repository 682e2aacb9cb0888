"""From scores to decisions: thresholds and p-values, from validation alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from sdgad.calibration.conformal import ConformalPValues
from sdgad.calibration.threshold import ValidationScores, default_rule, threshold_rule
from sdgad.errors import ModelFolderError
from sdgad.events.stream import Array, EventStream


def sound(scores: Array) -> Array:
    """Scores as they have to be; a network whose weights were altered may give others, and none is better than a wrong one."""
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ModelFolderError(
            "The model gives scores that are no numbers from 0 to 1: its folder was altered, or its fit went wrong."
        )
    return scores


class Deciding(ABC):
    """What a detector makes of its scores. Flagged = score ≥ `threshold_`."""

    threshold_: float
    threshold_rule_: str
    decision_scores_: Array  # of the training events
    validation_scores_: Array
    _validation: ValidationScores
    _p_values: ConformalPValues

    @abstractmethod
    def decision_function(self, events: EventStream) -> Array:
        """One score per row."""

    @abstractmethod
    def _need_fit(self) -> None:
        """An error before `fit`."""

    def predict(self, events: EventStream) -> Array:
        """1 where the score reaches `threshold_`, else 0."""
        return (self.decision_function(events) >= self.threshold_).astype(np.int64)

    def predict_proba(self, events: EventStream) -> Array:
        """`[n, 2]`: 1 − score and score."""
        score = self.decision_function(events)
        return np.stack([1 - score, score], 1)

    def p_value(self, scores: Array) -> Array:
        """Conformal p-values: how rare a score at least this high is among validation normals."""
        self._need_fit()
        return self._p_values(scores)

    @property
    def labels_(self) -> Array:
        """The decisions on the training events."""
        self._need_fit()
        return (self.decision_scores_ >= self.threshold_).astype(np.int64)

    @property
    def validation(self) -> ValidationScores:
        """Scores and labels of the validation part, which thresholds are chosen on."""
        self._need_fit()
        return self._validation

    def set_threshold(self, rule: str | float, amount: float | None = None) -> Self:
        """`"f1"`, `("fpr", 0.001)`, `("alerts_per_day", 20)`, `("quantile", 0.01)` on validation scores, or a value."""
        self._need_fit()
        chosen = threshold_rule(rule, amount)
        self.threshold_, self.threshold_rule_ = chosen(self._validation), str(chosen)
        return self

    def _decide_by(self, validation: ValidationScores) -> None:
        """Take the validation part, and the threshold that suits it by default."""
        self._take_validation(validation)
        rule = default_rule(validation)
        self.threshold_, self.threshold_rule_ = rule(validation), str(rule)

    def _take_validation(self, validation: ValidationScores) -> None:
        self._validation = validation
        self.validation_scores_ = validation.score
        self._p_values = ConformalPValues(validation.normal_scores)
