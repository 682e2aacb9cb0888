"""Rules that a practitioner would try first, as detectors: long silence, and strangers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sdgad.detectors.base import WindowDetector
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.events.stream import Array
from sdgad.history.context import NAMES
from sdgad.history.window import Window

_GAPS = [NAMES.index("log gap src"), NAMES.index("log gap dst")]
_NEW_PAIR = NAMES.index("new pair")


class Rule(WindowDetector):
    """Nothing is learned."""

    tags: ClassVar[Tags] = Tags(uses_labels=False, uses_features=False)

    def _learn(self, task: Task) -> FitScores:
        return self._score_both(task)

    def _weights(self) -> dict[str, Array]:
        return {}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        """There is nothing to restore."""


class MinGap(Rule):
    """The longer both endpoints were silent, the more anomalous: the smaller one of the two gaps."""

    name = "min-gap"

    def _score_window(self, window: Window) -> Array:
        gap = window.context[:, _GAPS].amin(1).double().cpu().numpy()
        score: Array = 1.0 / (1.0 + np.exp(-gap))
        return score


class NewPair(Rule):
    """A pair that never met is anomalous; among such, and among others, none is more so."""

    name = "new-pair"

    def _score_window(self, window: Window) -> Array:
        score: Array = 0.25 + 0.5 * window.context[:, _NEW_PAIR].double().cpu().numpy()
        return score


RULES: dict[str, type[Rule]] = {rule.name: rule for rule in (MinGap, NewPair)}
