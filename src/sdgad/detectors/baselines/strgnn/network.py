"""The network of StrGNN (Cai et al., CIKM 2021): graph convolutions, sort pooling and a recurrent unit over snapshots."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdgad.detectors.baselines.strgnn.subgraphs import LABELS, Subgraphs
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear

CHANNELS, MORE_CHANNELS, VECTOR, HEAD = 16, 32, 128, 128
KERNEL = 5
LEAST = 10  # nodes that are pooled: five after halving, as many as the second convolution spans


class GraphConvolutions(nn.Module):
    """X ← tanh(D⁻¹ (A + I) X W), D the degrees of A + I; all layers' outputs side by side, the last being one number."""

    def __init__(self, width: int) -> None:
        super().__init__()
        sizes = (LABELS, width, width, width, 1)
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairwise(sizes))
        self.width = sum(sizes[1:])

    def forward(self, graphs: Subgraphs) -> Tensor:
        """`[B, n, 3 · width + 1]`; zeros in empty slots."""
        joined = graphs.adjacency + torch.eye(graphs.adjacency.shape[1], device=graphs.adjacency.device)
        spread = joined / joined.sum(2, keepdim=True)
        x = F.one_hot(graphs.label, LABELS).float() * graphs.present[:, :, None]
        outputs = []
        for layer in self.layers:
            x = torch.tanh(torch.bmm(spread, layer(x)))
            outputs.append(x)
        return torch.cat(outputs, 2)


def sort_pooled(x: Tensor, present: Tensor, k: int) -> Tensor:
    """The k nodes with the highest last channel, in that order; of equal ones the first slot first; zeros where fewer are."""
    last = x[:, :, -1].masked_fill(~present, -torch.inf)
    order = torch.argsort(last, dim=1, descending=True, stable=True)[:, :k]
    pooled = torch.gather(x * present[:, :, None], 1, order[:, :, None].expand(-1, -1, x.shape[2]))
    return F.pad(pooled, (0, 0, 0, k - pooled.shape[1]))


class StrGNNNetwork(nn.Module):
    """A vector of each snapshot's subgraph, then a gated recurrent unit over the snapshots, then a head: log-odds of an anomaly.

    The convolutions of the paper are written as the products that they are: the first spans one node, the third all that is left.
    """

    def __init__(self, width: int, hidden: int, k: int, dropout: float) -> None:
        super().__init__()
        self.k = k
        self.graph = GraphConvolutions(width)
        self.first = Linear(self.graph.width, CHANNELS)
        self.second = Linear(CHANNELS * KERNEL, MORE_CHANNELS)
        self.third = Linear(MORE_CHANNELS * (k // 2 - KERNEL + 1), VECTOR)
        self.recurrent = nn.GRUCell(VECTOR, hidden)
        self.head = nn.Sequential(Linear(hidden, HEAD), nn.ReLU(), Dropout(dropout), Linear(HEAD, 1))

    def vector(self, graphs: Subgraphs) -> Tensor:
        """`[B, 128]`, of each subgraph by itself."""
        x = torch.relu(self.first(sort_pooled(self.graph(graphs), graphs.present, self.k)))
        x = x[:, : self.k // 2 * 2].reshape(len(x), self.k // 2, 2, CHANNELS).amax(2)
        x = torch.relu(self.second(x.unfold(1, KERNEL, 1).flatten(2)))
        return torch.relu(self.third(x.flatten(1)))

    def forward(self, graphs: Subgraphs, snapshots: int) -> Tensor:
        """Log-odds `[B]` of edges from their subgraphs, those in the oldest snapshot first."""
        vectors = self.vector(graphs)
        state = vectors.new_zeros(len(vectors) // snapshots, self.recurrent.hidden_size)
        for vector in vectors.chunk(snapshots):
            state = self.recurrent(vector, state)
        odds: Tensor = self.head(torch.relu(state))[:, 0]
        return odds
