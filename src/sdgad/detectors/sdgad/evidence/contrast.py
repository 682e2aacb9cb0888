"""Contrast: how much unlike real events, as trees tell them from pseudo-anomalies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch

from sdgad.detectors.event_table import Table
from sdgad.detectors.growing import grow
from sdgad.detectors.row_maker import RowMaker, thinned
from sdgad.detectors.sdgad.evidence.base import MANY, Group, Lesson, kinds
from sdgad.detectors.sdgad.evidence.boosted_kind import BoostedKind
from sdgad.detectors.sdgad.evidence.sight import JUDGED, sight, trust
from sdgad.events.held import held
from sdgad.events.stream import Array

SHARES = np.array([0.5, 0.75])  # of the surprise, and of the odds
SURPRISE_ALONE = np.array([1.0, 0.0])  # in folders that do not say it
REAL = 3.0  # minus the log-odds below which an event is real beyond doubt
MOST_SHARE = 10.0


@kinds.register("contrast")
class Contrast(BoostedKind):
    """Log-odds o of boosted trees, training events against one pseudo-anomaly each.

    What counts of them is ½ n + ¾ log(1 + e^{o + 3}), n being the surprise as of any kind: how rare such odds are, and what they
    say. Of the rank alone nobody can tell whether the trees see well. Where they do, many anomalies share few nats, since they
    made such odds usual themselves; where they do not, the rarest of doubts has as many nats as a certainty elsewhere. Odds
    below −3 say that an event is real, and there is no telling them apart.

    All of it counts only as far as the trees tell later pseudo-anomalies, which they have not seen, from real events (`trust`):
    where anybody meets anybody, nothing can be told from real events by what it is not.
    """

    group: ClassVar[Group] = "contrast"
    _shares: Array  # of the two

    def columns(self, rows: Table) -> Table:
        return self.table.for_contrast(rows)

    def fit(self, lesson: Lesson) -> None:
        task = lesson.task
        maker = RowMaker(task, self.table, lesson.generator)
        normal = task.train[torch.from_numpy(lesson.normal).to(task.train.device)]
        examples = maker.against_pseudo(normal, lesson.some_normal)
        judge = maker.against_pseudo(thinned(task.val, MANY), thinned(lesson.val, MANY))
        self._trees = grow(examples, judge, lesson.growth, lesson.seed, device=self.table.device)
        some = thinned(np.arange(len(judge.table)), JUDGED)
        odds, made = self._trees.raw_score(judge.table[some], self.table.device), judge.anomalous[some]
        self._shares = SHARES * trust(sight(odds[~made], odds[made]))

    def counted(self, raw: Array, surprise: Array) -> Array:
        rare, odd = self._shares
        found: Array = rare * surprise + odd * np.logaddexp(0.0, raw + REAL)
        return found

    def arrays(self) -> dict[str, Array]:
        return {**super().arrays(), "shares": self._shares}

    def load(self, arrays: Mapping[str, Array]) -> None:
        trees = {name: array for name, array in arrays.items() if name != "shares"}
        super().load(trees)
        self._shares = SURPRISE_ALONE
        if "shares" in arrays:
            self._shares = held(arrays, "shares", "f8", (2,), low=0, high=MOST_SHARE)
