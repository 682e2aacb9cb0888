"""Look-back: tables of the last snapshots, and what is asked of one: what it says of a node, and who met whom."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import HALF

BEYOND = 2**62  # above every node and every pair


def moved_on(tables: Mapping[str, Tensor], newest: Mapping[str, Tensor], depth: int) -> dict[str, Tensor]:
    """Tables `x0`, `x1`, … are of the last snapshot, the one before, …: a new one comes, and the oldest of `depth` goes."""
    moved = dict(tables)
    for name, table in newest.items():
        moved |= {f"{name}{back}": tables[f"{name}{back - 1}"] for back in range(1, depth)}
        moved[f"{name}0"] = table
    return moved


def entries(who: Tensor, table: Tensor, row: Tensor, empty: float) -> Tensor:
    """What the table `[S, m]` of a snapshot with the nodes `who` `[S]` says of each row `[…]` → `[…, m]`; `empty` of others."""
    padded = torch.cat([table, table.new_full((1, table.shape[1]), empty)])
    return padded[_place(who, row)]


def met(pairs: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Whether nodes met, `pairs` being the numbers of those who did, in order; nobody (−1) met nobody."""
    return _place(pairs, numbered(one, other)) < len(pairs)


def numbered(one: Tensor, other: Tensor) -> Tensor:
    """One number for two nodes, whichever way round; negative where one is nobody."""
    return (torch.minimum(one, other) << HALF) | torch.maximum(one, other)


def _place(known: Tensor, wanted: Tensor) -> Tensor:
    """Where each number is in a rising row of them; its length for those that are not in it."""
    padded = torch.cat([known, known.new_full((1,), BEYOND)])
    place = torch.searchsorted(padded, wanted.contiguous())
    return torch.where(padded[place] == wanted, place, len(known))
