"""From a score to a decision: calibrated score, thresholds, alert budgets, p-values; never from test
labels."""

from sdgad.calibration.conformal import ConformalPValues
from sdgad.calibration.score import CalibratedScore, PrintedScore, Score, score_from_json, scores
from sdgad.calibration.threshold import (
    ThresholdRule,
    ValidationScores,
    choose_threshold,
    default_rule,
    default_threshold,
    threshold_rule,
    threshold_rules,
)

__all__ = [
    "CalibratedScore",
    "choose_threshold",
    "ConformalPValues",
    "default_rule",
    "default_threshold",
    "PrintedScore",
    "Score",
    "score_from_json",
    "scores",
    "threshold_rule",
    "threshold_rules",
    "ThresholdRule",
    "ValidationScores",
]
