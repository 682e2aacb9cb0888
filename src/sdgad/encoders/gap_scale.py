"""GapScale: the time since something happened, in the units that are usual for a source and for a destination."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.history.window import Window

LIMIT = 8.0
LONGEST = 1e18  # seconds, in a file


class GapScale(nn.Module):
    """gap' = (g − mean_r) / std_r for role r (source, destination), g = log(1 + gap) or, with `log_gap=False`, the gap itself.

    Mean and spread are those of the time from an endpoint's event to its event before, over training events; a role
    without any keeps 0 and 1. They are buffers, saved with the weights. Cut at ±8: one silence of years, or a gap of 0
    where all gaps are alike, would else be worth more than all that was learned.
    """

    mean: Tensor
    scale: Tensor
    bounds: ClassVar[dict[str, dict[str, Any]]] = {
        "mean": {"low": 0.0, "high": LONGEST},
        "scale": {"low": 1e-9, "high": LONGEST},
    }

    def __init__(self, log_gap: bool) -> None:
        super().__init__()
        self.log_gap = log_gap
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("scale", torch.ones(2))

    def fit(self, sample: Window) -> None:
        """By the newest past event of both endpoints of each event, where there is one."""
        gaps, there = self._measured(sample.past_gap[:, :, -1]).double(), sample.mask[:, :, -1]
        for role in range(2):
            seen = gaps[there[:, role], role]
            if len(seen):
                spread = seen.std(unbiased=False)
                self.mean[role] = seen.mean()
                self.scale[role] = torch.where(spread > 1e-6, spread, 1.0)

    def forward(self, gap: Tensor) -> Tensor:
        """`[B, 2]` seconds → `[B, 2]`."""
        return ((self._measured(gap) - self.mean) / self.scale).clamp(-LIMIT, LIMIT)

    def _measured(self, gap: Tensor) -> Tensor:
        return gap.log1p() if self.log_gap else gap
