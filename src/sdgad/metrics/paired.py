"""Which of two scores is better on the same events, and is it more than luck?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sdgad.errors import InputError
from sdgad.metrics.intervals import Interval, need_level
from sdgad.metrics.labelled import labelled
from sdgad.metrics.mean_over_seeds import ScoredRows, mean_over_seeds
from sdgad.metrics.resampling import Cells, Tally, Values, measured, need_metric

Verdict = Literal["ahead", "behind", "tie"]


@dataclass(frozen=True)
class Comparison:
    """A metric of `a` and `b`, their difference with its interval, and what that makes of `a`.

    Over several pairs, values are means, and `pairs` says of how many.
    """

    metric: str
    a: float
    b: float
    difference: float
    interval: Interval
    verdict: Verdict
    pairs: int = 1

    def __str__(self) -> str:
        low, high = self.interval.low, self.interval.high
        return f"{self.verdict}: {self.metric} {self.a:.4f} − {self.b:.4f} = {self.difference:+.4f} [{low:+.4f}, {high:+.4f}]"


def compare(
    label: Any,
    score_a: Any,
    score_b: Any,
    metric: str = "auroc",
    *,
    thresholds: tuple[float, float] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Is `a` ahead of `b`, behind, or is it a tie? Both are measured on the same resampled events.

    It is ahead if the interval of the difference lies above 0. The metric is one of `bootstrap`'s; those of decisions need the
    two `thresholds`. This is about other events; of other seeds one pair of scores says nothing: see `compare_over_seeds`.
    """
    return compare_over_seeds(
        [(label, score_a, score_b)],
        metric,
        thresholds=None if thresholds is None else [thresholds],
        resamples=resamples,
        level=level,
        seed=seed,
    )


def compare_over_seeds(
    pairs: Iterable[tuple[Any, Any, Any]],
    metric: str = "auroc",
    *,
    thresholds: Sequence[tuple[float, float]] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """The mean difference over (label, score of a, score of b), one per seed or stream: see `mean_over_seeds`."""
    need_level(level)
    given = list(pairs)
    if not given:
        raise InputError("There is nothing to compare.")
    if thresholds is not None and len(thresholds) != len(given):
        raise InputError(f"There are {len(given)} pairs of scores but {len(thresholds)} pairs of thresholds.")
    streams = [
        _cut(*pair, metric, (None, None) if thresholds is None else thresholds[i])
        for i, pair in enumerate(given)
    ]

    def value(which: int) -> float:
        return float(
            np.mean([stream.value(lambda tallies: measured(metric, tallies[which])) for stream in streams])
        )

    def difference(tallies: Sequence[Tally]) -> Values:
        a, b = (measured(metric, tally) for tally in tallies)
        return a - b

    mean = mean_over_seeds(streams, difference, 0.0, resamples, level, seed)
    interval = Interval(max(-1.0, mean.value - mean.half), min(1.0, mean.value + mean.half))
    return Comparison(metric, value(0), value(1), mean.value, interval, _verdict(interval), len(streams))


def _cut(
    label: Any, a: Any, b: Any, metric: str, thresholds: tuple[float | None, float | None]
) -> ScoredRows:
    need_metric(metric, thresholds[0])
    both = labelled(label, a), labelled(label, b)
    if not (both[0].anomalies and both[0].normals):
        raise InputError("Two scores can be compared only where the labels hold both classes.")
    return ScoredRows(both[0], tuple(map(Cells.cut, both, thresholds)))


def _verdict(interval: Interval) -> Verdict:
    if interval.low > 0:
        return "ahead"
    return "behind" if interval.high < 0 else "tie"
