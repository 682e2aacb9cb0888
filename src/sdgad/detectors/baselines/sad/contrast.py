"""SAD's contrast between pseudo-labels."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

FARTHEST = 5.0  # a pseudo-label is a deviation, cut off here
SAME = 1.0  # pseudo-labels that differ by no more are alike


def contrast_weights(pseudo_label: Tensor) -> Tensor:
    """1 / (1 + |d_i − d_j|) where events i and j are alike (|d_i − d_j| ≤ 1), else 0, `[B, B]`; d in [−5, 5]."""
    d = pseudo_label.clamp(-FARTHEST, FARTHEST)
    apart = (d[:, None] - d).abs()
    return (1 / (1 + apart)).masked_fill(apart > SAME, 0.0)


def contrast_loss(vector: Tensor, other_view: Tensor, pseudo_label: Tensor, temperature: float) -> Tensor:
    """− τ mean_i 1/|P(i)| Σ_{j ∈ P(i)} w_ij log(exp(s_ij/τ) / Σ_{k ≠ i} exp(s_ik/τ)), s = cosine, w = `contrast_weights`.

    Anchors i are the events; j and k go over the events and their other views, both with the pseudo-label of the event, P(i)
    being those alike but for i itself. (The published code makes groups of pseudo-labels by thresholds and then
    goes by this difference instead.) Pseudo-labels get no gradient.
    """
    anchor, view = F.normalize(vector, dim=1), F.normalize(other_view, dim=1)
    similar = anchor @ torch.cat([anchor, view]).T / temperature
    weight = contrast_weights(pseudo_label.detach())
    count = len(weight)
    itself = F.pad(torch.eye(count, dtype=torch.bool, device=weight.device), (0, count))
    log_share = similar - similar.masked_fill(itself, -torch.inf).logsumexp(1, keepdim=True)
    weight = torch.cat([weight, weight], 1).masked_fill(itself, 0.0)
    alike = (weight > 0).sum(1)  # the other view of an event is alike
    return -temperature * ((weight * log_share).sum(1) / alike).mean()
