"""Tail: any number per event as evidence in nats, −log p among normals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sdgad.events.held import ANY, held
from sdgad.events.stream import Array

KNOTS = 64
TAIL_SHARE, FEWEST_IN_TAIL = 0.01, 10
LEAST_SLOPE = 1e-3  # nats per spread, below all normals
MOST, MOST_NATS = 1e30, 1e3  # of what is in a file
LEAST_EXCESS = 1e-3  # spreads
CREDIBLE = 5.0  # nats beyond the highest of normals, as far as a tail is taken at its word


def credible(beyond: Array) -> Array:
    """Nats beyond the highest of normals: five of them as they are, and from there on 5 + log(1 + what exceeds 5)."""
    found: Array = np.minimum(beyond, CREDIBLE) + np.log1p(np.maximum(beyond - CREDIBLE, 0.0))
    return found


@dataclass(frozen=True, eq=False)
class Tail:
    """v → −log P(V ≥ v), V being the number of a normal event.

    Between knots, which are order statistics at ranks that grow by a factor, it is linear; beyond the highest it goes on as
    an exponential tail does, with the mean excess of the top hundredth, for five nats, and from there on as its logarithm: n
    normals do not know of chances of e^{−500}, and one kind of evidence that claims them would outweigh all others. Below the
    lowest it falls, slowly. So it rises strictly: no two different numbers tie, and the largest say by how much they are.
    """

    value: Array  # [K], rising
    nats: Array  # [K], rising
    above: float  # nats per unit beyond the last knot
    below: float  # and before the first

    @classmethod
    def fit(cls, normal: Array) -> Self:
        """From numbers of normal events that nothing was learned from."""
        ranked = np.sort(np.asarray(normal, np.float64))
        count = len(ranked)
        ranks = np.unique(np.geomspace(1, count, KNOTS).round().astype(np.int64))[::-1]  # from the top
        value, first = np.unique(ranked[count - ranks], return_index=True)  # of equals the most frequent
        nats = -np.log(ranks[first] / (count + 1.0))
        spread = float(ranked.std()) or 1.0
        top = ranked[-max(min(FEWEST_IN_TAIL, count), int(TAIL_SHARE * count)) :]
        excess = max(float(top.mean() - top[0]), LEAST_EXCESS * spread)
        return cls(value, nats, 1.0 / excess, LEAST_SLOPE / spread)

    def __call__(self, number: Array) -> Array:
        number = np.asarray(number, np.float64)
        beyond = credible(self.above * np.maximum(number - self.value[-1], 0.0))
        before = self.below * np.minimum(number - self.value[0], 0.0)
        nats: Array = np.interp(number, self.value, self.nats) + beyond + before
        return nats

    def arrays(self) -> dict[str, Array]:
        return {"value": self.value, "nats": self.nats, "slope": np.array([self.below, self.above])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """The inverse of `arrays`; a ValueError where they are no tail."""
        below, above = held(arrays, "slope", "f8", (2,), low=0, high=MOST).tolist()
        value = held(arrays, "value", "f8", (ANY,), low=-MOST, high=MOST, rising=True)
        nats = held(arrays, "nats", "f8", value.shape, low=0, high=MOST_NATS, rising=True)
        if not len(value) or set(arrays) != {"slope", "value", "nats"}:
            raise ValueError("a unit of evidence is not described as one")
        return cls(value, nats, above, below)
