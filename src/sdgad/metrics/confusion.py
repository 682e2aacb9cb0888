"""How good the decisions of one threshold are: flagged = score ≥ threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.metrics.labelled import Labelled, labelled
from sdgad.metrics.ranking import Ranking


@dataclass(frozen=True)
class Confusion:
    """Counts at a threshold, and the rates that follow; a rate over an empty class is None."""

    threshold: float
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int

    @classmethod
    def of(cls, rows: Labelled, threshold: float) -> Confusion:
        if not math.isfinite(threshold):
            raise InputError(f"The threshold is {threshold}; it must be a finite number.")
        flagged = rows.score >= threshold
        found = int(np.count_nonzero(flagged & rows.anomaly))
        false = int(np.count_nonzero(flagged)) - found
        return cls(float(threshold), found, false, rows.normals - false, rows.anomalies - found)

    @property
    def anomalies(self) -> int:
        return self.true_positives + self.false_negatives

    @property
    def normals(self) -> int:
        return self.false_positives + self.true_negatives

    @property
    def flagged(self) -> int:
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> float:
        """TP / flagged; 0 where nothing is flagged."""
        return self.true_positives / self.flagged if self.flagged else 0.0

    @property
    def recall(self) -> float | None:
        """TP / anomalies."""
        return self.true_positives / self.anomalies if self.anomalies else None

    @property
    def tpr(self) -> float | None:
        """The recall, by its other name."""
        return self.recall

    @property
    def fpr(self) -> float | None:
        """FP / normals."""
        return self.false_positives / self.normals if self.normals else None

    @property
    def f1(self) -> float | None:
        """2 TP / (anomalies + flagged); undefined, like recall, without anomalies."""
        return 2 * self.true_positives / (self.anomalies + self.flagged) if self.anomalies else None


def confusion(label: Any, score: Any, threshold: float) -> Confusion:
    """Counts and rates of the decisions `score ≥ threshold` on the labelled rows."""
    return Confusion.of(labelled(label, score), threshold)


def best_f1_threshold(label: Any, score: Any, slack: float = 0.0) -> float | None:
    """The threshold with the highest F1, of equals the highest; None where there is one class only.

    With `slack`, the lowest threshold whose F1 is at least (1 − slack) of the best.
    """
    return Ranking.of(labelled(label, score)).best_f1_threshold(slack)
