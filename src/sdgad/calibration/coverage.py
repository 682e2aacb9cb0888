"""Whether a false-alarm rate that was asked for on validation is kept by later events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sdgad.calibration.threshold import ValidationScores, choose_threshold

RATES = (0.1, 0.01, 0.001)
FEWEST = 5  # an asked rate that leaves validation fewer alarms than this is a guess
LEVEL = 0.95

Verdict = Literal["within", "above", "below"]


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, and how many of the validation normals reach it; `asked` is None for other rules than a rate."""

    threshold: float
    alarms: int
    normals: int
    asked: float | None = None

    @classmethod
    def at(cls, validation: ValidationScores, threshold: float, asked: float | None = None) -> OperatingPoint:
        normals = validation.normal_scores
        return cls(threshold, int(np.count_nonzero(normals >= threshold)), len(normals), asked)

    @property
    def rate(self) -> float:
        """Share of the validation normals that alarm; 0 where there are none."""
        return self.alarms / self.normals if self.normals else 0.0


def resolvable(validation: ValidationScores, rates: Sequence[float] = RATES) -> list[float]:
    """The rates at which validation expects at least `FEWEST` false alarms."""
    return [rate for rate in rates if rate * len(validation.normal_scores) >= FEWEST]


def operating_points(validation: ValidationScores, rates: Sequence[float] = RATES) -> list[OperatingPoint]:
    """The threshold of each asked rate that validation can resolve."""
    return [
        OperatingPoint.at(validation, choose_threshold("fpr", rate, validation), rate)
        for rate in resolvable(validation, rates)
    ]


@dataclass(frozen=True)
class Coverage:
    """Alarms among later normals at an operating point, beside those to expect if nothing has changed."""

    point: OperatingPoint
    alarms: int
    normals: int
    level: float = LEVEL

    @classmethod
    def of(cls, point: OperatingPoint, scores: NDArray[np.float64], level: float = LEVEL) -> Coverage:
        return cls(point, int(np.count_nonzero(scores >= point.threshold)), len(scores), level)

    @property
    def rate(self) -> float | None:
        return self.alarms / self.normals if self.normals else None

    @property
    def expected(self) -> float:
        """As many as on validation, per normal."""
        return self.normals * self.point.rate

    @cached_property
    def to_expect(self) -> tuple[int, int]:
        """Fewest and most alarms that `level` allows."""
        return alarms_to_expect(self.point.alarms, self.point.normals, self.normals, self.level)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the rate, whatever the level of the verdict."""
        return wilson(self.alarms, self.normals)

    @property
    def verdict(self) -> Verdict:
        low, high = self.to_expect
        return "below" if self.alarms < low else "above" if self.alarms > high else "within"


def bin_coverages(point: OperatingPoint, bins: Sequence[NDArray[np.float64]]) -> list[Coverage]:
    """One per bin of scores, so wide that all bins together stay within with `LEVEL` (Bonferroni)."""
    level = 1 - (1 - LEVEL) / max(len(bins), 1)
    return [Coverage.of(point, scores, level) for scores in bins]


def pooled(parts: Sequence[Coverage]) -> Coverage:
    """The bins of one operating point taken together, at the ordinary level."""
    return replace(
        parts[0],
        alarms=sum(part.alarms for part in parts),
        normals=sum(part.normals for part in parts),
        level=LEVEL,
    )


def alarms_to_expect(alarms: int, normals: int, later: int, level: float = LEVEL) -> tuple[int, int]:
    """The range of alarms among `later` normals, when `alarms` of `normals` validation normals reach the threshold.

    If both are exchangeable, a later normal beats the k-th highest of n validation normals with a share that is
    Beta(k, n − k + 1), so the count that does is beta-binomial. The threshold lies between the k-th (k = alarms,
    which bounds the count from below) and the next one (k + 1, from above), whichever rule chose it and however the
    scores tie. Outside the range Fisher's exact one-sided test rejects at (1 − level) / 2; validation's own error is
    part of it.
    """
    tail = (1 - level) / 2
    low, high = 0, later
    if alarms > 0:
        below = _cumulative(later, alarms, normals - alarms + 1)
        low = int(np.argmax(below > tail))
    if alarms < normals:
        above = _cumulative(later, normals - alarms, alarms + 1)  # of the later normals that do not alarm
        high = later - int(np.argmax(above > tail))
    return low, high


def _cumulative(n: int, a: int, b: int) -> NDArray[np.float64]:
    """P(X ≤ x), x = 0 … n, for X beta-binomial: p(x+1) / p(x) = (n−x)(x+a) / ((x+1)(n−x−1+b))."""
    x = np.arange(n, dtype=np.float64)
    steps = np.log(n - x) + np.log(x + a) - np.log(x + 1) - np.log(n - x - 1 + b)
    log_p = np.concatenate(([0.0], np.cumsum(steps)))
    p = np.cumsum(np.exp(log_p - log_p.max()))
    cumulative: NDArray[np.float64] = p / p[-1]
    return cumulative


def wilson(count: int, total: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a share; (0, 1) where nothing was counted."""
    if not total:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, spread = count / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    # at the ends of the scale the interval is closed, which rounding must not undo
    return (0.0 if count == 0 else middle - reach), (1.0 if count == total else middle + reach)
