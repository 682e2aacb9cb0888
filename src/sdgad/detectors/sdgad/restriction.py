"""Representation restriction (paper, section "Representation Restriction"): normals between two co-centred spheres."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


def radius(x: Tensor) -> Tensor:
    """n(x) = √(‖x‖² + 1) − 1, the pseudo-Huber norm."""
    return (x.square().sum(-1) + 1).sqrt() - 1


@dataclass(frozen=True)
class Restriction:
    """L_RR: normals into r_min ≤ n(x) ≤ r_max, anomalies beyond r' = r_max + Δr.

    A violation δ costs softplus(δ)·e^δ, the exponential being a weight without gradient (as printed it is not; the paper's λ₂
    then means another strength). Normals and anomalies are averaged apart, each over its violators, so that a batch with one
    anomaly hears it. `r_min = γ·r_max`.
    """

    r_max: float = 0.4
    gamma: float = 0.99
    margin: float = 0.1

    def __call__(self, x: Tensor, anomalous: Tensor) -> Tensor:
        """`anomalous` is a bool tensor `[B]`."""
        n = radius(x)
        outside = torch.maximum(n - self.r_max, self.gamma * self.r_max - n)
        inside = self.r_max + self.margin - n
        return mean_over(violation_cost(outside), ~anomalous & (outside >= 0)) + mean_over(
            violation_cost(inside), anomalous & (inside >= 0)
        )


def violation_cost(delta: Tensor) -> Tensor:
    """softplus(δ)·e^δ with the exponential detached; clamped so that a far outlier does not blow up the step."""
    return F.softplus(delta) * delta.detach().clamp(max=3.0).exp()


def mean_over(values: Tensor, chosen: Tensor) -> Tensor:
    """Mean of the chosen values; 0 where none is chosen (without asking the device how many there are)."""
    weight = chosen.to(values.dtype)
    return (torch.where(chosen, values, 0.0)).sum() / weight.sum().clamp(min=1)
