"""The network of AddGraph (Zheng et al., IJCAI 2019): how a snapshot changes the states of nodes, and how an edge is scored."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear

MEETING = 0.5  # every entry of Â of a graph of two nodes and the edge between them


class ContextualAttention(nn.Module):
    """Short = Σ_k a_k h_k over the last w states of a node, a = softmax(rᵀ tanh(Q h_k)) (eq. 3 to 5)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.weight = nn.Parameter(torch.randn(width) / math.sqrt(width))

    def shares(self, states: Tensor) -> Tensor:
        """a, `[w, N]` of states `[w, N, d]`."""
        found: Tensor = torch.softmax(torch.tanh(self.query(states)) @ self.weight, 0)
        return found

    def forward(self, states: Tensor) -> Tensor:
        return (self.shares(states)[..., None] * states).sum(0)


class Gate(nn.Module):
    """H = (1 − P) ∘ Short + P ∘ tanh(U_c Cur + W_c (R ∘ Short)), P and R = σ(U Cur + W Short + b) (eq. 6 to 9)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.current = Linear(width, 3 * width)  # U_P, U_R, U_c and their biases
        self.short = nn.Linear(width, 2 * width, bias=False)  # W_P, W_R
        self.reset = nn.Linear(width, width, bias=False)  # W_c

    def forward(self, current: Tensor, short: Tensor) -> Tensor:
        p, r, c = self.current(current).chunk(3, -1)
        of_p, of_r = self.short(short).chunk(2, -1)
        update, kept = torch.sigmoid(p + of_p), torch.sigmoid(r + of_r)
        return (1 - update) * short + update * torch.tanh(c + self.reset(kept * short))


class AddGraphNetwork(nn.Module):
    """Cur = GCN(H^{t−1}, Â^t), Short = attention over H^{t−w} … H^{t−1}, H^t = gate(Cur, Short); an edge's log-odds are
    β (‖a ∘ h_i + b ∘ h_j‖² − μ) (eq. 10).

    `first` are the states of nodes before their first snapshot, uniform in ±1/√d for as many as training has; zero for any
    later one.
    """

    first: Tensor

    def __init__(self, width: int, layers: int, dropout: float, beta: float, mu: float, nodes: int) -> None:
        super().__init__()
        self.beta, self.mu = beta, mu
        self.layers = nn.ParameterList(torch.empty(width, width) for _ in range(layers))
        self.dropout = Dropout(dropout)
        self.attention = ContextualAttention(width)
        self.gate = Gate(width)
        self.a = nn.Parameter(torch.ones(width))
        self.b = nn.Parameter(-torch.ones(width))
        for layer in self.layers:
            nn.init.kaiming_uniform_(
                layer, nonlinearity="relu"
            )  # or what is handed on fades from layer to layer
        for matrix in (self.gate.current.weight, self.gate.short.weight, self.gate.reset.weight):
            nn.init.xavier_uniform_(matrix)
        self.register_buffer("first", (2 * torch.rand(nodes, width) - 1) / math.sqrt(width))

    def newcomers(self, known: int, count: int) -> Tensor:
        """States of the next `count` nodes before their first snapshot, where so many are known."""
        drawn = self.first[known : known + count]
        return torch.cat([drawn, drawn.new_zeros(count - len(drawn), drawn.shape[1])])

    def _convolved(self, x: Tensor, spread: Callable[[Tensor], Tensor]) -> Tensor:
        for weight in self.layers:
            x = torch.relu(F.linear(spread(self.dropout(x)), weight))
        return x

    def advanced(self, states: Tensor, graph: SnapshotGraph) -> Tensor:
        """H^t `[N, d]` from the last w states `[w, N, d]`; a node that met nobody has its last state for Cur."""
        count = states.shape[1]
        met = torch.zeros(count, dtype=torch.bool, device=states.device)
        met[graph.pair.flatten()] = True
        current = torch.where(met[:, None], self._convolved(states[-1], graph.smoothing(count)), states[-1])
        out: Tensor = self.gate(current, self.attention(states))
        return out

    def together(self, states: Tensor) -> Tensor:
        """H^t of the two ends `[2, B, d]` of each edge in a snapshot of that edge alone, from states `[w, 2, B, d]`.

        Â of two nodes and their edge is ½ everywhere, so that both ends have the same Cur.
        """
        mean = MEETING * states[-1].sum(0)
        current = self._convolved(mean, lambda x: x)
        out: Tensor = self.gate(current.expand_as(states[-1]), self.attention(states))
        return out

    def odds(self, ends: Tensor) -> Tensor:
        """Log-odds `[B]` of edges whose ends have these states `[2, B, d]`."""
        return self.beta * ((self.a * ends[0] + self.b * ends[1]).square().sum(-1) - self.mu)
