"""Bi-boundary optimisation (paper, section "Bi-Boundary Optimization")."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.detectors.sdgad.restriction import mean_over

Form = Literal["bi", "single", "none", "printed"]
MOMENTUM = 0.9


class Boundary(nn.Module):
    """B_n = the α-quantile of normal ℓ, a running estimate that is saved; B_a = B_n − τ.

    - `bi`: mean softplus(B_n − ℓ) over violating normals + mean softplus(ℓ − B_a) over violating anomalies;
    - `single`: the same with τ = 0 (the paper's ablation: one boundary);
    - `printed`: Σ |min(softplus(ℓ − B_n), 0)| + Σ |max(softplus(ℓ − B_a), 0)| as it stands in the paper: softplus is positive, so
      the first sum is 0 and normals get no gradient. For the record;
    - `none`: 0.
    """

    normal: Tensor
    started: Tensor

    def __init__(self, form: Form, alpha: float, tau: float) -> None:
        super().__init__()
        self.form = form
        self.alpha = alpha
        self.tau = 0.0 if form == "single" else tau
        self.register_buffer("normal", torch.zeros(()))
        self.register_buffer("started", torch.zeros((), dtype=torch.bool))

    @property
    def anomalous(self) -> Tensor:
        """B_a."""
        return self.normal - self.tau

    @torch.no_grad()
    def follow(self, ell: Tensor, anomalous: Tensor) -> None:
        """Move B_n towards the α-quantile of this batch's normals."""
        ranked = torch.where(anomalous, torch.inf, ell.detach()).sort().values
        normals = (~anomalous).sum()
        here = ranked.gather(0, (self.alpha * normals).long().clamp(max=len(ranked) - 1)[None])[0]
        moved = torch.where(self.started, MOMENTUM * self.normal + (1 - MOMENTUM) * here, here)
        usable = (normals > 0) & here.isfinite()
        self.normal.copy_(torch.where(usable, moved, self.normal))
        self.started.copy_(self.started | usable)

    def forward(self, ell: Tensor, anomalous: Tensor) -> Tensor:
        if self.form == "none":
            return ell.new_zeros(())
        if self.form == "printed":
            return torch.where(anomalous, F.softplus(ell - self.anomalous), 0.0).sum()
        low, high = self.normal - ell, ell - self.anomalous
        return mean_over(F.softplus(low), ~anomalous & (low >= 0)) + mean_over(
            F.softplus(high), anomalous & (high >= 0)
        )
