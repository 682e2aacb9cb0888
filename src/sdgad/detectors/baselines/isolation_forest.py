"""Isolation forest on context, edge features and habit residuals: what is easy to set apart is anomalous; no label is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sdgad.configuration import option
from sdgad.detectors.baselines.table_detector import TableConfig, TableDetector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.registry import detectors
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.trees import IsolationTrees
from sdgad.errors import InputError
from sdgad.events.stream import Array
from sdgad.history.window import Window


@dataclass(frozen=True)
class IsolationForestConfig(TableConfig):
    """The forest's size: `trees`, each grown on `samples` training events (or on all, if there are fewer)."""

    trees: int = option(200, "trees in the forest")
    samples: int = option(256, "ψ, training events that a tree is grown on")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, low in {"trees": 1, "samples": 2}.items():
            if getattr(self, name) < low:
                raise InputError(f"Option {name}={getattr(self, name)} must be at least {low}.")


@detectors.register("isolation-forest")
class IsolationForestDetector(TableDetector):
    """Score 2^(−E[h] / c(ψ)) (Liu, Ting, Zhou 2008): h counts the random cuts that isolate an event."""

    config_type: ClassVar[type[DetectorConfig]] = IsolationForestConfig
    config: IsolationForestConfig
    tags: ClassVar[Tags] = Tags(uses_labels=False)
    check_options: ClassVar[Mapping[str, Any]] = {"trees": 40}

    def _learn(self, task: Task) -> FitScores:
        """Grow all trees at once: there are no epochs."""
        from sklearn.ensemble import IsolationForest

        samples = min(self.config.samples, len(task.train))
        forest = IsolationForest(
            n_estimators=self.config.trees, max_samples=samples, random_state=self.config.seed
        )
        rows = self.table.for_densities(self.table.rows(task.index, task.train))
        self._trees = IsolationTrees.from_sklearn(forest.fit(rows))
        return self._score_both(task)

    def _score_window(self, window: Window) -> Array:
        return self._trees.raw_score(self.table.for_densities(self._rows(window)), self.table.device)

    def _weights(self) -> dict[str, Array]:
        return self._trees.arrays()

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:  # noqa: ARG002
        columns = self.table.for_densities(self.table.nothing).shape[1]
        self._trees = IsolationTrees.from_arrays(weights).need_for(columns)
