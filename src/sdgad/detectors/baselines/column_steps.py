"""How rare a value is in its own column, for every column of a table: step functions that training rows give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.errors import InputError
from sdgad.events.held import ANY, held
from sdgad.events.stream import Array

GRID = 2.0**13  # a row is seen in steps of 1/8192
RANKS = 256  # of order statistics from either end
MOST_NATS = 1e3  # of what is in a file

Column = tuple[
    Array, Array
]  # K knots, and nats of 2 K + 1 places: before the first, on it, between it and the second, …


@dataclass(frozen=True, eq=False)
class ColumnSteps:
    """Σ over columns of nats_c(v_c), each constant on knots and between them.

    Live and offline rows agree up to rounding, which a step would make visible where many events have one value: 0, or a share
    of a half. So values are rounded to a grid that holds such values, and lie far inside its cells. Nats are looked up and added
    column by column: their bits do not depend on the batch.
    """

    knots: Array  # [C, K], rising, in steps of the grid; what a column lacks is ∞
    nats: Array  # [C, 2 K + 1]

    @classmethod
    def fit(cls, rows: Table, rule: Callable[[Array], Column]) -> Self:
        """From training rows; the rule makes knots and nats of one column."""
        columns = [rule(on_grid(column)) for column in rows.T]
        width = max((len(knots) for knots, _ in columns), default=0)
        knots = np.full((len(columns), width), np.inf)
        nats = np.zeros((len(columns), 2 * width + 1))
        for i, (mine, steps) in enumerate(columns):
            knots[i, : len(mine)] = mine
            nats[i, : len(steps)] = steps
        return cls(knots, nats)

    def __call__(self, rows: Table) -> Array:
        total = np.zeros(len(rows))
        for knots, nats, column in zip(self.knots, self.nats, rows.T, strict=True):
            total += nats[places(knots, on_grid(column))]
        return total

    def arrays(self) -> dict[str, Array]:
        return {"knots": self.knots, "nats": self.nats}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], columns: int) -> Self:
        """The inverse of `arrays`, for rows of so many columns."""
        knots = held(arrays, "knots", "f8", (ANY, ANY), high=np.inf, rising=True)
        if len(knots) != columns:
            raise InputError(f"There are knots of {len(knots)} columns, where rows have {columns}.")
        shape = (columns, 2 * knots.shape[1] + 1)
        return cls(knots, held(arrays, "nats", "f8", shape, low=0, high=MOST_NATS))


def on_grid(column: Iterable[float]) -> Array:
    """A column in steps of the grid."""
    steps: Array = np.rint(np.asarray(column, np.float64) * GRID)
    return steps


def places(knots: Array, column: Array) -> Array:
    """2 k + 1 on knot k, 2 k before it and after the last one."""
    found: Array = np.searchsorted(knots, column, "left") + np.searchsorted(knots, column, "right")
    return found


def heights(column: Array, bins: int) -> Column:
    """−log((n_b + 1) / (max n + 1)), n_b being the training values in the bin: HBOS (Goldstein and Dengel 2012).

    Bins are equally wide, the last one closed; beyond them n_b = 0. The fullest bin of every column has the height 1, so that
    columns weigh alike.
    """
    knots = np.unique(np.rint(np.linspace(column.min(), column.max(), bins + 1)))
    found = np.bincount(places(knots, column), minlength=2 * len(knots) + 1)
    last = max(len(knots) - 2, 0)
    of_bin = np.minimum((np.arange(1, 2 * len(knots)) - 1) // 2, last)  # of all places but the two outer ones
    count = np.bincount(of_bin, found[1:-1])
    full = np.concatenate([[0.0], count[of_bin], [0.0]])
    return knots, np.log(count.max() + 1.0) - np.log(full + 1.0)


def tails(column: Array) -> Column:
    """−log((n_t + 1) / (n + 1)), n_t being the training values in the rarer of both tails, those equal to v included: as in ECOD
    (Li et al. 2022).

    Exact on knots, which are order statistics: all values where there are few, else those at ranks that grow by a factor from
    either end, so that n_t is known to a few hundredths.
    """
    ranked, size = np.sort(column), len(column)
    rank = np.unique(np.geomspace(1, size, min(RANKS, size)).round().astype(np.int64))
    chosen = np.concatenate([ranked[rank - 1], ranked[size - rank]])
    distinct = np.unique(ranked)
    knots = distinct if len(distinct) <= 2 * RANKS else np.unique(chosen)
    below = np.searchsorted(ranked, knots, "right")  # values up to the knot, and from it on
    above = size - np.searchsorted(ranked, knots, "left")
    left, right = np.zeros(2 * len(knots) + 1), np.zeros(2 * len(knots) + 1)
    left[1::2], left[2::2] = below, below
    right[1::2], right[:-1:2] = above, above
    return knots, np.log(size + 1.0) - np.log(np.minimum(left, right) + 1.0)
