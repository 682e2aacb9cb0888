"""Negatives: edges that did not happen, made of edges that did, by putting another node in the place of one end."""

from __future__ import annotations

import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.graph import pair_number

TRIES = 4  # to find one that the other end has not met


class Negatives:
    """(i, j) → (i', j) or (i, j'), i' drawn from all sources so far, j' from all destinations so far, alike often.

    "So far" is up to the end of the snapshot that the edge is in: newcomers can be drawn, or to be new would tell an edge that
    happened. Sources stand in for sources and destinations for destinations (the papers draw from all nodes, of graphs
    where that is the same): on a stream between two kinds of nodes a pair of one kind would tell itself. A pair that has met so
    far is drawn again, at most three times. Nothing here asks the device a question.
    """

    def __init__(self, node: Tensor) -> None:
        """`node` are the events `[E, 2]` of the stream, in order."""
        pools = [_first_come(node[:, side]) for side in (0, 1)]
        self._pool = [who for who, _ in pools]
        self._came = [when for _, when in pools]
        self._number, self._met = _first_come(pair_number(node))
        order = torch.argsort(self._number)
        self._number, self._met = self._number[order], self._met[order]

    def met(self, pairs: Tensor, until: int) -> Tensor:
        """Whether each pair is among the events before row `until`, whichever way round."""
        number = pair_number(pairs)
        place = torch.searchsorted(self._number, number).clamp(max=len(self._number) - 1)
        return (self._number[place] == number) & (self._met[place] < until)

    def draw(self, pairs: Tensor, until: int, source: Tensor, generator: torch.Generator) -> Tensor:
        """One for each pair `[B, 2]`, of what came before row `until`; `source` says whose source is replaced."""
        made, wrong = pairs, torch.ones_like(source)
        for _ in range(TRIES):
            other = torch.stack([self._some(side, until, len(pairs), generator) for side in (0, 1)], 1)
            replaced = torch.stack([source, ~source], 1)
            made = torch.where(wrong[:, None], torch.where(replaced, other, pairs), made)
            wrong = (made[:, 0] == made[:, 1]) | self.met(made, until)
        return made

    def at_random(self, pairs: Tensor, until: int, generator: torch.Generator) -> Tensor:
        """The same, either end being replaced alike often."""
        return self.draw(pairs, until, _share(len(pairs), generator, pairs.device) < 0.5, generator)

    def _some(self, side: int, until: int, count: int, generator: torch.Generator) -> Tensor:
        here = self._pool[side]
        known = torch.searchsorted(self._came[side], until)
        return here[(_share(count, generator, here.device) * known).long()]


def _first_come(values: Tensor) -> tuple[Tensor, Tensor]:
    """Distinct values in order of appearance, and the row in which each came first."""
    value, place = torch.unique(values, return_inverse=True)
    rows = torch.arange(len(values), device=values.device)
    first = torch.full_like(value, len(values)).scatter_reduce(0, place, rows, "amin")
    order = torch.argsort(first)
    return value[order], first[order]


def _share(count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    return torch.rand(count, generator=generator, device=generator.device, dtype=torch.float64).to(device)
