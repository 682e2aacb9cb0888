"""Any encoder under an MLP head: the yardstick of the paper's comparison, and of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from sdgad.configuration import option
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.learned.config import LearnedConfig
from sdgad.detectors.learned.detector import LearnedModel
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.odds import OddsDetector, odds_head
from sdgad.detectors.learned.own import OwnFeatures
from sdgad.detectors.ranges import Ranges
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import encoders
from sdgad.errors import InputError
from sdgad.history.window import Window, WindowShape

PAPER: Mapping[str, Any] = {
    "context": False, "batch": 200, "order": "time", "history": 20, "head": (1024, 1024, 172), "head_dropout": 0.2,
    "epochs": 200, "patience": 10, "learning_rate": 1e-4, "weight_decay": 0.0, "average": 0.0,
}  # fmt: skip
"""The paper attaches SAD's head (1024, 1024, d, dropout 0.2 behind the last) to every encoder, on batches of 200 in
order of time, for up to 200 epochs with a patience of 10. Of its grid of learning rates (1e-3, 1e-4, 1e-5) we take DyGLib's own;
its decays (1e-1 to 1e-5) are left out, as in DyGLib. Where there is no label the paper is silent: pseudo-anomalies.
`dataset=` takes the history and the options that DyGLib found best for the encoder there."""


@dataclass(frozen=True)
class ClassifierConfig(LearnedConfig):
    """Encoder, head and training."""

    head: tuple[int, ...] = option((64,), "widths of the hidden layers of the head")

    paper: ClassVar[Mapping[str, Any]] = PAPER
    ranges: ClassVar[Ranges] = LearnedConfig.ranges

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(width < 1 for width in self.head):
            raise InputError(f"Option head={self.head} must hold widths of at least 1.")


class ClassifierModel(LearnedModel):
    """log-odds = MLP(z_src ‖ z_dst ‖ own), z of the history with the event, own features where there is context."""

    def __init__(self, config: ClassifierConfig, shape: WindowShape) -> None:
        super().__init__()
        encoder = encoders.get(config.encoder)(shape, config.encoder_config())
        own = OwnFeatures(shape, config.bins, config.hidden, config.head_dropout) if config.context else None
        self.event = EventVector(encoder, own, config.hidden, residual=False, dropout=0.0)
        self.head = odds_head(self.event.width, config.head, config.head_dropout)

    def forward(self, window: Window) -> Tensor:
        """Log-odds of an anomaly, `[B]`."""
        odds: Tensor = self.head(self.event(window)[0])
        return odds[:, 0]


@detectors.register("classifier")
class Classifier(OddsDetector):
    """Score = sigmoid(log-odds), learned by cross-entropy: on labels, few or many; where there is none, against pseudo-anomalies.

    An unknown label counts as normal. `preset="paper"` has the encoder's published sizes and the head that the paper gives to
    every encoder that it compares with.
    """

    config_type: ClassVar[type[DetectorConfig]] = ClassifierConfig
    config: ClassifierConfig
    check_options: ClassVar[dict[str, Any]] = {
        "history": 5,
        "width": 8,
        "hidden": 16,
        "head": (16,),
        "epochs": 1,
    }
    _model: ClassifierModel

    def _make_model(self, shape: WindowShape) -> ClassifierModel:
        return ClassifierModel(self.config, shape)
