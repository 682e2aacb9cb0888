"""SAD's encoding of the time that has passed since an event."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LogTime(nn.Module):
    """φ(Δ)_m = cos(ω_m ln(1 + Δ) + b_m), ω_m = 10^(−1.5 (m−1)/(M−1)) and b_m = 0 at first, for a gap of Δ seconds; both learn.

    The logarithm keeps the argument below 25, so float32 will do, and steps of the optimiser move every frequency alike.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.frequency = nn.Parameter(10 ** torch.linspace(0, -1.5, width))
        self.phase = nn.Parameter(torch.zeros(width))

    def forward(self, gap: Tensor) -> Tensor:
        """`[…]` seconds → `[…, width]`."""
        return (gap.log1p()[..., None] * self.frequency + self.phase).cos()
