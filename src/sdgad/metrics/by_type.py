"""How well each type of anomaly is found: the anomalies of one type against all normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import InputError
from sdgad.metrics.labelled import checked_labels, checked_scores


@dataclass(frozen=True)
class TypeResult:
    """`recall` needs a threshold, `auroc` needs normals; otherwise they are None."""

    anomalies: int
    recall: float | None
    auroc: float | None


def by_type(
    label: Any, score: Any, anomaly_type: Sequence[str] | NDArray[Any], threshold: float | None = None
) -> dict[str, TypeResult]:
    """Type → recall at the threshold and AUROC against all normals; anomalies of no type ("") have no
    entry."""
    labels, scores = checked_labels(label), checked_scores(score)
    types = np.asarray(anomaly_type, dtype=object)
    if types.shape != labels.shape:
        raise InputError(f"There are {len(labels)} labels but {types.size} anomaly types.")
    anomalous = labels == 1
    normals = np.sort(scores[labels == 0])
    names = np.array([name if isinstance(name, str) else "" for name in types[anomalous]], dtype=str)
    found = scores[anomalous]
    return {
        str(name): _result(found[names == name], normals, threshold) for name in np.unique(names[names != ""])
    }


def _result(found: NDArray[np.float64], normals: NDArray[np.float64], threshold: float | None) -> TypeResult:
    recall = None if threshold is None else int(np.count_nonzero(found >= threshold)) / len(found)
    if not len(normals):
        return TypeResult(len(found), recall, None)
    # Normals below plus normals below-or-equal: twice the pairs won, a tie counting one half.
    won = np.searchsorted(normals, found, side="left") + np.searchsorted(normals, found, side="right")
    return TypeResult(len(found), recall, int(np.sum(won)) / (2 * len(found) * len(normals)))
