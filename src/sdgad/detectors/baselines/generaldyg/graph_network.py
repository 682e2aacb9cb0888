"""GeneralDyG's graph network, after CensNet: nodes hear of each other through edges, edges through nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear


def adjusted(incidence: Tensor, between: Tensor) -> Tensor:
    """A' `[B, I, I]`: of things i, j that share something, A'_ij = M_ij / (1 + number of j), M = T diag(between) Tᵀ, M_ii = 1.

    Nodes share edges, edges (`incidence` transposed) share nodes: A + I is divided by its row sums and multiplied by M.
    """
    alone = torch.eye(incidence.shape[1], device=incidence.device, dtype=incidence.dtype)
    apart = 1 - alone
    shared = ((incidence @ incidence.mT) * apart > 0).to(incidence.dtype)
    said = (incidence * between[:, None]) @ incidence.mT * apart
    return (said + alone) / (1 + shared.sum(2, keepdim=True))


class NodeEdgeLayer(nn.Module):
    """H_v ← relu(A'_v(H_e p) H_v W + b), then H_e ← relu(A'_e(H_v p') / max · H_e W' + b') on the line graph.

    A' is `adjusted`; that of edges is divided by the largest absolute value of each of its columns. (The published code
    divides by the largest value: where that is small, a negative one beside it grows without bound.) Dropout follows both.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.through_edge = Linear(width, 1, bias=False)
        self.through_node = Linear(width, 1, bias=False)
        self.node = Linear(width, width)
        self.edge = Linear(width, width)
        self.dropout = Dropout(dropout)

    def forward(self, nodes: Tensor, edges: Tensor, incidence: Tensor) -> tuple[Tensor, Tensor]:
        """nodes `[B, N, w]`, edges `[B, E, w]`, incidence `[B, N, E]`."""
        by_edges = adjusted(incidence, self.through_edge(edges)[..., 0])
        nodes = self.dropout(self.node(by_edges @ nodes).relu())
        by_nodes = adjusted(incidence.mT, self.through_node(nodes)[..., 0])
        by_nodes = by_nodes / by_nodes.abs().amax(1, keepdim=True)  # at least that of an edge with itself
        return nodes, self.dropout(self.edge(by_nodes @ edges).relu())
