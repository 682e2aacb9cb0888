"""Histogram: events whose numbers are rare, each in its own column, are anomalous; no label is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from sdgad.calibration.score import CalibratedScore, score_from_json
from sdgad.configuration import option
from sdgad.detectors.baselines.column_steps import Column, ColumnSteps, heights, tails
from sdgad.detectors.baselines.table_detector import TableConfig, TableDetector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.registry import detectors
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.errors import InputError
from sdgad.events.stream import Array
from sdgad.history.window import Window

MOST_BINS = 10_000
RARE, USUAL = 0.99, 0.5  # quantiles of training events that the score is scaled by
NARROWEST = 1e-6  # nats between them, at least


@dataclass(frozen=True)
class HistogramConfig(TableConfig):
    """How rare a number is: by the height of its bin, or by the tail beyond it."""

    rule: Literal["hbos", "ecod"] = option(
        "hbos", "rare is what falls into an empty bin, or what lies far out"
    )
    bins: int = option(20, "bins of a column, for hbos")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.bins <= MOST_BINS:
            raise InputError(f"Option bins={self.bins} must be at least 2 and at most {MOST_BINS}.")

    @property
    def steps(self) -> Callable[[Array], Column]:
        """From a column of training events to its knots and nats."""
        rules: Mapping[str, Callable[[Array], Column]] = {
            "hbos": partial(heights, bins=self.bins),
            "ecod": tails,
        }
        return rules[self.rule]


@detectors.register("histogram")
class Histogram(TableDetector):
    """Score = a strictly rising function of r = Σ over columns of −log(height or tail), by training events alone.

    `rule="hbos"`: the height of the event's bin, the fullest bin of each column being 1 (Goldstein and Dengel 2012).
    `rule="ecod"`: the empirical tail on the rarer side (Li et al. 2022, who sum the sides apart and take the largest sum; here
    each column takes its own side). Both have one pseudo-count. The score is 0.5 where r reaches the 99th percentile of training
    events: sigmoid(asinh((r − r_99) / (r_99 − r_50))).
    """

    config_type: ClassVar[type[DetectorConfig]] = HistogramConfig
    config: HistogramConfig
    tags: ClassVar[Tags] = Tags(uses_labels=False)

    def _learn(self, task: Task) -> FitScores:
        """Count once: there are no epochs."""
        rows = self.table.for_densities(self.table.rows(task.index, task.train))
        self._steps = ColumnSteps.fit(rows, self.config.steps)
        usual, rare = np.quantile(self._steps(rows), [USUAL, RARE]).tolist()
        self._map = CalibratedScore(-rare, max(-usual, NARROWEST - rare))
        return self._score_both(task)

    def _score_window(self, window: Window) -> Array:
        return self._map(-self._steps(self.table.for_densities(self._rows(window))))

    # ------------------------------------------------------------------ files
    def _weights(self) -> dict[str, Array]:
        return self._steps.arrays()

    def _calibration(self) -> dict[str, Any]:
        return {**super()._calibration(), "score": self._map.to_json()}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        columns = self.table.for_densities(self.table.nothing).shape[1]
        self._steps = ColumnSteps.from_arrays(weights, columns)
        found = score_from_json(calibration["score"])
        if not isinstance(found, CalibratedScore):
            raise InputError("The score of a histogram is a calibrated one.")
        self._map = found
