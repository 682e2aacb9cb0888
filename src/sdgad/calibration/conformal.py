"""Conformal p-values: how often a normal event would score as high as this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdgad.metrics.labelled import checked_scores


@dataclass(frozen=True, eq=False)
class ConformalPValues:
    """p(s) = (1 + #{normal validation scores ≥ s}) / (n + 1).

    If the scored event is a normal exchangeable with the n validation normals, P(p ≤ a) ≤ a for every a. Ties
    count against the event, and without validation normals every p is 1: both keep the promise.
    `normal_scores` is kept sorted and is all there is to save.
    """

    normal_scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        normals = np.sort(checked_scores(self.normal_scores, "validation score"))
        normals.flags.writeable = False
        object.__setattr__(self, "normal_scores", normals)

    def __call__(self, score: Any) -> NDArray[np.float64]:
        n = len(self.normal_scores)
        at_least = n - np.searchsorted(self.normal_scores, checked_scores(score), side="left")
        p_value: NDArray[np.float64] = (1 + at_least) / (n + 1)
        return p_value
