"""OddsDetector: a network says the log-odds of an anomaly, and the score is their sigmoid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.detectors.learned.detector import LearnedDetector, LearnedModel
from sdgad.detectors.learned.examples import Examples
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.precision import ExactLinear
from sdgad.detectors.task import FitScores, Task
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.events.stream import Array
from sdgad.history.window import Window

LOWEST, HIGHEST = -700.0, 36.0  # log-odds beyond which the float64 sigmoid is 0 or 1


class OddsDetector(LearnedDetector):
    """Score = sigmoid(log-odds), the network being a function of Windows to log-odds, `[B]`.

    It learns by cross-entropy: on labels, few or many; where there is none, against pseudo-anomalies. An unknown label counts
    as normal. An epoch is judged by labels where validation has both classes, else by held-out pseudo-anomalies.
    """

    pseudo_below: ClassVar[int] = 1  # labelled anomalies: one suffices to do without pseudo-anomalies
    _model: LearnedModel

    def _losses(self, examples: Examples) -> dict[str, Tensor]:
        return {
            "cross-entropy": cross_entropy(self._model(examples.window), examples.anomalous, examples.weight)
        }

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
        model: Callable[[Window], Tensor] = self._in_eval()
        with self._scoring():
            parts = [model(window) for window in windows]
        odds: Array = torch.cat(parts).double().cpu().numpy()
        return odds

    def _score_windows(self, windows: Iterable[Window]) -> Array:
        return _sigmoid(self._odds(windows))


def odds_head(width: int, hidden: Sequence[int], dropout: float) -> nn.Sequential:
    """MLP to one number: ReLU behind every hidden layer, dropout behind the last."""
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [Linear(width, size), nn.ReLU()]
        width = size
    return nn.Sequential(*layers, Dropout(dropout), ExactLinear(width, 1))


def cross_entropy(odds: Tensor, anomalous: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean over events; 0 where none has a say."""
    cost = F.binary_cross_entropy_with_logits(odds, anomalous.to(weight.dtype), reduction="none")
    return (cost * weight).sum() / weight.sum().clamp_min(1e-9)


def _sigmoid(odds: Array) -> Array:
    """In float64, strictly inside (0, 1)."""
    score: Array = 1.0 / (1.0 + np.exp(-np.clip(odds, LOWEST, HIGHEST)))
    return score
