"""Piecewise-linear encoding of numbers by quantile bins (PLE)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.errors import InputError

FIT_ROWS = 200_000


class PiecewiseLinear(nn.Module):
    """Each number as `bins` numbers: 1 for each bin below it, its fraction in its own bin, 0 for each above.

    code_b(x) = clip((x − e_b)/(e_{b+1} − e_b), 0, 1), where e_0 ≤ … ≤ e_bins are quantiles of the training
    values (Gorishniy et al. 2022). A linear layer on top is then a free piecewise-linear function of each
    number. The outer bins are clipped too: a value beyond all training values is coded as the most extreme of
    them, so that no outlier can push a network out of the range that it knows.

    A value so frequent that it fills whole bins gets one bin of width 0, a step [x > e_b]; further copies of
    it would only repeat that column, so they go to the end as empty bins at +∞ (always 0). So a constant
    feature is coded as "above the constant", a binary one as itself.
    """

    edges: Tensor
    bounds: ClassVar[dict[str, dict[str, Any]]] = {"edges": {"low": -1e9, "high": math.inf, "rising": True}}

    def __init__(self, features: int, bins: int = 32) -> None:
        super().__init__()
        if bins < 1:
            raise InputError(f"bins={bins}: must be at least 1.")
        self.bins = bins
        self.width = features * bins
        # Until `fit` or a state dict brings others: even bins for standardised numbers.
        self.register_buffer("edges", torch.linspace(-3, 3, bins + 1).repeat(features, 1))

    @torch.no_grad()
    def fit(self, values: Tensor) -> PiecewiseLinear:
        """Set the edges to quantiles of values `[N, F]`; of more than 200,000 rows, of an even sample."""
        if len(values) == 0:
            raise InputError("Piecewise-linear bins need at least one training row.")
        sample = _evenly(values, min(len(values), FIT_ROWS)).to(self.edges.dtype)
        edges = _evenly(sample.sort(0).values, self.bins + 1).T
        third_copy = torch.zeros_like(edges, dtype=torch.bool)
        third_copy[:, 2:] = edges[:, 2:] == edges[:, :-2]
        self.edges.copy_(edges.masked_fill(third_copy, torch.inf).sort(1).values)
        return self

    def forward(self, x: Tensor) -> Tensor:
        """`[..., F]` → `[..., F · bins]`."""
        low, high = self.edges[:, :-1], self.edges[:, 1:]
        has_width = high > low
        above = x[..., None] - low
        fraction = (above / torch.where(has_width, high - low, 1.0)).clamp(0, 1)
        return torch.where(has_width, fraction, (above > 0).to(x.dtype)).flatten(-2)


def _evenly(rows: Tensor, count: int) -> Tensor:
    """`count` rows, the first and the last among them, at even distances."""
    places = torch.linspace(0, len(rows) - 1, count, dtype=torch.float64, device=rows.device)
    return rows[places.round().long()]
