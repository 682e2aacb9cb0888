"""Walks over a graph that nobody keeps: a few sampled neighbours of every node are enough to go on."""

from __future__ import annotations

import torch
from torch import Tensor

NOBODY = -1


def reservoirs_after(
    reservoir: Tensor, degree: Tensor, node: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Reservoirs `[N, R]` and degrees `[N]` after the events `[B, 2]`, in order.

    An edge (u, v) raises both degrees; then each slot of u becomes v with probability 1 / d_u, and each of v becomes u with
    1 / d_v. So every slot holds a neighbour drawn from all edges of its node so far, alike likely. Self-loops are left out.
    """
    node = node[node[:, 0] != node[:, 1]]
    here, there = node.flatten(), node.flip(1).flatten()  # half-events, in order
    place = torch.arange(len(here), device=here.device)
    order = torch.argsort(here, stable=True)
    met = torch.bincount(here, minlength=len(degree))
    turn = torch.empty_like(place)
    turn[order] = (
        place - (met.cumsum(0) - met)[here[order]]
    )  # how many half-events of its node came before it
    slots = reservoir.shape[1]
    chance = torch.rand(len(here), slots, generator=generator, device=generator.device).to(here.device)
    taken = chance * (degree[here] + turn + 1)[:, None] < 1
    newest = torch.full(reservoir.shape, NOBODY, device=here.device)
    newest = newest.scatter_reduce(
        0, here[:, None].expand(-1, slots), torch.where(taken, place[:, None], NOBODY), "amax"
    )
    padded = torch.cat([there, there.new_full((1,), NOBODY)])
    return torch.where(newest >= 0, padded[newest], reservoir), degree + met


def walks_from(start: Tensor, reservoir: Tensor, length: int, generator: torch.Generator) -> Tensor:
    """Walks `[B, length]` that begin with these nodes and go on to a slot of the reservoir of where they are; one that
    nobody was met from stays there."""
    steps = [start]
    for _ in range(length - 1):
        share = torch.rand(len(start), generator=generator, device=generator.device).to(start.device)
        other = reservoir[steps[-1], (share * reservoir.shape[1]).long()]
        steps.append(torch.where(other < 0, steps[-1], other))
    return torch.stack(steps, 1)
