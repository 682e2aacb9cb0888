"""From the log-likelihood ℓ = log p(x) / d_x of an event to its anomaly score; test data has no say."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import InputError
from sdgad.registry import Registry

LEAST_WIDTH = 1e-6  # ε; |u| ≤ 10^7 then still holds for |B − ℓ| ≤ 10


class Score(ABC):
    """ℓ → score, decreasing: the less likely an event, the higher its score."""

    name: ClassVar[str]
    newer: ClassVar[frozenset[str]] = (
        frozenset()
    )  # numbers that older files do not have; they had the default

    @abstractmethod
    def __call__(self, ell: Any) -> NDArray[np.float64]:
        """The scores of log-likelihoods of any shape; infinite ones have a score, NaN is an error."""

    @abstractmethod
    def inverse(self, score: Any) -> NDArray[np.float64]:
        """The log-likelihoods behind scores, up to rounding."""

    def to_json(self) -> dict[str, Any]:
        """The score's name and numbers; JSON keeps Python floats to the last bit."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


scores: Registry[Score] = Registry("score", "sdgad.scores", base=Score)


def score_from_json(state: Mapping[str, Any]) -> Score:
    """What `to_json` wrote, back as the same score; missing and unknown keys are errors."""
    numbers = dict(state)
    kind = scores.get(str(numbers.pop("name", None)))
    wanted = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not wanted - kind.newer <= numbers.keys() <= wanted:
        given = ", ".join(sorted(numbers)) or "nothing"
        raise InputError(f"The score {kind.name!r} needs {', '.join(sorted(wanted))}, but has {given}.")
    return kind(**{key: float(value) for key, value in numbers.items()})


@scores.register("calibrated")
@dataclass(frozen=True)
class CalibratedScore(Score):
    """s = sigmoid(asinh(u)), u = (B − ℓ) / max(ℓ_hi − B, ε): float64 in (0, 1), 0.5 exactly at ℓ = B.

    Since e^{asinh u} = u + √(1+u²), with w = |u| + √(1+u²) it is s = 1 − 1/(1+w) on the anomalous side and
    1/(1+w) on the normal side. Every step is one correctly rounded operation, and rounding keeps order: s
    never rises with ℓ. It falls strictly, without ties, wherever two ℓ differ by 2^-49 (1+u²) (ℓ_hi − B) or
    more, because ds/du ≥ 1 / (4(1+u²)) and float64 resolves 2^-53 below 1. Neighbouring float32 ℓ do so for
    |u| ≤ 10^7 while ℓ is no tiny fraction of B or of the width: |ℓ| ≥ |B − ℓ| / 2 and |ℓ| ≥ 10^-7 (ℓ_hi − B)
    suffice. No float64 score that is 0.5 at B = 1 could tell ℓ = 1e-30 from 2e-30.
    """

    boundary: float
    high: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if not math.isfinite(getattr(self, field.name)):
                raise InputError(f"The {field.name} of the calibrated score must be a finite number.")

    @property
    def width(self) -> float:
        return max(self.high - self.boundary, LEAST_WIDTH)

    def __call__(self, ell: Any) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # u² may pass the largest float64; the score is then at its end
            u = (self.boundary - _log_likelihood(ell)) / self.width
            side = 1.0 / (1.0 + (np.abs(u) + np.sqrt(1.0 + u * u)))
        score = np.where(u > 0, 1.0 - side, side)
        return np.clip(score, np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))

    def inverse(self, score: Any) -> NDArray[np.float64]:
        """ℓ = B − u (ℓ_hi − B) with u = sinh(logit s) = (s − ½) / (s (1 − s))."""
        s = np.asarray(score, dtype=np.float64)
        if not np.all((s > 0) & (s < 1)):
            raise InputError("A calibrated score lies strictly between 0 and 1.")
        with np.errstate(over="ignore"):
            ell: NDArray[np.float64] = self.boundary - (s - 0.5) / (s * (1.0 - s)) * self.width
        return ell


@scores.register("printed")
@dataclass(frozen=True)
class PrintedScore(Score):
    """The paper's score (section "Anomaly Scoring"): s = 1 − exp(min((ℓ − ℓ_max) / c, 0)), c the normalisation
    constant.

    The paper gives no value for c; 10 with ℓ per dimension is that of its relatives. A flow's ℓ can exceed 0, on a thin shell it
    does so for nearly all events: as printed, without ℓ_max, all of these tie at 0. So ℓ_max is the highest ℓ of training
    normals, or 0 if none is above. Scores tie at 0 beyond it, and at 1 far below; it is kept for `preset="paper"`.
    """

    newer: ClassVar[frozenset[str]] = frozenset({"highest"})
    normaliser: float = 10.0
    highest: float = 0.0  # ℓ_max

    def __post_init__(self) -> None:
        if not (math.isfinite(self.normaliser) and self.normaliser > 0):
            raise InputError("The normaliser of the printed score must be a positive number.")
        if not math.isfinite(self.highest):
            raise InputError("The highest log-likelihood of the printed score must be a finite number.")

    def __call__(self, ell: Any) -> NDArray[np.float64]:
        below = np.minimum((_log_likelihood(ell) - self.highest) / self.normaliser, 0.0)
        score: NDArray[np.float64] = -np.expm1(below)
        return score + 0.0  # −expm1(0) is −0

    def inverse(self, score: Any) -> NDArray[np.float64]:
        """ℓ = ℓ_max + c log(1 − s): ℓ_max at score 0, where all above it went, and −∞ at score 1."""
        s = np.asarray(score, dtype=np.float64)
        if not np.all((s >= 0) & (s <= 1)):
            raise InputError("A printed score lies between 0 and 1.")
        with np.errstate(divide="ignore"):
            ell: NDArray[np.float64] = self.highest + self.normaliser * np.log1p(-s)
        return ell


def _log_likelihood(ell: Any) -> NDArray[np.float64]:
    array = np.asarray(ell, dtype=np.float64)
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        raise InputError(f"The log-likelihood of row {missing[0] + 1} is not a number.")
    return array
