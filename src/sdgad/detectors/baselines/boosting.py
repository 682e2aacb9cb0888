"""Gradient boosting on context features, edge features and habit residuals: the yardstick that a deep detector has to beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from sdgad.configuration import option
from sdgad.detectors.baselines.table_detector import TableConfig, TableDetector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.event_table import SEQUELS_TOLD
from sdgad.detectors.explaining.explainer import Say
from sdgad.detectors.growing import Growth, grow
from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.registry import detectors
from sdgad.detectors.row_maker import RowMaker
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.trees import BoostedTrees
from sdgad.errors import InputError
from sdgad.events.stream import Array
from sdgad.history.needs import Needs
from sdgad.history.window import Window

LOWEST, HIGHEST = -700.0, 36.0  # log-odds beyond which the float64 sigmoid is 0 or 1


@dataclass(frozen=True)
class BoostingConfig(TableConfig):
    """Small trees, a third of the columns at each split: streams drift, and large trees learn dates."""

    sequels: bool = option(True, "with labels, how soon those went on whom the source met lately")
    learning_rate: float = option(0.05, "the say of one tree")
    max_iter: int = option(400, "most trees; validation chooses how many of them are kept")
    leaves: int = option(8, "most leaves of a tree")
    min_leaf: int = option(50, "fewest events in a leaf, or a hundredth of all events if that is less")
    l2: float = option(3.0, "shrinks the values of leaves, those with few events most")
    columns: float = option(0.3, "share of the columns that a split may choose from")

    before: ClassVar[Mapping[str, Any]] = {**TableConfig.before, "sequels": False}

    def __post_init__(self) -> None:
        super().__post_init__()
        least = {"max_iter": 1, "leaves": 2, "min_leaf": 1, "l2": 0}
        for name, low in least.items():
            if not getattr(self, name) >= low:
                raise InputError(f"Option {name}={getattr(self, name)} must be at least {low}.")
        for name in ("learning_rate", "columns"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"Option {name}={getattr(self, name)} must be above 0 and at most 1.")

    def growth(self, most: int | None) -> Growth:
        return Growth(
            self.learning_rate, most or self.max_iter, self.leaves, self.min_leaf, self.l2, self.columns
        )


@detectors.register("boosting")
class Boosting(TableDetector):
    """Score = sigmoid(log-odds), log-odds = baseline + Σ trees, by scikit-learn's histogram boosting.

    With labels it is a classifier (an unknown label counts as normal). Without, it tells training events
    from pseudo-anomalies, one each; a few labelled anomalies join these and together count as much.
    Validation chooses the number of trees by the mean of AUROC and AP: on its labels, or else against
    pseudo-anomalies of its own.
    """

    config_type: ClassVar[type[DetectorConfig]] = BoostingConfig
    config: BoostingConfig
    check_options: ClassVar[Mapping[str, Any]] = {"max_iter": 30}

    @property
    def sequels_length(self) -> int:  # type: ignore[override]
        return min(SEQUELS_TOLD, self.history_length) if self.config.sequels else 0

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        return Needs(sequels=self.sequels_length)

    # ------------------------------------------------------------------ learn
    def _learn(self, task: Task) -> FitScores:
        """An epoch is one tree."""
        generator = torch.Generator().manual_seed(self.config.seed)
        few = int((task.train_label == 1).sum()) < FEW_LABELS
        maker = RowMaker(task, self.table, generator)
        examples = maker.contrast() if few else maker.labelled(task.train, task.train_label)
        growth = self.config.growth(task.epochs)
        self._trees = grow(examples, maker.judge(few), growth, self.config.seed, device=self.table.device)
        return self._score_both(task)

    # ------------------------------------------------------------------ score
    def _score_window(self, window: Window) -> Array:
        seen = int(self._trees.columns)  # against pseudo-anomalies trees see all but the last, the sequels
        odds = self._trees.raw_score(self._rows(window)[:, :seen], self.table.device)
        score: Array = 1.0 / (1.0 + np.exp(-np.clip(odds, LOWEST, HIGHEST)))
        return score

    def _boosted(self) -> Say:
        return {"boosting": (self._trees, 1.0)}

    # ------------------------------------------------------------------ files
    def _weights(self) -> dict[str, Array]:
        return self._trees.arrays()

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:  # noqa: ARG002
        trees, rows = BoostedTrees.from_arrays(weights), self.table.nothing
        contrast = self.table.for_contrast(rows)
        self._trees = trees.need_for((contrast if trees.columns == contrast.shape[1] else rows).shape[1])
