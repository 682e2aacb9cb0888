"""Which epoch to keep: validation figures, with labels or without touching any."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.events.stream import Array
from sdgad.history.window import Window
from sdgad.metrics import auroc, average_precision, confusion, mixture


class Validation:
    """The validation part, as an epoch is judged by it.

    Where it has labels of both classes: the mixture of AUROC and AP (or the paper's F1 at 0.5). Otherwise held-out
    pseudo-anomalies against the validation events; no label is touched.
    """

    def __init__(self, reader: Reader, seed: int, most: int) -> None:
        task = reader.task
        self._reader = reader
        self._most = most
        self.rows = task.val
        self.label: Array = task.val_label.nan_to_num().cpu().numpy()
        self.labelled = task.val_has_both_classes
        if not self.labelled:
            generator = torch.Generator().manual_seed(seed)
            self._made = PseudoAnomalies(task.index, task.val).draw(task.val, generator)

    def begin(self) -> None:
        """Let a memory go through all that comes before, under the weights that are to be judged."""
        self._reader.begin_before(self.rows)

    def real(self) -> Iterator[Window]:
        """Windows of the validation events; a memory stays where it is."""
        with self._reader.trial():
            yield from self._reader.windows(self.rows, self._most)

    def made(self) -> Iterator[Window]:
        """Windows of the held-out pseudo-anomalies; a memory stays where it is."""
        with self._reader.trial():
            yield from self._reader.windows_made(self._made, self.rows, self._most)

    def by_labels(self, anomaly: Array, f1_score: Array | None = None) -> dict[str, float]:
        """Figures of scores by the labels; with `f1_score` the epoch is selected by F1 of these at 0.5."""
        both = mixture(self.label, anomaly)
        if f1_score is not None:
            f1 = confusion(self.label, f1_score, 0.5).f1 or 0.0
            return {
                "F1": f1,
                "select": f1 + 1e-3 * both,
            }  # F1 is often 0 for every epoch: the mixture breaks ties
        figures = {
            "AUROC": auroc(self.label, anomaly) or 0.0,
            "AP": average_precision(self.label, anomaly) or 0.0,
        }
        return {**figures, "select": both}

    def by_pseudo(self, anomaly: Array, made: Array) -> float:
        """AUROC of pseudo-anomalies against validation events."""
        truth = np.repeat([0.0, 1.0], [len(anomaly), len(made)])
        return auroc(truth, np.concatenate([anomaly, made])) or 0.0
