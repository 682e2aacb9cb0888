"""NormalScores: columns by their ranks among training events, so that no single heavy tail leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from sdgad.detectors.event_table import Table
from sdgad.events.held import held
from sdgad.events.stream import Array

GRID = 513  # quantiles that a column is ranked by
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


class NormalScores:
    """Φ⁻¹(rank), column by column; equal values have the middle of their ranks."""

    def __init__(self, grid: Array) -> None:
        self.grid = grid  # [columns, 513]

    @classmethod
    def fit(cls, rows: Table) -> Self:
        return cls(np.quantile(rows, np.linspace(0, 1, GRID), axis=0).T.astype(np.float32))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], columns: int) -> Self:
        """What was fitted on so many columns."""
        return cls(held(arrays, "grid", "f4", (columns, GRID), rising=True))

    def __call__(self, rows: Table) -> NDArray[np.float64]:
        rank = np.empty(rows.shape)
        for i, grid in enumerate(self.grid):
            low, high = (np.searchsorted(grid, rows[:, i], side) for side in SIDES)
            rank[:, i] = (low + high + 1) / (2 * GRID + 2)
        scores: NDArray[np.float64] = torch.special.ndtri(torch.from_numpy(rank)).numpy()
        return scores
