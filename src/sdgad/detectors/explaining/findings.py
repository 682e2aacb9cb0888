"""Findings: scores of events, and why, as far as somebody asks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.explaining.explainer import MOST, Explainer
from sdgad.detectors.explaining.explanation import Explanation, KindOfEvidence
from sdgad.events.stream import Array

first = itemgetter(0)
REMEMBERS_NOBODY = "this detector remembers nobody, so there are no habits to compare with"


@dataclass(frozen=True, eq=False)
class Findings:
    """One score and p-value per event, NaN where it was dropped as late; `place` is that of its row in the table, −1 without one.

    What is not asked for is not worked out: explanations of a few events of many cost little more than the scores.
    """

    scores: Array
    p_values: Array
    place: Array
    rows: Table
    evidence: Sequence[tuple[str, Array, Array]]  # name, weights and nats of every kind
    explainer: Explainer | None  # None: the detector remembers nobody

    def explanations(self, rows: Sequence[int] | Array | None = None, most: int = MOST) -> list[Explanation]:
        """Of some events of the stream, by number, or of all; at most so many residuals each."""
        asked = np.arange(len(self.scores)) if rows is None else np.asarray(rows, np.int64)
        scores, p_values = self.scores[asked].tolist(), self.p_values[asked].tolist()
        found = [
            Explanation(score, p, note="" if self.explainer or math.isnan(score) else REMEMBERS_NOBODY)
            for score, p in zip(scores, p_values, strict=True)
        ]
        known = np.flatnonzero(self.place[asked] >= 0)
        if self.explainer is None or not len(known):
            return found
        places = self.place[asked[known]]
        residuals = self.explainer.residuals(self.rows[places], most)
        for at, kinds, broken in zip(known.tolist(), self._evidence(places), residuals, strict=True):
            found[at] = Explanation(scores[at], p_values[at], kinds, broken)
        return found

    def _evidence(self, places: Array) -> list[tuple[KindOfEvidence, ...]]:
        """Of every event, kinds that have a say in its score, by what they contribute; of equals by name."""
        said = sorted(self.evidence, key=first)
        if not said:
            return [()] * len(places)
        names = [name for name, _, _ in said]
        weights, nats = (np.stack([each[at][places] for each in said], 1) for at in (1, 2))
        order = np.argsort(-nats * weights, 1, kind="stable").tolist()
        return [
            tuple(KindOfEvidence(names[i], line[i], weight[i]) for i in by if weight[i] > 0)
            for by, line, weight in zip(order, nats.tolist(), weights.tolist(), strict=True)
        ]
