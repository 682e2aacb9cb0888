"""Explanation: why an event has its score, for people and for machines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NOTHING = "nothing about it is unusual for its two ends"


@dataclass(frozen=True, slots=True)
class Residual:
    """A habit that the event breaks: what it is about, which way it differs, and how unusual that is among normal events.

    `theme` and `side` are for programs (`pair` and `new`, `source pace` and `quick`, `feature amount` and `more`), `column` names
    the habit residual that tells it; `now` and `habit` are in units of the file, seconds, counts, hours of the day (0 to 24),
    days since Monday began, or numbers of categories.
    """

    theme: str
    side: str
    column: str
    now: float
    habit: float
    p_value: float
    _tell: Callable[[float, float], str] = field(repr=False, compare=False)

    @property
    def words(self) -> str:
        """With the numbers."""
        return " ".join(self._tell(self.now, self.habit).split())  # categories may hold anything

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold."""
        names = ("theme", "side", "column", "now", "habit", "p_value")
        return {**{name: _plain(getattr(self, name)) for name in names}, "words": self.words}


@dataclass(frozen=True, slots=True)
class KindOfEvidence:
    """What one kind of evidence says: −log p among normal events, and what that contributes to the score's sum."""

    name: str
    nats: float
    weight: float

    @property
    def p_value(self) -> float:
        """How rare so much of it is among normal events: e^(−nats), at most 1."""
        return math.exp(-max(self.nats, 0.0))

    @property
    def contribution(self) -> float:
        """weight · nats."""
        return self.weight * self.nats

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold."""
        names = ("name", "nats", "p_value", "weight", "contribution")
        return {name: _plain(getattr(self, name)) for name in names}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Score and p-value of an event, the kinds of evidence by what they contribute, and the habits that it breaks most.

    A detector that has no kinds of evidence gives none. `note` says why there are no residuals where a detector remembers
    nobody. An event that was dropped as late has a score of NaN and nothing else.
    """

    score: float
    p_value: float
    evidence: tuple[KindOfEvidence, ...] = ()
    residuals: tuple[Residual, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        if math.isnan(self.score):
            return "older than the newest event, so it was dropped"
        return "; ".join(residual.words for residual in self.residuals) or self.note or NOTHING

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold; what is unknown is None."""
        return {
            "score": _plain(self.score),
            "p_value": _plain(self.p_value),
            "why": str(self),
            "evidence": [kind.to_dict() for kind in self.evidence],
            "residuals": [residual.to_dict() for residual in self.residuals],
        }


def _plain(value: str | float) -> str | float | None:
    return value if isinstance(value, str) or math.isfinite(value) else None
