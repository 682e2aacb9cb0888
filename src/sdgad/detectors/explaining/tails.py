"""Tails: how unusual numbers of an event are, among a sample of normal events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sdgad.events.held import ANY, held
from sdgad.events.stream import Array

KNOTS = 32
TAIL_SHARE, FEWEST_IN_TAIL = 0.01, 10
LEAST, MOST_NATS = 1e-30, 1e3  # of what is in a file
LEAST_EXCESS = 0.05  # spreads
HEAVINESS = (
    3.0  # nats grow as 3 · log beyond the sample: a few thousand events do not know of one in a billion
)


@dataclass(frozen=True, eq=False)
class Tails:
    """v → −log P(V ≥ v) for each of Q numbers, V being that of a normal event.

    Exact at the knots, which are order statistics at ranks that grow by a factor, and linear between them. Beyond the highest
    it is that of a generalised Pareto tail with the mean excess e of the top hundredth: 3 · log(1 + (v − v_max) / (3 e)).
    """

    value: Array  # [Q, K], rising
    nats: Array  # [Q, K], rising
    excess: Array  # [Q]

    @classmethod
    def fit(cls, normal: Array) -> Self:
        """From numbers `[n, Q]` of normal events."""
        count = len(normal)
        ranks = np.unique(np.geomspace(1, count, KNOTS).round().astype(np.int64))[::-1]
        ranked = np.sort(np.asarray(normal, np.float64), axis=0)
        value = ranked[count - ranks]  # [K, Q]
        least = np.stack(
            [np.searchsorted(column, knots) for column, knots in zip(ranked.T, value.T, strict=True)]
        )  # how many are below
        top = ranked[-max(min(FEWEST_IN_TAIL, count), int(TAIL_SHARE * count)) :]
        spread = ranked.std(0)
        excess = np.maximum(top.mean(0) - top[0], LEAST_EXCESS * np.where(spread > 0, spread, 1.0))
        nats = -np.log((count - least) / (count + 1.0))
        return cls(value.T.astype(np.float32), nats.astype(np.float32), excess.astype(np.float32))

    def __call__(self, numbers: Array) -> Array:
        """`[B, Q]` nats of numbers `[B, Q]`."""
        beyond = np.maximum(numbers - self.value[:, -1], 0.0) / (HEAVINESS * self.excess)
        found: Array = HEAVINESS * np.log1p(beyond)
        for place, (value, nats) in enumerate(zip(self.value, self.nats, strict=True)):
            found[:, place] += np.interp(numbers[:, place], value, nats)
        return found

    def arrays(self) -> dict[str, Array]:
        return {"value": self.value, "nats": self.nats, "excess": self.excess}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """The inverse of `arrays`; a ValueError where they are no tails."""
        value = held(arrays, "value", "f4", (ANY, ANY), rising=True)
        nats = held(arrays, "nats", "f4", value.shape, low=0, high=MOST_NATS, rising=True)
        if not value.shape[1]:
            raise ValueError("tails have no knots")
        return cls(value, nats, held(arrays, "excess", "f4", value.shape[:1], low=LEAST))
