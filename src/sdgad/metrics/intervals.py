"""How sure a metric is: 95% intervals that stay within [0, 1] and behave with a handful of anomalies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.metrics.confusion import Confusion
from sdgad.metrics.labelled import labelled
from sdgad.metrics.ranking import Ranking
from sdgad.metrics.resampling import (
    AT_CHANCE,
    DECISION_METRICS,
    Cells,
    Values,
    measured,
    need_metric,
    observed,
    resampled,
)


@dataclass(frozen=True)
class Interval:
    """From low to high, both included."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def auroc_interval(label: Any, score: Any, level: float = 0.95) -> Interval | None:
    """Confidence interval of the AUROC: Wilson's, with as many trials as DeLong's variance says; None with one class only.

    AUROC is the mean A of the anomalies' placements (the share of normals below each), and of the normals'. DeLong:
    Var A = S₁/m + S₀/n, the variances of both placements. A mean of coin tosses would have A(1 − A)/trials, so A is worth
    1/k trials, k = c₁/m + c₀/n with c = S / A(1 − A), and Wilson's interval is what solves |A − θ| = z √(k θ(1 − θ)) for θ.
    A few anomalies tell little about S (none at all where A is 0 or 1), so each class gets one imagined event more, with
    the c = ½ of exponential scores, and z is Student's, with as many degrees of freedom as the rarer class has events.
    """
    need_level(level)
    ranking = Ranking.of(labelled(label, score))
    area = ranking.auroc()
    if area is None:
        return None
    m, n = ranking.anomalies, ranking.normals
    anomalies = np.diff(ranking.true_positives, prepend=0)
    normals = np.diff(ranking.false_positives, prepend=0)
    placed = (n - ranking.false_positives + normals / 2) / n
    overtaken = (ranking.true_positives - anomalies / 2) / m
    rarer = min(m, n)
    shrunk = (area * rarer + 0.5) / (rarer + 1)
    tosses, imagined = area * (1 - area), shrunk * (1 - shrunk)
    c1 = (_squares(anomalies, placed, area) + imagined / 2) / ((m - 1) * tosses + imagined)
    c0 = (_squares(normals, overtaken, area) + imagined / 2) / ((n - 1) * tosses + imagined)
    return _wilson(area, c1 / m + c0 / n, student(level, rarer))


def bootstrap(
    label: Any,
    score: Any,
    metrics: Sequence[str] = ("auroc", "ap"),
    *,
    threshold: float | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """Percentile intervals by resampling, for `auroc`, `ap`, `best_f1` and, with a threshold, `f1`, `precision`, `recall`,
    `fpr`; None with one class only.

    Anomalies and normals are resampled separately (see `resampling`), and the percentiles are widened for few anomalies
    (see `widened`) and for one imagined anomaly more (see `_doubted`). What a threshold decides depends on two shares only;
    these are drawn smoothly (see `_smooth_alarms`).
    """
    need_level(level)
    for name in metrics:
        need_metric(name, threshold)
    rows = labelled(label, score)
    if not (rows.anomalies and rows.normals):
        return dict.fromkeys(metrics)
    found: dict[str, Interval | None] = {}
    decided = {name: compute for name, compute in DECISION_METRICS.items() if name in metrics}
    ranked = [name for name in metrics if name not in decided]
    if ranked:
        cells = Cells.cut(rows)
        chunks = [
            [measured(name, tally) for name in ranked]
            for (tally,) in resampled(rows.anomaly, [cells], resamples, seed)
        ]
        rarer, rate = min(rows.anomalies, rows.normals), rows.anomalies / len(rows)
        here = observed(rows.anomaly, cells)
        for name, values in zip(ranked, map(np.concatenate, zip(*chunks, strict=True)), strict=True):
            interval = percentiles(values, level, rarer)
            value, chance = float(measured(name, here)[0]), AT_CHANCE.get(name, rate)
            found[name] = _doubted(interval, value, student(level, rarer) * abs(value - chance) / (rarer + 1))
    if decided and threshold is not None:
        counts = Confusion.of(rows, threshold)
        alarms = _smooth_alarms(counts, resamples, seed)
        for name, compute in decided.items():
            interval = _middle(compute(*alarms, rows.anomalies, rows.normals), level)
            value = float(getattr(counts, name))
            found[name] = Interval(min(interval.low, value), max(interval.high, value))
    return {name: found[name] for name in metrics}


def _smooth_alarms(counts: Confusion, resamples: int, seed: int) -> tuple[Values, Values]:
    """True and false alarms with rates from Beta(alarms + ½, others + ½), Jeffreys' posterior.

    Plain resampling of 11 anomalies none of which was found would find none ever again, and be certain of it.
    """
    rng = np.random.default_rng(seed)
    true = rng.beta(counts.true_positives + 0.5, counts.false_negatives + 0.5, resamples)
    false = rng.beta(counts.false_positives + 0.5, counts.true_negatives + 0.5, resamples)
    return true * counts.anomalies, false * counts.normals


def _doubted(interval: Interval, value: float, doubt: float) -> Interval:
    """The interval reaches as far from the value as one more anomaly, scored by chance, makes doubtful.

    Three anomalies that are all found are found in every resample, which would be certain of it.
    """
    return Interval(max(0.0, min(interval.low, value - doubt)), min(1.0, max(interval.high, value + doubt)))


def _middle(values: Values, level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def percentiles(values: Values, level: float, events: int) -> Interval:
    """The middle share of resampled values, widened for a sample of so few events; of one event nothing can be learned."""
    return _middle(values, widened(level, events)) if events > 1 else Interval(0.0, 1.0)


def widened(level: float, events: int) -> float:
    """The level whose normal quantile is √(n / (n − 1)) times Student's with n − 1 degrees of freedom.

    A resample's variance is (n − 1)/n of the unbiased one, and its percentiles ignore that this is an estimate; a mean of
    n values has right intervals with this level. Of one event nothing can be learned: 1.
    """
    if events < 2:
        return 1.0
    z = math.sqrt(events / (events - 1)) * student(level, events - 1)
    return math.erf(z / math.sqrt(2))


def student(level: float, freedom: float) -> float:
    """The two-sided quantile of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _wilson(share: float, k: float, z: float) -> Interval:
    """The interval of a share that was seen in 1/k trials."""
    doubt = z * z * k
    centre = (share + doubt / 2) / (1 + doubt)
    half = z * math.sqrt(k * (share * (1 - share) + doubt / 4)) / (1 + doubt)
    return Interval(max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def _squares(weight: Any, placement: Any, mean: float) -> float:
    return float(np.sum(weight * (placement - mean) ** 2))


def need_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level={level}: a confidence level lies between 0 and 1.")
