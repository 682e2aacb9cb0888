"""How good is a score: ranking metrics, decisions at a threshold, the paper's threshold table."""

from sdgad.metrics.by_type import TypeResult, by_type
from sdgad.metrics.confusion import Confusion, best_f1_threshold, confusion
from sdgad.metrics.evaluate import evaluate
from sdgad.metrics.ranking import (
    PrecisionRecallCurve,
    auroc,
    average_precision,
    mixture,
    precision_at_k,
    precision_recall_curve,
)
from sdgad.metrics.threshold_table import PAPER_THRESHOLDS, ThresholdRow, threshold_table

__all__ = [
    "auroc",
    "average_precision",
    "best_f1_threshold",
    "by_type",
    "confusion",
    "Confusion",
    "evaluate",
    "mixture",
    "PAPER_THRESHOLDS",
    "precision_at_k",
    "precision_recall_curve",
    "PrecisionRecallCurve",
    "threshold_table",
    "ThresholdRow",
    "TypeResult",
]
