"""What AddGraph learns by: edges shall score lower than negatives by a margin."""

from __future__ import annotations

import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph


def margin_loss(real: Tensor, made: Tensor, margin: float, *, selective: bool) -> Tensor:
    """Mean of max(0, γ + f(i, j) − f(i', j')) over edges (eq. 12); `selective`: a pair with f(i, j) > f(i', j') adds nothing,
    since its negative may be an edge that might well have happened."""
    short = torch.relu(margin + real - made)
    if selective:
        short = torch.where(real.detach() <= made.detach(), short, 0.0)
    return short.mean()


def source_goes(node: Tensor, edges: Tensor, generator: torch.Generator) -> Tensor:
    """Of which edges the source is replaced: with probability d_i / (d_i + d_j), degrees being those among the events `node`."""
    degree = SnapshotGraph.of(node).degree(int(node.max()) + 1)[edges]
    share = torch.rand(len(edges), generator=generator, device=generator.device).to(edges.device)
    return share * degree.sum(1) < degree[:, 0]
