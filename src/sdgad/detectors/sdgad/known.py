"""Known anomalies as a second centre beside the normals."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.detectors.precision import ExactLinear


class KnownCentre(nn.Module):
    """Normals N(m₀, Σ) and known anomalies N(m₁, Σ) in the space of event vectors h, with one covariance.

    Their log-likelihood ratio plus the prior's log-odds is linear in h: r(h) = ⟨w, h⟩ + b with w = Σ⁻¹(m₁ − m₀); w and b are
    learned by cross-entropy, whose gradient reaches the encoder. Not in the paper: the restriction's push on the norm alone
    is a weak discriminator of kinds that we have labels (or pseudo-anomalies) for. The same ratio in the flow's latent space
    was tried first; its gradient passes through a map that changes under it, and the encoder does not learn.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ratio = ExactLinear(width, 1)

    def forward(self, h: Tensor) -> Tensor:
        """Log-odds of a known anomaly against a normal, `[B]`."""
        odds: Tensor = self.ratio(h)
        return odds[:, 0]

    def loss(self, h: Tensor, anomalous: Tensor, weight: Tensor) -> Tensor:
        """Cross-entropy of the log-odds, weighted per event."""
        cost = F.binary_cross_entropy_with_logits(self(h), anomalous.to(h.dtype), reduction="none")
        return (cost * weight).sum() / weight.sum().clamp(min=torch.finfo(h.dtype).eps)
