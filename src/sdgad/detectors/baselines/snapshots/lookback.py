"""Look-back: tables of the last snapshots, what one says of a node, who met whom in it, and what such tables have to be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import HALF
from sdgad.detectors.baselines.snapshots.rows import NO_ROW
from sdgad.events.held import ANY, held
from sdgad.history.state import Array

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


# ---------------------------------------------------------------------- files
def need_met(table: Mapping[str, Array], back: int, rows: int) -> tuple[Array, Array]:
    """`who` and `pairs` of a snapshot: each pair of two of so many rows once, in order; and all who are in one, in order."""
    pairs = held(table, f"pairs{back}", "i8", (ANY,), low=0)
    one, other = pairs >> HALF, pairs & ((1 << HALF) - 1)
    if (one >= other).any() or (other >= rows).any() or (np.diff(pairs) <= 0).any():
        raise ValueError(f"the array 'pairs{back}' holds a pair that cannot be, or not in its place")
    who = held(table, f"who{back}", "i8", (ANY,))
    if not np.array_equal(who, np.unique([one, other])):
        raise ValueError(f"the array 'who{back}' does not hold those who met")
    return who, pairs


def need_near(table: Mapping[str, Array], back: int, who: Array, most: int) -> Array:
    """`near` of a snapshot: for each who met somebody at most so many others who did, none of them twice."""
    near = held(table, f"near{back}", "i8", (len(who), most), low=NO_ROW)
    nobody, ordered = near < 0, np.sort(near, 1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any() or (near == who[:, None]).any() or not (nobody | np.isin(near, who)).all():
        raise ValueError(f"the array 'near{back}' holds somebody who cannot be near")
    return near
