"""Thresholds to choose from: what flagging more or fewer of some scored events would have meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdgad.experiments.scored import ScoredStream

SHARES = (0.05, 0.01, 0.005, 0.001)
FEWEST = 5  # of fewer alerts nothing can be said


@dataclass(frozen=True)
class Choice:
    """A threshold and its alerts; what labels say is None without them, `per_day` on streams shorter than a day."""

    threshold: float
    alerts: int
    share: float
    per_day: float | None
    precision: float | None
    recall: float | None
    false_alarms: int | None
    used: bool = False

    @classmethod
    def of(cls, scored: ScoredStream, threshold: float, *, used: bool = False) -> Choice:
        flagged = scored.score >= threshold
        alerts = int(np.count_nonzero(flagged))
        found, false = (int(np.count_nonzero(flagged & (scored.label == value))) for value in (1, 0))
        anomalies = int(np.count_nonzero(scored.label == 1))
        return cls(
            threshold,
            alerts,
            alerts / len(scored),
            alerts / scored.days if scored.days >= 1 else None,
            found / (found + false) if found + false else None,
            found / anomalies if anomalies else None,
            false if scored.labelled else None,
            used,
        )


def threshold_choices(scored: ScoredStream, shares: Sequence[float] = SHARES) -> list[Choice]:
    """The threshold in use, and those that flag each share of the events, as far as these resolve it; most alerts first.

    A share whose alerts are those of another line is left out.
    """
    choices = [Choice.of(scored, scored.threshold, used=True)]
    for share in shares:
        threshold = flagging(scored.score, int(share * len(scored) + 1e-9))
        if threshold is None:
            continue
        choice = Choice.of(scored, threshold)
        if choice.alerts >= FEWEST and all(choice.alerts != other.alerts for other in choices):
            choices.append(choice)
    return sorted(choices, key=lambda choice: -choice.alerts)


def flagging(score: np.ndarray, count: int) -> float | None:
    """A short number that flags the `count` highest scores, fewer where a tie would make it more; None for none."""
    if not 0 < count < len(score):
        return None
    rest = float(np.partition(score, len(score) - 1 - count)[len(score) - 1 - count])
    above = score[score > rest]
    if not len(above):
        return None
    least = float(above.min())
    for digits in range(3, 17):
        short = float(f"{(rest + least) / 2:.{digits}g}")
        if rest < short <= least:
            return short
    return least
