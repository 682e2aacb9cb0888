"""What a fitted model can be trusted with: few events say little, and a threshold may not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdgad.calibration.threshold import DEFAULT_SHARE

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

FEW_EVENTS = 800  # for training: below it, every count and age that follows is beyond what was learned from
FEW_VALIDATION = round(1 / DEFAULT_SHARE)  # below it, the highest score is all that is known of the top 1%
MOST_FLAGGED, BEYOND = 0.5, 3.0  # of the events; and times as many as in validation
FEWEST_SCORED = 20


def trust_lines(detector: Detector) -> list[str]:
    """Short sentences on what not to rely on; none for a model that saw enough."""
    train, val = len(detector.decision_scores_), len(detector.validation)
    normal = len(detector.validation.normal_scores)
    lines = []
    if train < FEW_EVENTS:
        lines.append(
            f"{train:,} training events are few to learn habits from: expect false alarms, and fit again when there are "
            f"{FEW_EVENTS:,} or more"
        )
    if val < FEW_VALIDATION:
        lines.append(
            f"{val:,} validation events cannot tell {DEFAULT_SHARE:.0%}: the threshold is a guess, and no p-value is below "
            f"{1 / (normal + 1):.2g}"
        )
    return lines


def unexpected_alerts(detector: Detector, flagged: int, scored: int) -> str | None:
    """A sentence where most events are alerts, and far more than the model led to expect."""
    validation = detector.validation
    before = int((validation.score >= detector.threshold_).sum())
    expected = (before + 1) / (len(validation) + 1)
    if scored < FEWEST_SCORED or flagged < MOST_FLAGGED * scored or flagged < BEYOND * expected * scored:
        return None
    return (
        f"{flagged:,} of {scored:,} events are alerts, where {before:,} of {len(validation):,} were in validation: the threshold "
        "does not hold for these events. Is the history fresh, and were there enough events to fit on?"
    )
