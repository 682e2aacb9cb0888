"""How far scores have moved since validation, and how far chance alone would move them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
LEVEL = 0.95
FEWEST, MOST = 4, 40  # stretches of validation that are compared with the rest of it


@dataclass(frozen=True)
class Drift:
    """Later scores against validation scores.

    `distance` is Kolmogorov's and Smirnov's D = sup |F_later − F_validation|, the largest gap between the two
    cumulative shares; `chance` is what D stays below by chance, and `ordinary` the largest D that a stretch of
    validation had from the rest of it: days differ from nights without any drift. `higher` is P(later > validation),
    ties counting one half: 0.5 where neither is higher.
    """

    events: int
    distance: float
    chance: float
    ordinary: float
    higher: float

    @property
    def expected(self) -> float:
        """The distance that needs no explanation."""
        return max(self.chance, self.ordinary)

    @property
    def beyond_expected(self) -> bool:
        return self.distance > self.expected


def drift(validation: Scores, later: Scores, level: float = LEVEL) -> Drift:
    """The drift of some later scores; validation scores are in order of time, and there are scores on both sides."""
    before, after = np.sort(validation), np.sort(later)
    chance = chance_distance(len(before), len(after), level)
    return Drift(
        len(after),
        distance(before, after),
        chance,
        ordinary_distance(validation, len(after)),
        _higher(before, after),
    )


def bin_drifts(validation: Scores, bins: Sequence[Scores]) -> list[Drift]:
    """One per bin, so strict that all bins together stay within chance with `LEVEL` (Bonferroni)."""
    level = 1 - (1 - LEVEL) / max(len(bins), 1)
    return [drift(validation, scores, level) for scores in bins]


def distance(before: Scores, after: Scores) -> float:
    """sup |F_after − F_before| of two sorted samples."""
    # between two later scores F_after stands still and F_before only rises: the ends of each step suffice
    gaps = [
        np.abs(
            np.searchsorted(before, after, side) / len(before)
            - np.searchsorted(after, after, side) / len(after)
        )
        for side in SIDES
    ]
    return float(max(gap.max() for gap in gaps))


def chance_distance(n: int, m: int, level: float = LEVEL) -> float:
    """What D of two samples of one distribution exceeds with probability 1 − level at most.

    √(ln(2 / (1 − level)) / 2 · (n + m) / (n m)), from P(D > d) ≤ 2 exp(−2 d² n m / (n + m)), Smirnov's limit. It
    errs on the safe side for small samples and ties. Independent scores are taken for granted.
    """
    return min(1.0, math.sqrt(math.log(2 / (1 - level)) / 2 * (n + m) / (n * m)))


def ordinary_distance(validation: Scores, size: int) -> float:
    """The largest D that stretches of `size` validation scores have from the rest; 0 where there are too few scores.

    Where validation is shorter than four such stretches its quarters are taken, which differ more. With N scores in
    all and b in a stretch F_rest = (N F − b F_stretch) / (N − b), so its D is that from all, times N / (N − b).
    """
    n = len(validation)
    size = min(size, n // FEWEST)
    if size == 0:
        return 0.0
    whole = np.sort(validation)
    starts = np.linspace(0, n - size, min(n // size, MOST)).astype(np.int64)
    found = [distance(whole, np.sort(validation[start : start + size])) for start in starts.tolist()]
    return max(found) * n / (n - size)


def _higher(before: Scores, after: Scores) -> float:
    below, upto = (np.searchsorted(before, after, side) for side in SIDES)
    return float((below + upto).mean() / (2 * len(before)))
