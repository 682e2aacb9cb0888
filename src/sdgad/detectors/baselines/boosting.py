"""Gradient boosting on context and edge features: the yardstick that a deep detector has to beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from sdgad.configuration import option
from sdgad.detectors.base import WindowDetector
from sdgad.detectors.baselines.event_table import event_table, pseudo_table, window_table
from sdgad.detectors.baselines.trees import BoostedTrees
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.pseudo import FEW_LABELS, PseudoAnomalies
from sdgad.detectors.registry import detectors
from sdgad.detectors.task import FitScores, Task
from sdgad.errors import InputError
from sdgad.events.stream import Array
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window
from sdgad.metrics import mixture

FIRST_ROUND = 100  # trees before the first look at validation
STRIDE = 5  # validation looks at every fifth tree
LOWEST, HIGHEST = -700.0, 36.0  # log-odds beyond which the float64 sigmoid is 0 or 1


@dataclass(frozen=True)
class BoostingConfig(DetectorConfig):
    """Small trees, a third of the columns at each split: streams drift, and large trees learn dates."""

    learning_rate: float = option(0.05, "the say of one tree")
    max_iter: int = option(400, "most trees; validation chooses how many of them are kept")
    leaves: int = option(8, "most leaves of a tree")
    min_leaf: int = option(50, "fewest events in a leaf, or a hundredth of all events if that is less")
    l2: float = option(3.0, "shrinks the values of leaves, those with few events most")
    columns: float = option(0.3, "share of the columns that a split may choose from")

    def __post_init__(self) -> None:
        super().__post_init__()
        least = {"max_iter": 1, "leaves": 2, "min_leaf": 1, "l2": 0}
        for name, low in least.items():
            if not getattr(self, name) >= low:
                raise InputError(f"Option {name}={getattr(self, name)} must be at least {low}.")
        for name in ("learning_rate", "columns"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"Option {name}={getattr(self, name)} must be above 0 and at most 1.")


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows to tell apart."""

    table: Array
    anomalous: Array


@detectors.register("boosting")
class Boosting(WindowDetector):
    """Score = sigmoid(log-odds), log-odds = baseline + Σ trees, by scikit-learn's histogram boosting.

    With labels it is a classifier (an unknown label counts as normal). Without, it tells training events
    from pseudo-anomalies, one each; a few labelled anomalies join these and together count as much.
    Validation chooses the number of trees by the mean of AUROC and AP: on its labels, or else against
    pseudo-anomalies of its own.
    """

    config_type: ClassVar[type[DetectorConfig]] = BoostingConfig
    config: BoostingConfig
    check_options: ClassVar[Mapping[str, Any]] = {"max_iter": 30}

    # ------------------------------------------------------------------ learn
    def _learn(self, task: Task) -> FitScores:
        """An epoch is one tree."""
        generator = torch.Generator().manual_seed(self.config.seed)
        few = int((task.train_label == 1).sum()) < FEW_LABELS
        examples = _contrast(task, generator) if few else _labelled(task.index, task.train, task.train_label)
        self._trees = self._grow(examples, _judge(task, few, generator), task.epochs or self.config.max_iter)
        return self._score_both(task)

    def _grow(self, examples: Examples, judge: Examples | None, most: int) -> BoostedTrees:
        """As many trees as the judge likes best; growth doubles while the best lies in the last third."""
        model = self._classifier(len(examples.table))
        count = min(FIRST_ROUND, most)
        while True:
            model.set_params(max_iter=count).fit(examples.table, examples.anomalous)
            trees = BoostedTrees.from_sklearn(model)
            if judge is None:
                return trees
            values = [
                (mixture(judge.anomalous, odds.ravel()), -number)  # of equals the fewest trees
                for number, odds in enumerate(model.staged_decision_function(judge.table), 1)
                if number % STRIDE == 0 or number == count
            ]
            best = -max(values)[1]
            if 3 * best <= 2 * count or count == most:
                return _first(trees, best)
            count = min(2 * count, most)

    def _classifier(self, rows: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        config = self.config
        return HistGradientBoostingClassifier(
            learning_rate=config.learning_rate,
            max_leaf_nodes=config.leaves,
            min_samples_leaf=max(1, min(config.min_leaf, rows // 100)),
            l2_regularization=config.l2,
            max_features=config.columns,
            early_stopping=False,  # its own hold-out is random, ours comes later in time
            warm_start=True,
            random_state=config.seed,
        )

    # ------------------------------------------------------------------ score
    def _score_window(self, window: Window) -> Array:
        odds = self._trees.raw_score(window_table(window))
        score: Array = 1.0 / (1.0 + np.exp(-np.clip(odds, LOWEST, HIGHEST)))
        return score

    # ------------------------------------------------------------------ files
    def _weights(self) -> dict[str, Array]:
        return self._trees.arrays()

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:  # noqa: ARG002
        self._trees = BoostedTrees.from_arrays(weights)


def _labelled(index: HistoryIndex, rows: Tensor, label: Tensor) -> Examples:
    """Events by their labels; an unknown one counts as normal."""
    return Examples(event_table(index, rows), (label == 1).cpu().numpy())


def _against_pseudo(index: HistoryIndex, rows: Tensor, generator: torch.Generator) -> Examples:
    """Events, and as many pseudo-anomalies made from them."""
    made = pseudo_table(index, PseudoAnomalies(index, rows).draw(rows, generator))
    anomalous = np.repeat([False, True], [len(rows), len(made)])
    return Examples(np.concatenate([event_table(index, rows), made]), anomalous)


def _contrast(task: Task, generator: torch.Generator) -> Examples:
    """Training normals against pseudo-anomalies and the few real ones, each of which counts many times."""
    real = task.train_label == 1
    examples = _against_pseudo(task.index, task.train[~real], generator)
    few = event_table(task.index, task.train[real])
    # copies, because weights make scikit-learn's binning slow
    copies = np.repeat(few, max(1, int((~real).sum()) // max(1, len(few))), axis=0)
    return Examples(
        np.concatenate([examples.table, copies]), np.append(examples.anomalous, np.ones(len(copies), bool))
    )


def _judge(task: Task, few: bool, generator: torch.Generator) -> Examples | None:
    """What the number of trees is chosen on: validation by its labels, or against pseudo-anomalies where the
    trees learn from such; a classifier without both classes in validation has no judge."""
    if task.val_has_both_classes:
        return _labelled(task.index, task.val, task.val_label)
    return _against_pseudo(task.index, task.val, generator) if few else None


def _first(trees: BoostedTrees, count: int) -> BoostedTrees:
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
