"""The substructure of an edge in a snapshot: its ends and the k nodes nearest to both by diffusion."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sdgad.detectors.baselines.snapshots.lookback import entries, met
from sdgad.detectors.baselines.snapshots.rows import NO_ROW
from sdgad.detectors.baselines.taddy.diffusion import FAR


@dataclass(frozen=True)
class Substructure:
    """Tokens of B edges in one snapshot: u, v, and k nodes in order of their diffusion; `apart` from u and from v."""

    node: Tensor  # [B, 2 + k] rows, −1 for nobody
    apart: Tensor  # [B, 2 + k, 2] int64
    visible: Tensor  # [B, 2 + k] bool


def substructure(
    ends: Tensor, k: int, who: Tensor, near: Tensor, mass: Tensor, apart: Tensor, pairs: Tensor
) -> Substructure:
    """Nodes x with the largest S[u, x] + S[v, x] besides u and v; equal ones in the order in which they came, none with 0.

    S is known as far as the lists of u and v go; who is in one list only has 0 of the other. A distance is known where x is in
    the list, or a neighbour; otherwise it is `FAR`.
    """
    lists, shares, ways = (
        entries(who, table, ends, empty) for table, empty in ((near, NO_ROW), (mass, 0.0), (apart, FAR))
    )
    best = _largest_sums(ends, lists.flatten(1), shares.flatten(1), k)
    node = torch.cat([ends, best], 1)
    visible = node >= 0
    visible[:, :2] = True
    sides = []
    for side in (0, 1):
        end = ends[:, side, None]
        listed = (node[:, :, None] == lists[:, side, None, :]) & (node[:, :, None] >= 0)
        way = torch.where(listed, ways[:, side, None, :].long(), FAR).amin(2)
        way = torch.where(met(pairs, node, end.expand_as(node)), 1, way)
        way[:, side] = 0
        sides.append(way)
    return Substructure(node, torch.stack(sides, 2), visible)


def _largest_sums(ends: Tensor, node: Tensor, share: Tensor, k: int) -> Tensor:
    """The k nodes `[B, k]` with the largest sums of shares, −1 where fewer have any; nobody is in `node` `[B, 2m]` thrice."""
    own = (node == ends[:, :1]) | (node == ends[:, 1:])
    node, order = torch.sort(node, dim=1, stable=True)
    share = share.masked_fill(own, 0.0).gather(1, order)
    again = node[:, 1:] == node[:, :-1]
    second = F.pad(again, (1, 0))
    both = share + F.pad(torch.where(again, share[:, 1:], 0.0), (0, 1))
    total = both.masked_fill(second | (node < 0), 0.0)
    value, order = torch.sort(total, dim=1, descending=True, stable=True)
    best = node.gather(1, order[:, :k])
    best = torch.where(value[:, :k] > 0, best, NO_ROW)
    return F.pad(best, (0, k - best.shape[1]), value=NO_ROW)
