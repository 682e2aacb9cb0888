"""Enclosing subgraphs of edges in a snapshot, with the edge itself removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.lookback import entries, met, numbered
from sdgad.detectors.baselines.snapshots.rows import NO_ROW

REACH = 5  # longest way that counts, when nodes are labelled
LABELS = 9  # 0 to 8: one end is a neighbour, so that distances are at most 1 and 5

SNAPSHOT = ("who", "near", "pairs")


@dataclass(frozen=True)
class Subgraphs:
    """Of B edges: n slots for nodes, the two ends in slots 0 and 1."""

    present: Tensor  # [B, n] bool
    adjacency: Tensor  # [B, n, n] float32, symmetric, without self-loops
    label: Tensor  # [B, n] int64


def nearest(graph: SnapshotGraph, most: int) -> dict[str, Tensor]:
    """Tables of a snapshot: its nodes `who` `[S]`, the neighbours of each, `near` `[S, most]`, and its `pairs` by number.

    Of a node with more neighbours those count that it met most often, and of those met alike often who came first.
    """
    row, column, weight = graph.both_ways()
    order = torch.argsort(column, stable=True)
    for by in (-weight, row):
        order = order[torch.argsort(by[order], stable=True)]
    row, column = row[order], column[order]
    who, place, count = torch.unique_consecutive(row, return_inverse=True, return_counts=True)
    rank = torch.arange(len(row), device=row.device) - (count.cumsum(0) - count)[place]
    kept = rank < most
    near = column.new_full((len(who), most), NO_ROW)
    near[place[kept], rank[kept]] = column[kept]
    return {"who": who, "near": near, "pairs": numbered(*graph.pair.unbind(1))}


def enclosing(ends: Tensor, snapshots: Sequence[Sequence[Tensor]]) -> Subgraphs:
    """The ends `[B, 2]` and all their neighbours in each snapshot (tables as of `nearest`), one snapshot after the other."""
    found = [_enclosing(ends, *tables) for tables in snapshots]
    present, adjacency = (torch.cat(part) for part in zip(*found, strict=True))
    return Subgraphs(present, adjacency, double_radius(adjacency))


def _enclosing(ends: Tensor, who: Tensor, near: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Who is present, and the adjacency: all edges between the nodes but the one of the ends.

    An end that was not there, or that nobody knows, is alone. A self-loop has nobody for its other end.
    """
    u, v = ends[:, :1], torch.where(ends[:, 1:] == ends[:, :1], NO_ROW, ends[:, 1:])
    of_u, of_v = entries(who, near, torch.cat([u, v], 1), NO_ROW).unbind(1)
    of_u, of_v = torch.where(of_u == v, NO_ROW, of_u), torch.where(of_v == u, NO_ROW, of_v)
    of_both = (of_v[:, :, None] == of_u[:, None, :]).any(2)
    slot = torch.cat([u, v, of_u, torch.where(of_both, NO_ROW, of_v)], 1)
    present = slot >= 0
    present[:, :2] = True
    size = slot.shape[1]
    one, other = torch.triu_indices(size, size, 1, device=slot.device)
    joined = met(pairs, slot[:, one], slot[:, other])
    joined[:, 0] = False  # slots 0 and 1
    adjacency = torch.zeros(len(slot), size, size, device=slot.device)
    adjacency[:, one, other] = joined.float()
    return present, adjacency + adjacency.transpose(1, 2)


def double_radius(adjacency: Tensor) -> Tensor:
    """f = 1 + min(d_u, d_v) + ⌊d/2⌋ (⌊d/2⌋ + d mod 2 − 1), d = d_u + d_v, `[B, n]` (SEAL; StrGNN, section 3.2).

    d_u is the distance to u where v is taken away, and the other way round; the ends have 1, who does not reach both has 0.
    """
    of_u, of_v = _distances(adjacency, 0, without=1), _distances(adjacency, 1, without=0)
    total, half = of_u + of_v, (of_u + of_v) // 2
    label = 1 + torch.minimum(of_u, of_v) + half * (half + total % 2 - 1)
    label = torch.where((of_u > REACH) | (of_v > REACH), 0, label)
    label[:, :2] = 1
    return label


def _distances(adjacency: Tensor, start: int, without: int) -> Tensor:
    """From one slot to all, on ways that do not touch another one; REACH + 1 where there is none, or a longer one."""
    free = torch.ones(adjacency.shape[1], device=adjacency.device)
    free[without] = 0
    reached = torch.zeros_like(adjacency[:, 0])
    reached[:, start] = 1
    apart = (1 - reached).long()
    for _ in range(REACH):
        around = torch.bmm(adjacency, reached[:, :, None])[:, :, 0] * free
        reached = ((reached + around) > 0).float()
        apart += (1 - reached).long()
    return apart
