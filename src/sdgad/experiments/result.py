"""Result: what one detector's scores of one test part were worth."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sdgad.events.stream import Array
from sdgad.experiments.answers import Answers
from sdgad.metrics.confusion import confusion
from sdgad.metrics.evaluate import evaluate
from sdgad.metrics.intervals import Interval, auroc_interval, bootstrap
from sdgad.metrics.labelled import labelled
from sdgad.metrics.ranking import Ranking

RESAMPLED = ("ap", "f1", "precision", "recall", "fpr")


@dataclass(frozen=True)
class Oracle:
    """The best F1 that any threshold gives on the test part. Chosen with test labels: a ceiling, never a result."""

    f1: float
    threshold: float

    @classmethod
    def of(cls, label: Array, score: Array) -> Oracle | None:
        threshold = Ranking.of(labelled(label, score)).best_f1_threshold()
        if threshold is None:
            return None
        return cls(float(confusion(label, score, threshold).f1 or 0.0), threshold)


@dataclass(frozen=True, eq=False)
class Result:
    """Metrics over all events of the test part together, with 95% intervals.

    `metrics` is what `sdgad.evaluate` says, with the threshold table, and `by_type` (each type against all normals); F1 and all
    that depends on a threshold are at `threshold`, which `threshold_rule` chose without a test label. `oracle` alone looked at
    them. `scores` are kept, so that two results on the same events (`fingerprint`) can be compared.
    """

    detector: str
    setting: str
    seed: int
    threshold: float
    threshold_rule: str
    metrics: dict[str, Any] = field(repr=False)
    intervals: dict[str, Interval | None] = field(repr=False)
    oracle: Oracle | None = field(repr=False)
    scores: Array = field(repr=False)
    answers: Answers = field(repr=False)
    seconds: dict[str, float] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    protocol: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> str:
        """Of the test events and their labels."""
        return self.answers.fingerprint

    @property
    def by_type(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.metrics.get("by_type", {})
        return found

    def __str__(self) -> str:
        shown = [
            f"{name} {value:.4f} [{found.low:.4f}, {found.high:.4f}]"
            for name in ("auroc", "ap", "f1")
            if (value := self.metrics[name]) is not None and (found := self.intervals[name]) is not None
        ]
        who = f"{self.detector or 'scores'} {self.setting}, seed {self.seed}"
        return f"{who}: {', '.join(shown)}, threshold by {self.threshold_rule}"

    def to_dict(self) -> dict[str, Any]:
        """All but the scores, for JSON."""
        kept = ("detector", "setting", "seed", "threshold", "threshold_rule", "metrics")
        return {
            **{name: getattr(self, name) for name in kept},
            "intervals": {name: found and [found.low, found.high] for name, found in self.intervals.items()},
            "oracle": self.oracle and asdict(self.oracle),
            "fingerprint": self.fingerprint,
            "seconds": self.seconds,
            "options": self.options,
            "protocol": self.protocol,
        }


def judged(answers: Answers, scores: Array, threshold: float, resamples: int) -> dict[str, Any]:
    """The parts of a `Result` that scores and answers alone decide."""
    label, scores = answers.label, answers.need_every_score(scores)
    metrics = evaluate(label, scores, threshold, anomaly_type=answers.anomaly_type)
    for name, found in metrics.get("by_type", {}).items():
        own = (label == 0) | (np.asarray(answers.anomaly_type) == name)
        interval = auroc_interval(label[own], scores[own])
        found["auroc_interval"] = interval and [interval.low, interval.high]
    resampled = bootstrap(label, scores, RESAMPLED, threshold=threshold, resamples=resamples)
    return {
        "threshold": threshold,
        "metrics": metrics,
        "intervals": {"auroc": auroc_interval(label, scores), **resampled},
        "oracle": Oracle.of(label, scores),
        "scores": scores,
        "answers": answers,
    }
