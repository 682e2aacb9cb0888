"""Scores beside their labels, checked once: the rows that every metric looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import InputError


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows whose label is known; `unlabelled` counts those that were left out."""

    anomaly: NDArray[np.bool_]
    score: NDArray[np.float64]
    unlabelled: int = 0

    def __len__(self) -> int:
        return len(self.anomaly)

    @property
    def anomalies(self) -> int:
        return int(np.count_nonzero(self.anomaly))

    @property
    def normals(self) -> int:
        return len(self) - self.anomalies


def labelled(label: Any, score: Any) -> Labelled:
    """Pair labels (0, 1, NaN = unknown) with scores; rows with an unknown label are left out and counted."""
    labels, scores = checked_labels(label), checked_scores(score)
    if len(labels) != len(scores):
        raise InputError(f"There are {len(labels)} labels but {len(scores)} scores.")
    unknown = np.isnan(labels)
    count = int(np.count_nonzero(unknown))
    if count:
        labels, scores = labels[~unknown], scores[~unknown]
    return Labelled(labels == 1, scores, count)


def checked_scores(score: Any, what: str = "score") -> NDArray[np.float64]:
    """One float64 per row; a non-finite one is an error that names its row."""
    scores = _column(score, what)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise InputError(f"The {what} of row {bad[0] + 1} is {scores[bad[0]]}; it must be a finite number.")
    return scores


def checked_labels(label: Any) -> NDArray[np.float64]:
    """One float64 per row: 0 normal, 1 anomalous, NaN unknown; else an error that names the row."""
    labels = _column(label, "label")
    bad = np.flatnonzero(~((labels == 0) | (labels == 1) | np.isnan(labels)))
    if len(bad):
        raise InputError(f"The label of row {bad[0] + 1} is {labels[bad[0]]:g}; it must be 0, 1 or empty.")
    return labels


def _column(values: Any, what: str) -> NDArray[np.float64]:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The {what} column holds something that is not a number.") from None
    if column.ndim != 1:
        raise InputError(f"The {what} column has {column.ndim} dimensions; it must have one value per row.")
    return column
