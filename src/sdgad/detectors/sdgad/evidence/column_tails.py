"""ColumnTails: how far out every number of a row lies in its column, in nats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.tail import credible
from sdgad.events.held import held
from sdgad.events.stream import Array

KNOTS = 64
TAIL_SHARE, FEWEST_IN_TAIL = 0.01, 10
LEAST_EXCESS = 1e-3  # spreads
MOST, MOST_NATS = 1e30, 1e3  # of what is in a file


class ColumnTails:
    """v → −log P(V ≥ v) of each column, V being the number of a normal event there; as `Tail`, for many columns at once.

    Knots are order statistics at ranks that grow by a factor; of equal ones the most frequent counts. Beyond the highest it goes
    on as there.
    """

    def __init__(self, value: Array, nats: Array, slope: Array) -> None:
        self.value = value  # [columns, K], rising
        self.nats = nats  # [K], rising
        self.slope = slope  # [columns], nats per unit beyond the last knot

    @classmethod
    def fit(cls, normal: Table) -> Self:
        ranked = np.sort(np.ascontiguousarray(normal.T), axis=1).astype(np.float64)
        count = ranked.shape[1]
        ranks = np.unique(np.geomspace(1, count, KNOTS).round().astype(np.int64))[::-1]  # from the top
        top = ranked[:, -max(min(FEWEST_IN_TAIL, count), int(TAIL_SHARE * count)) :]
        spread = ranked.std(1)
        excess = np.maximum(top.mean(1) - top[:, 0], LEAST_EXCESS * np.where(spread > 0, spread, 1.0))
        return cls(
            np.ascontiguousarray(ranked[:, count - ranks]), -np.log(ranks / (count + 1.0)), 1.0 / excess
        )

    def __call__(self, rows: Table) -> NDArray[np.float64]:
        """`[B, columns]`."""
        value, nats = torch.from_numpy(self.value), torch.from_numpy(self.nats)
        number = torch.from_numpy(np.ascontiguousarray(rows.T)).double()
        last = len(nats) - 1
        high = torch.searchsorted(value, number).clamp(max=last)  # the first knot that is not below
        low = (high - 1).clamp(min=0)
        at_low, at_high = value.gather(1, low), value.gather(1, high)
        share = ((number - at_low) / (at_high - at_low).clamp(min=1e-300)).clamp(0.0, 1.0)
        inside = nats[low] + (nats[high] - nats[low]) * share
        beyond = torch.from_numpy(self.slope)[:, None] * (number - value[:, -1:]).clamp(min=0.0)
        found: NDArray[np.float64] = inside.T.numpy() + credible(beyond.T.numpy())
        return found

    def arrays(self) -> dict[str, Array]:
        return {"value": self.value, "nats": self.nats, "slope": self.slope}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], columns: int) -> Self:
        """What was fitted on so many columns; a ValueError where it is something else."""
        nats = held(arrays, "nats", "f8", (arrays["nats"].size,), low=0, high=MOST_NATS, rising=True)
        value = held(arrays, "value", "f8", (columns, len(nats)), low=-MOST, high=MOST, rising=True)
        slope = held(arrays, "slope", "f8", (columns,), low=0, high=MOST)
        if not len(nats) or set(arrays) != {"value", "nats", "slope"}:
            raise ValueError("how far out the numbers of a column lie is not described as it should be")
        return cls(value, nats, slope)
