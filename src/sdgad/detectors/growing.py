"""Boosted trees on rows to tell apart, and how many of them are grown and kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sdgad.detectors.own_stream import own_stream
from sdgad.detectors.trees import BoostedTrees, Device, as_rows
from sdgad.events.stream import Array
from sdgad.metrics import mixture
from sdgad.threads import share_of_threads, side_by_side

if TYPE_CHECKING:
    from sdgad.detectors.binned_once import BinnedOnce

FIRST_ROUND = 100  # trees before the first look at validation
STRIDE = 5  # validation looks at every fifth tree
MANY_NORMALS = 60_000  # that one of several ensembles has to see
SEEDS_APART = 1_000_003  # of ensembles: seeds of fits are small, and two fits shall not share an ensemble


@dataclass(frozen=True)
class Growth:
    """Small trees, a third of the columns at each split: streams drift, and large trees learn dates."""

    learning_rate: float = 0.05
    most: int = 400
    leaves: int = 8
    min_leaf: int = 50
    l2: float = 3.0
    columns: float = 0.3


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows to tell apart."""

    table: Array
    anomalous: Array

    def shares(self, most: int) -> int:
        """Into how many parts normals are cut, where they are many; at most so many."""
        return max(1, min(most, round(np.count_nonzero(~self.anomalous) / MANY_NORMALS)))

    def share(self, number: int, of: int) -> Array | None:
        """All anomalies and each of-th normal, from this one on, as places; None: all rows."""
        if of == 1:
            return None
        normal = np.flatnonzero(~self.anomalous)
        return np.union1d(np.flatnonzero(self.anomalous), normal[number % of :: of])

    def take(self, some: Array | None) -> LabelledRows:
        """Some of the rows."""
        return self if some is None else LabelledRows(self.table[some], self.anomalous[some])


def grow(
    examples: LabelledRows,
    judge: LabelledRows | None,
    growth: Growth,
    seed: int,
    ensembles: int = 1,
    device: Device = None,
) -> BoostedTrees:
    """As many trees as the judge likes best; growth doubles while the best lies in the last third. The judge reads on the device.

    Of several ensembles the mean. They differ by the columns that their splits may choose from and, where normals are many,
    by the normals that they see: each has a share of its own.
    """
    shares = examples.shares(ensembles)
    parts = [examples.share(number, shares) for number in range(ensembles)]
    first = _classifier(growth, len(examples.table) // shares, seed).of(examples.table, parts[0])
    seeds = [(seed + SEEDS_APART * number) % 2**32 for number in range(1, ensembles)]
    models = [first, *(first.anew(*one) for one in zip(seeds, parts[1:], strict=True))]
    pieces = [
        partial(_grown, model, examples.take(some), judge, growth, device)
        for model, some in zip(models, parts, strict=True)
    ]
    grown = side_by_side(pieces)
    return grown[0] if ensembles == 1 else BoostedTrees.mean(grown)


def _grown(
    model: BinnedOnce, examples: LabelledRows, judge: LabelledRows | None, growth: Growth, device: Device
) -> BoostedTrees:
    verdict = None if judge is None else _Verdict(judge, device)
    count = min(FIRST_ROUND, growth.most)
    while True:
        with share_of_threads():
            model.set_params(max_iter=count).fit(examples.table, examples.anomalous)
        trees = BoostedTrees.from_sklearn(model)
        if verdict is None:
            return trees
        with own_stream(device):
            best = verdict.best_number(trees)
        if 3 * best <= 2 * count or count == growth.most:
            return first_trees(trees, best)
        count = min(2 * count, growth.most)


class _Verdict:
    """How well the first so many trees of a growing ensemble tell the judge's rows apart; none is asked twice."""

    def __init__(self, judge: LabelledRows, device: Device) -> None:
        self._judge = judge
        self._device = device
        self._rows = as_rows(judge.table)
        self._odds = np.zeros(len(self._rows))
        self._asked = 0
        self._values: list[tuple[float, int]] = []

    def best_number(self, trees: BoostedTrees) -> int:
        """Of trees, the first of which are those of the last time; of equals the fewest."""
        if not self._asked:
            self._odds += trees.baseline
        count = len(trees.roots)
        found = trees.values_by_tree(self._rows, self._asked, self._device)
        for number, values in enumerate(found, self._asked + 1):
            self._odds += values
            if number % STRIDE == 0 or number == count:
                self._values.append((mixture(self._judge.anomalous, self._odds), -number))
        self._asked = count
        return -max(self._values)[1]


def _classifier(growth: Growth, rows: int, seed: int) -> BinnedOnce:
    from sdgad.detectors.binned_once import BinnedOnce  # scikit-learn takes a second to load

    return BinnedOnce(
        learning_rate=growth.learning_rate,
        max_leaf_nodes=growth.leaves,
        min_samples_leaf=max(1, min(growth.min_leaf, rows // 100)),
        l2_regularization=growth.l2,
        max_features=growth.columns,
        early_stopping=False,  # its own hold-out is random, ours comes later in time
        warm_start=True,
        random_state=seed,
    )


def first_trees(trees: BoostedTrees, count: int) -> BoostedTrees:
    """The first trees of an ensemble: they, and their nodes, lie in order."""
    nodes = slice(0, None if count == len(trees.roots) else int(trees.roots[count]))
    return replace(
        trees,
        roots=trees.roots[:count],
        **{
            name: getattr(trees, name)[nodes]
            for name in ("feature", "threshold", "child", "missing_left", "value")
        },
    )
