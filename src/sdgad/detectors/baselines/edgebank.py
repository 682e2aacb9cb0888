"""EdgeBank: who has met before is normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sdgad.configuration import option
from sdgad.detectors.base import WindowDetector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.registry import detectors
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.events.held import held
from sdgad.events.stream import Array
from sdgad.history.context import NAMES
from sdgad.history.window import Window

NEW, GAP = NAMES.index("new pair"), NAMES.index("log gap pair")
SLACK = 2e-6  # of a logarithm of seconds, which a Window holds in float32: what is just as old as the window is in it
NORMAL, ANOMALOUS = 0.25, 0.75


@dataclass(frozen=True)
class EdgeBankConfig(DetectorConfig):
    """How long a meeting is remembered."""

    memory: Literal["ever", "window"] = option(
        "ever", "a pair is remembered for ever, or for as long as the validation part lasts"
    )


@detectors.register("edgebank")
class EdgeBank(WindowDetector):
    """0.25 where the two endpoints have met before, in either direction, else 0.75 (Poursafaei et al. 2022).

    `memory="window"`: where they have met within the time that the validation part spans, to two parts in a million. The
    published code remembers directed edges; of whom a node has met, direction says little, and a Window knows the gap of a pair
    in either direction. Nothing else is remembered than what every history holds, so it is a function of the Window.
    """

    config_type: ClassVar[type[DetectorConfig]] = EdgeBankConfig
    config: EdgeBankConfig
    tags: ClassVar[Tags] = Tags(two_values=True, uses_labels=False, uses_features=False)

    def _learn(self, task: Task) -> FitScores:
        """The length of the window is all there is to learn."""
        t = task.log.t
        span = float(t[-1] - t[task.middle]) * task.border.clock.seconds
        self._reach = np.array(np.inf if self.config.memory == "ever" else np.log1p(span) + SLACK)
        return self._score_both(task)

    def _score_window(self, window: Window) -> Array:
        context = window.context.double().cpu().numpy()
        known = (context[:, NEW] == 0) & (context[:, GAP] <= self._reach)
        score: Array = np.where(known, NORMAL, ANOMALOUS)
        return score

    def _weights(self) -> dict[str, Array]:
        return {"reach": self._reach}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:  # noqa: ARG002
        self._reach = held(weights, "reach", "f8", (), low=0, high=np.inf)
