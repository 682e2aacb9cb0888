"""SDGAD: the detector of the paper, under the detector contract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from sdgad.calibration.score import CalibratedScore, PrintedScore, Score, score_from_json
from sdgad.detectors.base import Detector
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.device import choose_device
from sdgad.detectors.pseudo import FEW_LABELS, PseudoAnomalies
from sdgad.detectors.registry import detectors
from sdgad.detectors.sdgad.config import SDGADConfig, configure
from sdgad.detectors.sdgad.model import Evidence, Join, SDGADModel
from sdgad.detectors.sdgad.selection import JOINS, UNLABELLED, Selection
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.training import Record, Schedule, train
from sdgad.events.stream import Array
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window, WindowShape
from sdgad.metrics import best_f1_threshold, mixture

SCALE_SAMPLE = 20_000  # training and validation events, without their labels, for bin edges and whitening
PSEUDO_WEIGHT = 0.2  # the say of one of them beside that of a normal event
FEW_WEIGHT = 0.1  # the say of all the few labelled anomalies together, as a share of the batch
F1_SLACK = 0.1  # the boundary finds as much as it can within 10% of the best validation F1
NARROWEST = 0.02  # ℓ_hi − B, as a share of the size of ℓ
HIGH = 0.95  # ℓ_hi is this quantile of training normals


@detectors.register("sdgad")
class SDGAD(Detector):
    """Scores events by the density of their residual representation, between learned boundaries.

    >>> det = SDGAD(encoder="tcl", history=20, seed=0).fit(train, val=val)
    >>> det.decision_function(test)

    Learns with no labels (pseudo-anomalies stand in), a few, or many. The score is 0.5 at the learned boundary.
    """

    config_type: ClassVar[type[DetectorConfig]] = SDGADConfig
    config: SDGADConfig

    @classmethod
    def configure(cls, options: dict[str, Any]) -> SDGADConfig:
        return configure(options)

    score_rows: ClassVar[int] = 2048

    @property
    def uses_context(self) -> bool:
        return self.config.context

    @property
    def history_length(self) -> int:
        return self.config.history

    # ------------------------------------------------------------------ learn
    def _learn(self, task: Task, *, epochs: int | None, progress: bool) -> FitScores:
        with torch.random.fork_rng([task.index.device] if task.index.device.type == "cuda" else []):
            torch.manual_seed(self.config.seed)
            return self._train(task, epochs, progress)

    def _train(self, task: Task, epochs: int | None, progress: bool) -> FitScores:
        config = self.config
        self._generator = torch.Generator().manual_seed(config.seed)
        index = task.index
        self._model = SDGADModel(config, index.shape(config.history)).to(index.device)
        seen = torch.cat([task.train, task.val])
        some = seen[:: max(1, len(seen) // SCALE_SAMPLE)]
        self._model.fit_scales(
            index.stored_context(task.train), index.msg(task.train), index.rows(some, config.history)
        )

        label = task.train_label
        anomalies = task.train[label == 1]
        few = len(anomalies) < FEW_LABELS
        pseudo = PseudoAnomalies(index, task.train[label != 1]) if config.pseudo and few else None
        steps = -(-len(task.train) // config.batch)
        wanted, fewest = (80, 1) if pseudo is not None else (600, 8)
        limit = epochs or config.epochs or max(fewest, -(-wanted // steps))
        judge = Selection(self._evidence, self._evidence_of, self._model, task)
        schedule = Schedule(
            limit, config.patience, config.learning_rate, config.weight_decay, average=config.average
        )
        self.record_: Record = train(
            self._model,
            schedule,
            lambda _: self._batches(task.train),
            steps,
            lambda rows: self._losses(task, rows, anomalies if few else anomalies[:0], pseudo),
            judge,
            clip_apart=[self._model.project, self._model.density],
            progress=progress,
        )
        return self._calibrate(task)

    def _batches(self, rows: Tensor) -> Iterator[Tensor]:
        if self.config.order == "shuffled":
            rows = rows[torch.randperm(len(rows), generator=self._generator).to(rows.device)]
        return iter(torch.split(rows, self.config.batch))

    def _losses(
        self, task: Task, rows: Tensor, always: Tensor, pseudo: PseudoAnomalies | None
    ) -> dict[str, Tensor]:
        """Loss parts of one batch: its events, the few labelled anomalies, and pseudo-anomalies."""
        if len(always):
            rows = torch.cat([rows[(rows[:, None] != always).all(1)], always])
        window = task.index.rows(rows, self.config.history)
        anomalous = task.label[rows] == 1
        weight = torch.ones(len(rows), device=rows.device)
        if len(always):
            weight = torch.where(anomalous, FEW_WEIGHT * len(rows) / len(always), weight)
        if pseudo is not None:
            made = pseudo.draw(rows[: len(rows) - len(always) : 2], self._generator)
            window = window.joined(task.index.window(made.query, self.config.history, made.msg))
            anomalous = torch.cat([anomalous, torch.ones(len(made), dtype=torch.bool, device=rows.device)])
            weight = torch.cat([weight, torch.full((len(made),), PSEUDO_WEIGHT, device=rows.device)])
        return self._model.losses(window, anomalous, weight)

    # ------------------------------------------------------------------ calibrate
    @torch.no_grad()
    def _calibrate(self, task: Task) -> FitScores:
        """Spread of normal ℓ, the weight of surprise, and the boundary of the score; training and validation only."""
        model = self._model
        train_evidence = self._evidence(task.index, task.train)
        normal = task.train_label != 1
        model.fit_units(train_evidence.take(normal))
        val_evidence = self._evidence(task.index, task.val)
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
    def _evidence(self, index: HistoryIndex, rows: Tensor) -> Evidence:
        windows = (index.rows(part, self.config.history) for part in torch.split(rows, self.score_rows))
        return self._evidence_of(windows)

    @torch.no_grad()
    def _evidence_of(self, windows: Iterator[Window]) -> Evidence:
        if self._model.training:  # to say so costs a tenth of scoring one event
            self._model.eval()
        parts = [self._model.evidence(window) for window in windows]
        ell = torch.cat([part.ell for part in parts])
        odds = None if self._model.known is None else torch.cat([p.odds for p in parts if p.odds is not None])
        return Evidence(ell, odds)

    def _joined_ell(self, evidence: Evidence, join: Join) -> Array:
        joined: Array = self._model.join(evidence, join).cpu().numpy()
        return joined

    def _score_window(self, window: Window) -> Array:
        return self._score_map(self._joined_ell(self._evidence_of(iter([window])), self._join))

    # ------------------------------------------------------------------ files
    def _weights(self) -> dict[str, Array]:
        return {name: value.detach().cpu().numpy() for name, value in self._model.state_dict().items()}

    def _calibration(self) -> dict[str, Any]:
        shape = self._model.event.encoder.shape
        return {
            "score": self._score_map.to_json(),
            "join": asdict(self._join),
            "shape": asdict(shape),
        }

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        self._model = SDGADModel(self.config, WindowShape(**calibration["shape"]))
        self._model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        self._model.to(choose_device(self.config.device)).eval()
        self._join = Join(**calibration["join"])
        self._score_map = score_from_json(calibration["score"])
