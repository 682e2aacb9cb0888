"""The paper's threshold table (appendix "Thresholds Analysis"): F1, TPR and FPR at 0.01, 0.1, 0.3 and 0.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sdgad.metrics.confusion import Confusion
from sdgad.metrics.labelled import Labelled, labelled

PAPER_THRESHOLDS = (0.01, 0.1, 0.3, 0.5)


@dataclass(frozen=True)
class ThresholdRow:
    """One line of the table; `calibrated` marks the threshold that was chosen on validation."""

    threshold: float
    f1: float | None
    tpr: float | None
    fpr: float | None
    calibrated: bool = False

    @classmethod
    def at(cls, rows: Labelled, threshold: float, calibrated: bool = False) -> ThresholdRow:
        counts = Confusion.of(rows, threshold)
        return cls(counts.threshold, counts.f1, counts.tpr, counts.fpr, calibrated)


def threshold_rows(rows: Labelled, calibrated: float | None = None) -> list[ThresholdRow]:
    """The table of rows that are already paired."""
    table = [ThresholdRow.at(rows, threshold) for threshold in PAPER_THRESHOLDS]
    return table if calibrated is None else [*table, ThresholdRow.at(rows, calibrated, calibrated=True)]


def threshold_table(label: Any, score: Any, calibrated: float | None = None) -> list[ThresholdRow]:
    """The paper's four thresholds, then the calibrated one where it is given."""
    return threshold_rows(labelled(label, score), calibrated)
