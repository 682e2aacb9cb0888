"""Which epoch to keep: validation figures, with labels or without touching any."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from sdgad.calibration.score import PrintedScore
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.detectors.sdgad.model import Evidence, Join, SDGADModel
from sdgad.detectors.task import Task
from sdgad.events.stream import Array
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window
from sdgad.metrics import auroc, average_precision, confusion, mixture

JOINS = (
    *(Join("odds", weight) for weight in (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)),
    *(Join("density", weight) for weight in (0.0, 1.0)),
)
LABELLED = Join("odds", 1.0)  # while training; the final one is chosen on validation
UNLABELLED = Join("density", 1.0)
CHUNK = 2048


class Selection:
    """Figures of an epoch; the highest `select` wins.

    Where validation has labels of both classes: the mixture of AUROC and AP (or the paper's F1 at 0.5). Otherwise held-out
    pseudo-anomalies against the validation events, and the likelihood of those; no label is touched.
    """

    def __init__(
        self,
        evidence: Callable[[HistoryIndex, Tensor], Evidence],
        evidence_of: Callable[[Iterator[Window]], Evidence],
        model: SDGADModel,
        task: Task,
    ) -> None:
        self.evidence = evidence
        self.evidence_of = evidence_of
        self.model = model
        self.task = task
        self.label: Array = task.val_label.nan_to_num().cpu().numpy()
        self.labelled = task.val_has_both_classes
        if not self.labelled:
            generator = torch.Generator().manual_seed(model.config.seed)
            self.made = PseudoAnomalies(task.index, task.val).draw(task.val, generator)

    def __call__(self) -> dict[str, float]:
        running = self.model.boundary.normal.clone()  # training goes on with its own estimate
        try:
            return self._figures()
        finally:
            self.model.boundary.normal.copy_(running)

    def _figures(self) -> dict[str, float]:
        real = self.evidence(self.task.index, self.task.val)
        self.model.fit_units(real)
        anomaly = self._anomaly(real)
        if self.labelled:
            return self._with_labels(anomaly)
        fake = self._anomaly(self.evidence_of(self._made_windows()))
        truth = np.repeat([0.0, 1.0], [len(anomaly), len(fake)])
        value = auroc(truth, np.concatenate([anomaly, fake])) or 0.0
        likelihood = float(real.ell.mean())
        return {"pseudo AUROC": value, "log-likelihood": likelihood, "select": value + 0.01 * likelihood}

    def _with_labels(self, anomaly: Array) -> dict[str, float]:
        both = mixture(self.label, anomaly)
        if self.model.config.select == "f1":
            f1 = confusion(self.label, PrintedScore()(-anomaly), 0.5).f1 or 0.0
            return {
                "F1": f1,
                "select": f1 + 1e-3 * both,
            }  # F1 is often 0 for every epoch: the mixture breaks ties
        figures = {
            "AUROC": auroc(self.label, anomaly) or 0.0,
            "AP": average_precision(self.label, anomaly) or 0.0,
        }
        return {**figures, "select": both}

    def _anomaly(self, evidence: Evidence) -> Array:
        negative: Array = -self.model.join(evidence, LABELLED if self.labelled else UNLABELLED).cpu().numpy()
        return negative

    def _made_windows(self) -> Iterator[Window]:
        history, index = self.model.config.history, self.task.index
        for rows in torch.split(torch.arange(len(self.made), device=index.device), CHUNK):
            yield index.window(self.made.query.take(rows), history, self.made.msg[rows])
