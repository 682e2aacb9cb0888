"""Boosted trees on rows of events: what they learn from, and how many of them are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.event_table import EventTable
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.detectors.task import Task
from sdgad.detectors.trees import BoostedTrees, as_rows
from sdgad.events.stream import Array
from sdgad.metrics import mixture
from sdgad.threads import share_of_threads

if TYPE_CHECKING:
    from sdgad.detectors.binned_once import BinnedOnce

FIRST_ROUND = 100  # trees before the first look at validation
STRIDE = 5  # validation looks at every fifth tree
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


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Rows of a task to tell apart."""

    task: Task
    table: EventTable
    generator: torch.Generator

    def labelled(self, rows: Tensor, label: Tensor) -> LabelledRows:
        """Events by their labels; an unknown one counts as normal."""
        return LabelledRows(self.table.rows(self.task.index, rows), (label == 1).cpu().numpy())

    def against_pseudo(self, rows: Tensor) -> LabelledRows:
        """Events, and as many pseudo-anomalies made from them."""
        index = self.task.index
        made = self.table.made(index, PseudoAnomalies(index, rows).draw(rows, self.generator))
        anomalous = np.repeat([False, True], [len(rows), len(made)])
        return LabelledRows(np.concatenate([self.table.rows(index, rows), made]), anomalous)

    def contrast(self) -> LabelledRows:
        """Training normals against pseudo-anomalies and the few real ones, each of which counts many times."""
        task = self.task
        real = task.train_label == 1
        examples = self.against_pseudo(task.train[~real])
        few = self.table.rows(task.index, task.train[real]) if real.any() else examples.table[:0]
        # copies, because weights make scikit-learn's binning slow
        copies = np.repeat(few, max(1, int((~real).sum()) // max(1, len(few))), axis=0)
        return LabelledRows(
            np.concatenate([examples.table, copies]),
            np.append(examples.anomalous, np.ones(len(copies), bool)),
        )

    def judge(self, few: bool) -> LabelledRows | None:
        """What the number of trees is chosen on: validation by its labels, or against pseudo-anomalies where the
        trees learn from such; a classifier without both classes in validation has no judge."""
        task = self.task
        if task.val_has_both_classes:
            return self.labelled(task.val, task.val_label)
        return self.against_pseudo(task.val) if few else None


def grow(
    examples: LabelledRows, judge: LabelledRows | None, growth: Growth, seed: int, ensembles: int = 1
) -> BoostedTrees:
    """As many trees as the judge likes best; growth doubles while the best lies in the last third.

    Of several ensembles, which differ by the columns that their splits may choose from, the mean.
    """
    model = _classifier(growth, len(examples.table), seed)
    grown = []
    for number in range(ensembles):
        model = model.anew(seed + SEEDS_APART * number)
        grown.append(_grown(model, examples, judge, growth))
    return grown[0] if ensembles == 1 else BoostedTrees.mean(grown)


def _grown(
    model: BinnedOnce, examples: LabelledRows, judge: LabelledRows | None, growth: Growth
) -> BoostedTrees:
    verdict = None if judge is None else _Verdict(judge)
    count = min(FIRST_ROUND, growth.most)
    while True:
        with share_of_threads():
            model.set_params(max_iter=count).fit(examples.table, examples.anomalous)
        trees = BoostedTrees.from_sklearn(model)
        if verdict is None:
            return trees
        best = verdict.best_number(trees)
        if 3 * best <= 2 * count or count == growth.most:
            return first_trees(trees, best)
        count = min(2 * count, growth.most)


class _Verdict:
    """How well the first so many trees of a growing ensemble tell the judge's rows apart; none is asked twice."""

    def __init__(self, judge: LabelledRows) -> None:
        self._judge = judge
        self._rows = as_rows(judge.table)
        self._odds = np.zeros(len(self._rows))
        self._asked = 0
        self._values: list[tuple[float, int]] = []

    def best_number(self, trees: BoostedTrees) -> int:
        """Of trees, the first of which are those of the last time; of equals the fewest."""
        if not self._asked:
            self._odds += trees.baseline
        count = len(trees.roots)
        for number, values in enumerate(trees.values_by_tree(self._rows, self._asked), self._asked + 1):
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
