"""SnapshotGraph: who met whom in a snapshot; sparse, as large as the snapshot, never n × n."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

HALF = 32  # bits of a pair's number that are for its second node


def pair_number(pairs: Tensor) -> Tensor:
    """One number for each pair of nodes `[B, 2]`, whichever way round: min · 2³² + max."""
    return (pairs.amin(1) << HALF) | pairs.amax(1)


@dataclass(frozen=True)
class Propagation:
    """A sparse n × n matrix as its entries: y_r = Σ value · x_c."""

    row: Tensor  # [M] int64
    column: Tensor  # [M] int64
    value: Tensor  # [M] float32
    nodes: int

    def __call__(self, x: Tensor) -> Tensor:
        """The matrix times x `[n, d]`."""
        y = x.new_zeros(self.nodes, x.shape[1])
        return y.index_add(0, self.row, x[self.column] * self.value[:, None])


@dataclass(frozen=True)
class SnapshotGraph:
    """Pairs u < v that met, in order of (u, v), and how often; no orientation, no self-loops."""

    pair: Tensor  # [P, 2] int64
    weight: Tensor  # [P] float32

    def __len__(self) -> int:
        return len(self.pair)

    @classmethod
    def of(cls, node: Tensor) -> SnapshotGraph:
        """The graph of the events of a snapshot, `[B, 2]` nodes: several of one pair are one edge of that weight."""
        number = pair_number(node[node[:, 0] != node[:, 1]])
        number, count = torch.unique(number, return_counts=True)
        pair = torch.stack([number >> HALF, number & ((1 << HALF) - 1)], 1)
        return cls(pair, count.float())

    def both_ways(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row, column and weight of the entries of the symmetric adjacency A, `[2P]` each."""
        u, v = self.pair.unbind(1)
        return torch.cat([u, v]), torch.cat([v, u]), torch.cat([self.weight, self.weight])

    def degree(self, nodes: int) -> Tensor:
        """d = Σ A: how often each of n nodes met another one, `[n]` float32."""
        row, _, weight = self.both_ways()
        return torch.zeros(nodes, device=row.device).index_add(0, row, weight)

    def smoothing(self, nodes: int) -> Propagation:
        """Â = D^-1/2 (A + I) D^-1/2 with D the degrees of A + I; a node that met nobody keeps what it has (entry 1)."""
        row, column, weight = self.both_ways()
        scale = (self.degree(nodes) + 1).rsqrt()
        every = torch.arange(nodes, device=row.device)
        return Propagation(
            torch.cat([row, every]),
            torch.cat([column, every]),
            torch.cat([scale[row] * weight * scale[column], scale.square()]),
            nodes,
        )

    def neighbours(self, nodes: int) -> tuple[Tensor, Tensor, Tensor]:
        """Compressed rows: the neighbours of x are `other[start[x]:start[x + 1]]`, in order, with `weight`."""
        row, column, weight = self.both_ways()
        order = torch.argsort((row << HALF) | column)
        met = torch.bincount(row, minlength=nodes)
        start = torch.cat([met.new_zeros(1), met.cumsum(0)])
        return start, column[order], weight[order]
