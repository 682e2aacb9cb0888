"""Cosine encoding of the time that has passed since an event."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

LEARNABLE_RADIANS = 8 * math.pi
LOG_SCALE = 5.0


class TimeEncoding(nn.Module):
    """φ(Δ)_m = cos(ω_m Δ + b_m), ω_m = 10^(−9 (m−1)/(M−1)), b_m = 0, for a gap of Δ seconds.

    `log_gap` appends log(1 + Δ)/5, a number that is smooth over the whole range from a second to years, where
    each cosine is informative only near its own period.

    Product and cosine are float64, the result has the dtype of the gap. A gap is exact in float32 up to 2²⁴
    seconds, but its product with ω is not: at Δ = 10⁶ the float32 argument is off by some 0.02 rad,
    differently on each device. Float64 costs next to nothing here (on a CPU it is not slower than float32,
    whose range reduction is the slow part).

    `trainable` learns ω_m = grid_m · exp(s_m) and b_m. Published codes learn ω_m itself, where one Adam step
    of 10⁻⁴ overwrites every slow frequency; relative steps s_m do not, and weight decay then pulls to the
    grid. The gradient ∂φ/∂s = −sin(ωΔ) ωΔ grows without bound and is noise after many turns, so it is cut
    where |ωΔ| exceeds 8π: it would swamp gradient clipping. Frozen frequencies are buffers, out of reach of
    weight decay.
    """

    grid: Tensor

    def __init__(self, frequencies: int, trainable: bool = False, log_gap: bool = False) -> None:
        super().__init__()
        self.log_gap = log_gap
        self.width = frequencies + log_gap
        # on the CPU: to draw powers up on the meta device, torch loads its compiler for a second and a half
        grid = 10 ** torch.linspace(0, -9, frequencies, dtype=torch.float64, device="cpu")
        self.register_buffer("grid", grid, persistent=False)
        self.log_scale = nn.Parameter(torch.zeros(frequencies)) if trainable else None
        self.phase = nn.Parameter(torch.zeros(frequencies)) if trainable else None

    def forward(self, gap: Tensor) -> Tensor:
        """`[...]` seconds → `[..., width]`."""
        angle = gap.double()[..., None] * self.frequency
        if self.phase is not None:
            angle = torch.where(angle.abs() > LEARNABLE_RADIANS, angle.detach(), angle) + self.phase
        code = angle.cos().to(gap.dtype)
        return torch.cat([code, gap.log1p()[..., None] / LOG_SCALE], -1) if self.log_gap else code

    @property
    def frequency(self) -> Tensor:
        """ω, in radians per second, float64."""
        return self.grid if self.log_scale is None else self.grid * self.log_scale.double().exp()
