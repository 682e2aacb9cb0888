"""SDGAD: the detector of the paper, under the detector contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sdgad.calibration.score import CalibratedScore, PrintedScore, Score, score_from_json
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.detectors.learned.examples import Examples
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.registry import detectors
from sdgad.detectors.sdgad.config import SDGADConfig
from sdgad.detectors.sdgad.model import Evidence, Join, SDGADModel
from sdgad.detectors.sdgad.selection import JOINS, UNLABELLED, Selection
from sdgad.detectors.task import FitScores, Task
from sdgad.events.stream import Array
from sdgad.history.window import Window, WindowShape
from sdgad.metrics import best_f1_threshold, mixture

F1_SLACK = 0.1  # the boundary finds as much as it can within 10% of the best validation F1
NARROWEST = 0.02  # ℓ_hi − B, as a share of the size of ℓ
HIGH = 0.95  # ℓ_hi is this quantile of training normals


@detectors.register("sdgad")
class SDGAD(LearnedDetector):
    """Scores events by the density of their residual representation, between learned boundaries.

    >>> import sdgad
    >>> train, val, test = sdgad.simulate_payments(600, seed=0).split()
    >>> det = sdgad.SDGAD(encoder="tcl", history=5, seed=0).fit(train, val=val, epochs=1)
    >>> det.decision_function(test).shape
    (240,)

    Learns with no labels (pseudo-anomalies stand in), a few, or many. The score is 0.5 at the learned boundary.
    """

    config_type: ClassVar[type[DetectorConfig]] = SDGADConfig
    config: SDGADConfig
    check_options: ClassVar[dict[str, Any]] = {
        "history": 5,
        "width": 8,
        "projection": 8,
        "hidden": 16,
        "epochs": 1,
    }
    _model: SDGADModel

    # ------------------------------------------------------------------ learn
    def _make_model(self, shape: WindowShape) -> SDGADModel:
        return SDGADModel(self.config, shape)

    def _losses(self, examples: Examples) -> dict[str, Tensor]:
        return self._model.losses(examples.window, examples.anomalous, examples.weight)

    def _judge(self, validation: Validation) -> Callable[[], dict[str, float]]:
        return Selection(self._evidence, self._model, validation)

    def _clipped_apart(self) -> Sequence[nn.Module]:
        return [self._model.project, self._model.density]

    # ------------------------------------------------------------------ calibrate
    @torch.no_grad()
    def _finish(self, task: Task, reader: Reader) -> FitScores:
        """Spread of normal ℓ, the weight of surprise, and the boundary of the score; training and validation only."""
        model = self._model
        reader.begin_before(task.train)
        train_evidence = self._evidence(reader.windows(task.train, self.score_rows))
        normal = task.train_label != 1
        model.fit_units(train_evidence.take(normal))
        val_evidence = self._evidence(reader.windows(task.val, self.score_rows))
        label = task.val_label.nan_to_num().cpu().numpy()
        both = task.val_has_both_classes
        self._join = UNLABELLED
        if both and model.known is not None:
            self._join = max(JOINS, key=lambda join: mixture(label, -self._joined_ell(val_evidence, join)))
        train_ell = self._joined_ell(train_evidence, self._join)
        val_ell = self._joined_ell(val_evidence, self._join)
        ell = train_ell[normal.cpu().numpy()]
        boundary = float(np.quantile(ell, self.config.alpha))
        if both:
            boundary = -(best_f1_threshold(label, -val_ell, slack=F1_SLACK) or 0.0)
        self._score_map: Score
        if self.config.score == "printed":
            self._score_map = PrintedScore()
        else:
            # a boundary above nearly all normals would leave no width to scale by, and a model that knows of no
            # difference none but rounding, which depends on the batch
            width = max(0.01 * float(ell.std()), NARROWEST * (1 + abs(boundary)))
            high = max(float(np.quantile(ell, HIGH)), boundary + width)
            self._score_map = CalibratedScore(boundary=boundary, high=high)
        return self._score_map(train_ell), self._score_map(val_ell)

    # ------------------------------------------------------------------ score
    @torch.no_grad()
    def _evidence(self, windows: Iterable[Window]) -> Evidence:
        model: SDGADModel = self._in_eval()
        with self._scoring():
            parts = [model.evidence(window) for window in windows]
        ell = torch.cat([part.ell for part in parts])
        odds = None if model.known is None else torch.cat([p.odds for p in parts if p.odds is not None])
        return Evidence(ell, odds)

    def _joined_ell(self, evidence: Evidence, join: Join) -> Array:
        joined: Array = self._model.join(evidence, join).cpu().numpy()
        return joined

    def _score_windows(self, windows: Iterable[Window]) -> Array:
        return self._score_map(self._joined_ell(self._evidence(windows), self._join))

    # ------------------------------------------------------------------ files
    def _calibration(self) -> dict[str, Any]:
        return {
            **super()._calibration(),
            "score": self._score_map.to_json(),
            "join": asdict(self._join),
        }

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        super()._restore(weights, calibration)
        self._join = Join(**calibration["join"])
        self._score_map = score_from_json(calibration["score"])
