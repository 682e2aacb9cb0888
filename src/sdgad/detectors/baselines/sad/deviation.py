"""SAD's deviation network and loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.encoders.linear import Linear


class DeviationNetwork(nn.Sequential):
    """a = W₂ (W₁ h/‖h‖ + b₁) + b₂: two maps, and nothing bent between them, as published."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(Linear(width, hidden), Linear(hidden, 1))

    def forward(self, h: Tensor) -> Tensor:
        """`[B, w]` → `[B]`."""
        score: Tensor = super().forward(F.normalize(h, dim=1))  # type: ignore[no-untyped-call]
        return score[:, 0]


def deviation_loss(deviation: Tensor, anomalous: Tensor, weight: Tensor, margin: float) -> Tensor:
    """Weighted mean of (1 − y) |dev| + y max(0, margin − dev) (SAD, deviation loss).

    The published code has max(0, margin − |dev|) for anomalies, which is content with an anomaly far below all normal events.
    """
    cost = torch.where(anomalous, (margin - deviation).relu(), deviation.abs())
    return (cost * weight).sum() / weight.sum().clamp_min(1e-9)
