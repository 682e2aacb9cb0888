"""How well a score orders anomalies before normals, whatever the threshold.

One sort gives, for every distinct score taken as a threshold (flagged = score ≥ threshold), the true and
false alarms; AUROC, average precision, precision@k, the precision-recall curve and the best F1 are read off
these counts. Ties are one step. The metrics of a single class are None: they are undefined, which is not an
error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import InputError
from sdgad.metrics.labelled import Labelled, labelled


class PrecisionRecallCurve(NamedTuple):
    """One point per distinct score, from the highest down (recall rises); empty with one class only."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    threshold: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Alarms raised at each distinct score, from the highest down."""

    threshold: NDArray[np.float64]
    true_positives: NDArray[np.int64]
    false_positives: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Labelled) -> Ranking:
        order = np.argsort(rows.score)[::-1]
        score = rows.score[order]
        last_of_tie = np.append(score[1:] != score[:-1], True) if len(score) else np.zeros(0, dtype=bool)
        ends = np.flatnonzero(last_of_tie)
        found = np.cumsum(rows.anomaly[order], dtype=np.int64)[ends]
        return cls(score[ends], found, ends + 1 - found)

    @property
    def anomalies(self) -> int:
        return int(self.true_positives[-1]) if len(self.threshold) else 0

    @property
    def normals(self) -> int:
        return int(self.false_positives[-1]) if len(self.threshold) else 0

    @property
    def both_classes(self) -> bool:
        return self.anomalies > 0 and self.normals > 0

    def auroc(self) -> float | None:
        """P(anomaly scores above normal) + ½ P(they tie): the area in integers, then one division."""
        if not self.both_classes:
            return None
        before = np.concatenate(([0], self.true_positives[:-1]))
        new_false = np.diff(self.false_positives, prepend=0)
        doubled_area = int(np.sum(new_false * (before + self.true_positives)))
        return doubled_area / (2 * self.anomalies * self.normals)

    def average_precision(self) -> float | None:
        """Σ_i (R_i − R_{i−1}) P_i over the distinct scores: steps, no interpolation."""
        if not self.both_classes:
            return None
        gained = np.diff(self.true_positives, prepend=0)
        return float(np.sum(gained * self._precision()) / self.anomalies)

    def precision_at_k(self, k: int) -> float | None:
        """Share of anomalies among the k highest scores; a tie across the cut counts by its own share."""
        if k < 1:
            raise InputError(f"The option k is {k}; precision at k needs k ≥ 1.")
        if not len(self.threshold):
            return None
        flagged = np.concatenate(([0], self.true_positives + self.false_positives))
        found = np.concatenate(([0], self.true_positives))
        k = min(k, int(flagged[-1]))
        return float(np.interp(k, flagged, found) / k)

    def precision_recall_curve(self) -> PrecisionRecallCurve:
        if not self.both_classes:
            return PrecisionRecallCurve(np.zeros(0), np.zeros(0), np.zeros(0))
        return PrecisionRecallCurve(self._precision(), self.true_positives / self.anomalies, self.threshold)

    def best_f1_threshold(self, slack: float = 0.0) -> float | None:
        """The score that maximises F1 = 2 TP / (anomalies + flagged); of equals the highest, with fewest alarms.

        The top of the F1 curve is flat and, with few anomalies, noisy: with `slack`, the lowest score whose F1 is at
        least (1 − slack) of the best, which finds more for little.
        """
        if not self.both_classes:
            return None
        f1 = 2 * self.true_positives / (self.anomalies + self.true_positives + self.false_positives)
        if slack:
            return float(self.threshold[np.flatnonzero(f1 >= (1 - slack) * f1.max())[-1]])
        return float(self.threshold[np.argmax(f1)])

    def _precision(self) -> NDArray[np.float64]:
        precision: NDArray[np.float64] = self.true_positives / (self.true_positives + self.false_positives)
        return precision


def auroc(label: Any, score: Any) -> float | None:
    """Area under the ROC curve, ties counting one half; None where there is one class only."""
    return Ranking.of(labelled(label, score)).auroc()


def average_precision(label: Any, score: Any) -> float | None:
    """Average precision Σ_i (R_i − R_{i−1}) P_i; None where there is one class only."""
    return Ranking.of(labelled(label, score)).average_precision()


def precision_at_k(label: Any, score: Any, k: int) -> float | None:
    """Share of anomalies among the k highest scores (all rows where there are fewer); None without rows."""
    return Ranking.of(labelled(label, score)).precision_at_k(k)


def precision_recall_curve(label: Any, score: Any) -> PrecisionRecallCurve:
    """Precision and recall at every distinct score, for figures."""
    return Ranking.of(labelled(label, score)).precision_recall_curve()


def mixture(label: Any, score: Any) -> float:
    """Mean of AUROC and AP, by which epochs and trees are chosen; 0 with one class. AP alone overfits a handful of anomalies."""
    ranking = Ranking.of(labelled(label, score))
    return ((ranking.auroc() or 0.0) + (ranking.average_precision() or 0.0)) / 2
