"""Any encoder under an MLP head: the yardstick of the paper's comparison, and of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.configuration import option
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.learned.config import LearnedConfig, Ranges
from sdgad.detectors.learned.detector import LearnedDetector, LearnedModel
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.examples import Examples
from sdgad.detectors.learned.own import OwnFeatures
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.precision import ExactLinear
from sdgad.detectors.registry import detectors
from sdgad.detectors.task import FitScores, Task
from sdgad.encoders.base import encoders
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.errors import InputError
from sdgad.events.stream import Array
from sdgad.history.window import Window, WindowShape

LOWEST, HIGHEST = -700.0, 36.0  # log-odds beyond which the float64 sigmoid is 0 or 1

PAPER: Mapping[str, Any] = {
    "context": False, "batch": 200, "order": "time", "history": 20, "head": (1024, 1024, 172), "head_dropout": 0.2,
    "epochs": 100, "patience": 20, "learning_rate": 1e-4, "weight_decay": 0.0, "average": 0.0,
}  # fmt: skip
"""The paper attaches SAD's head (1024, 1024, d, dropout 0.2 behind the last) to every encoder, on batches of 200 in
order of time; rates
and patience are DyGLib's defaults, since it names none for them. Where there is no label the paper is silent:
pseudo-anomalies."""


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
        layers: list[nn.Module] = []
        width = self.event.width
        for hidden in config.head:
            layers += [Linear(width, hidden), nn.ReLU()]
            width = hidden
        self.head = nn.Sequential(*layers, Dropout(config.head_dropout), ExactLinear(width, 1))

    def forward(self, window: Window) -> Tensor:
        """Log-odds of an anomaly, `[B]`."""
        odds: Tensor = self.head(self.event(window)[0])
        return odds[:, 0]


@detectors.register("classifier")
class Classifier(LearnedDetector):
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
    pseudo_below: ClassVar[int] = 1  # labelled anomalies: one suffices to do without pseudo-anomalies
    _model: ClassifierModel

    def _make_model(self, shape: WindowShape) -> ClassifierModel:
        return ClassifierModel(self.config, shape)

    def _losses(self, examples: Examples) -> dict[str, Tensor]:
        anomalous = examples.anomalous.to(examples.weight.dtype)
        cost = F.binary_cross_entropy_with_logits(self._model(examples.window), anomalous, reduction="none")
        return {"cross-entropy": (cost * examples.weight).sum() / examples.weight.sum()}

    def _judge(self, validation: Validation) -> Callable[[], dict[str, float]]:
        def figures() -> dict[str, float]:
            validation.begin()
            odds = self._odds(validation.real())
            if validation.labelled:
                return validation.by_labels(odds, _sigmoid(odds) if self.config.select == "f1" else None)
            value = validation.by_pseudo(odds, self._odds(validation.made()))
            return {"pseudo AUROC": value, "select": value}

        return figures

    def _finish(self, task: Task, reader: Reader) -> FitScores:
        reader.begin_before(task.train)
        train, val = (
            _sigmoid(self._odds(reader.windows(rows, self.score_rows))) for rows in (task.train, task.val)
        )
        return train, val

    @torch.no_grad()
    def _odds(self, windows: Iterable[Window]) -> Array:
        model: ClassifierModel = self._in_eval()
        with self._scoring():
            parts = [model(window) for window in windows]
        odds: Array = torch.cat(parts).double().cpu().numpy()
        return odds

    def _score_windows(self, windows: Iterable[Window]) -> Array:
        return _sigmoid(self._odds(windows))


def _sigmoid(odds: Array) -> Array:
    """In float64, strictly inside (0, 1)."""
    score: Array = 1.0 / (1.0 + np.exp(-np.clip(odds, LOWEST, HIGHEST)))
    return score
