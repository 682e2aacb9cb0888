"""NormalScores: columns by their ranks among training events, so that no single heavy tail leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from sdgad.detectors.event_table import CPU, Table
from sdgad.detectors.trees import MANY_ROWS
from sdgad.events.held import held
from sdgad.events.stream import Array

GRID = 513  # quantiles that a column is ranked by
SCORES: NDArray[np.float64] = torch.special.ndtri(
    torch.arange(1, 2 * GRID + 2, dtype=torch.float64) / (2 * GRID + 2)
).numpy()  # Φ⁻¹ of all ranks that there are


class NormalScores:
    """Φ⁻¹(rank), column by column; equal values have the middle of their ranks."""

    def __init__(self, grid: Array) -> None:
        self.grid = grid  # [columns, 513]

    @classmethod
    def fit(cls, rows: Table) -> Self:
        ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)
        place = np.linspace(0, len(rows) - 1, GRID)
        low, high = (
            ordered[:, end(place).astype(np.int64)].astype(np.float64) for end in (np.floor, np.ceil)
        )
        return cls((low + (high - low) * (place % 1)).astype(np.float32))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], columns: int) -> Self:
        """What was fitted on so many columns."""
        return cls(held(arrays, "grid", "f4", (columns, GRID), rising=True))

    def __call__(self, rows: Table, device: torch.device) -> NDArray[np.float64]:
        """`[B, columns]`, looked up on the device where there are many rows."""
        device = device if len(rows) >= MANY_ROWS else CPU
        values = torch.from_numpy(np.ascontiguousarray(rows.T)).to(device)
        grid = torch.from_numpy(np.ascontiguousarray(self.grid)).to(device)
        below, up_to = (torch.searchsorted(grid, values, right=right) for right in (False, True))
        scores: NDArray[np.float64] = torch.from_numpy(SCORES).to(device)[below + up_to].cpu().numpy().T
        return scores
