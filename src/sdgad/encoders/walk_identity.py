"""Who a node is to two endpoints: at which steps of their walks it is met, and how often."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.linear import Linear
from sdgad.encoders.walks import Walks


def shares(asked: Tensor, start: Tensor, walks: Walks) -> Tensor:
    """Of nodes `[B, 2, P]`, the share of an endpoint's walks that are there after 0, 1, … steps: `[B, 2, P, 2, 1 + length]`.

    First of the own endpoint's walks, then of the other's; all of them are at their endpoint (`start`, `[B, 2]`) after 0 steps.
    The walk through the current event is not counted. Every pair of nodes is compared, as in `cooccurrence`.
    """
    count = walks.count / walks.count.sum(-1, keepdim=True).clamp_min(1)
    columns = [_both_sides(asked, start[..., None], torch.ones_like(count[..., :1]))]
    for step in walks.steps:
        columns.append(_both_sides(asked, step.node[..., :-1], count * step.there[..., :-1]))
    return torch.stack(columns, -1)


def _both_sides(asked: Tensor, node: Tensor, weight: Tensor) -> Tensor:
    """Σ_k weight_k [node_k = asked], `[B, 2, P, 2]`: over the own and over the other endpoint's k."""
    sides = [
        ((asked[..., None] == n[..., None, :]) * w[..., None, :]).sum(-1)
        for n, w in ((node, weight), (node.flip(1), weight.flip(1)))
    ]
    return torch.stack(sides, -1)


class IdentityCode(nn.Module):
    """code(w) = W₂ (relu(W₁ s_u + b₁) + relu(W₁ s_v + b₁)) + b₂ of the shares s_u, s_v of w in the walks of u and of v."""

    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        self.each = Linear(1 + length, width)
        self.joint = Linear(width, width)

    def forward(self, shares: Tensor) -> Tensor:
        """`[…, 2, 1 + length]` → `[…, width]`."""
        code: Tensor = self.joint(self.each(shares).relu().sum(-2))
        return code
