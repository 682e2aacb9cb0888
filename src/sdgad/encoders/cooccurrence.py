"""How often each node of one history occurs in it and in the other endpoint's history."""

from __future__ import annotations

import torch
from torch import Tensor


def cooccurrence(nodes: Tensor, visible: Tensor) -> Tensor:
    """Nodes and visible `[N, 2, T]` → float counts `[N, 2, T, 2]`: in the own sequence, in the other one.

    count(n in s) = Σ_j [s_j = n and s_j visible]; an invisible position counts 0 in both. Every pair of
    positions is compared, O(T²) per event: for T up to some hundred that is cheaper than sorting, and has no
    host synchronisation.
    """
    asking = nodes[..., :, None]
    own = (asking == nodes[..., None, :]) & visible[..., None, :]
    cross = (asking == nodes.flip(1)[..., None, :]) & visible.flip(1)[..., None, :]
    counts = torch.stack([own.sum(-1), cross.sum(-1)], -1)
    return counts.masked_fill(~visible[..., None], 0).float()


def interaction_frequency(nodes: Tensor, visible: Tensor, other: Tensor) -> Tensor:
    """FreeDyG's counts: `cooccurrence`, but of the counterpart (`other` `[N, 2]`), its count in the own sequence twice.

    Who met the counterpart would find it in the counterpart's own history only by a self-loop; so the number of direct
    interactions stands on both sides.
    """
    own, cross = cooccurrence(nodes, visible).unbind(-1)
    return torch.stack([own, torch.where(nodes == other[..., None], own, cross)], -1)
