"""Diffusion over a snapshot: for each of its nodes the nearest others, as short lists."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import SnapshotGraph
from sdgad.detectors.baselines.snapshots.lookback import numbered
from sdgad.detectors.baselines.snapshots.rows import NO_ROW

RESTART = 0.15  # c
STEPS = 32  # of the series: what is left out is 0.85³³ < 0.5 % of the whole
CELLS = 1 << 22  # numbers at a time
FURTHEST = 9  # distances from here on are one
FAR = FURTHEST + 1  # not reached, or not known

SNAPSHOT = ("who", "near", "mass", "apart", "pairs")


def spread(graph: SnapshotGraph, most: int) -> dict[str, Tensor]:
    """Tables of a snapshot: its nodes `who` `[S]`; for each the `most` others with the largest share of its diffusion, `near`
    `[S, most]`, the share `mass` and how far they are `apart`; and its `pairs` by number.

    S = c (I − (1 − c) T)⁻¹ = c Σ_j (1 − c)^j T^j, T = D^-1/2 A D^-1/2, A symmetric and 0 or 1; the diagonal of S is then set to
    0, and rows to sum 1 (TADDY, section 4.1). The series is summed for some nodes at a time, over the nodes of
    the snapshot: no inverse, no n × n matrix. Equal shares are in the order in which nodes came; a share of 0 is nobody.
    A node is as far as the first term of the series that reaches it.
    """
    pairs = numbered(*graph.pair.unbind(1))
    who, ends = torch.unique(graph.pair, return_inverse=True)
    count = len(who)
    empty = who.new_full((0, most), NO_ROW)
    near, mass, apart = [empty], [empty.float()], [empty.to(torch.uint8)]
    if count:
        step = _normalised(ends, count)
        for some in torch.split(torch.arange(count, device=who.device), max(1, CELLS // count)):
            found = _lists(step, some, most)
            for kept, part in zip((near, mass, apart), found, strict=True):
                kept.append(part)
    place = torch.cat(near)
    named = torch.where(place < 0, NO_ROW, torch.cat([who, who.new_zeros(1)])[place])
    return {"who": who, "near": named, "mass": torch.cat(mass), "apart": torch.cat(apart), "pairs": pairs}


def _normalised(ends: Tensor, count: int) -> Tensor:
    """T, sparse; in double precision, so that nodes in like places have like shares to the last bit of a float32."""
    entry = torch.cat([ends, ends.flip(1)]).T
    degree = torch.bincount(entry[0], minlength=count).double()
    value = (degree[entry[0]] * degree[entry[1]]).rsqrt()
    return torch.sparse_coo_tensor(entry, value, (count, count), check_invariants=False).coalesce()


def _lists(step: Tensor, some: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor]:
    count, here = step.shape[0], torch.arange(len(some), device=some.device)
    term = torch.zeros(count, len(some), dtype=torch.float64, device=some.device)
    term[some, here] = RESTART
    total, apart = term.clone(), torch.zeros_like(term, dtype=torch.uint8)
    for _ in range(STEPS):
        apart += total == 0
        term = torch.sparse.mm(step, term).mul_(1 - RESTART)
        total += term
    total[some, here] = 0
    share = (total / total.sum(0).clamp(min=1e-300)).float().T
    size = min(most, count)
    # a float32 that is not negative is in the order of its bits: share and place are one number, and no two are alike
    place = torch.arange(count, device=some.device)
    key = (share.contiguous().view(torch.int32).long() << 32) | (count - 1 - place)
    near = count - 1 - (torch.topk(key, size, dim=1).values & 0xFFFFFFFF)
    mass = share.gather(1, near)
    far = apart.T.gather(1, near).clamp(max=FURTHEST)
    none = mass <= 0
    filled = (near.masked_fill(none, NO_ROW), mass, far.masked_fill(none, FAR))
    pad = (0, most - size)
    return (
        F.pad(filled[0], pad, value=NO_ROW),
        F.pad(filled[1], pad),
        F.pad(filled[2], pad, value=FAR),
    )
