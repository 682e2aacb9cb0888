"""SAD, semi-supervised anomaly detection on dynamic graphs (Tian et al., IJCAI 2023)."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from sdgad.detectors.baselines.sad.config import SADConfig
from sdgad.detectors.baselines.sad.model import SADModel
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.learned.examples import Examples
from sdgad.detectors.learned.odds import OddsDetector
from sdgad.detectors.registry import detectors
from sdgad.detectors.task import Task
from sdgad.history.window import WindowShape


@detectors.register("sad")
class SAD(OddsDetector):
    """Score = sigmoid(log-odds) of a classifier on two-hop temporal subgraphs, learned with a deviation network and contrast.

    Loss = cross-entropy + 0.1 · deviation + 0.005 · contrast: a deviation network's scores lie near those of the normal and
    unlabelled events in a memory bank, those of anomalies 5 standard deviations above them; events that deviate alike get
    vectors alike. An event whose label is unknown has no say in the first two where training has labelled normal ones, but
    has in bank and contrast; where it has none, unknown counts as normal. Without any labelled anomaly pseudo-anomalies
    are y = 1.

    What differs from the published method: the subgraphs of both endpoints are encoded, not the source's alone, and the
    current event is part of them; time counts in events strictly before; `context` puts context features beside edge
    features and the event's own numbers beside the vectors (`preset="paper"` has the published sizes and none of these);
    the best epoch on validation is kept.
    """

    config_type: ClassVar[type[DetectorConfig]] = SADConfig
    shorthand_type: ClassVar[type[Any] | None] = None
    config: SADConfig
    check_options: ClassVar[dict[str, Any]] = {
        "history": 5,
        "hop": 3,
        "reach": 100,
        "width": 8,
        "time_width": 8,
        "hidden": 16,
        "head": (16,),
        "bank": 64,
        "epochs": 1,
    }
    _model: SADModel
    _needs_known: bool

    def _make_model(self, shape: WindowShape) -> SADModel:
        return SADModel(self.config, shape)

    def _start(self, task: Task) -> None:
        super()._start(task)
        self._needs_known = bool((task.train_label == 0).any())

    def _losses(self, examples: Examples) -> dict[str, Tensor]:
        weight = examples.weight * examples.known if self._needs_known else examples.weight
        return self._model.losses(examples.window, examples.anomalous, weight)
