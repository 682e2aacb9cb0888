"""How good is a score: ranking metrics, decisions at a threshold, how sure they are, and which of two scores is better."""

from sdgad.metrics.by_type import TypeResult, by_type
from sdgad.metrics.confusion import Confusion, best_f1_threshold, confusion
from sdgad.metrics.evaluate import evaluate
from sdgad.metrics.intervals import Interval, auroc_interval, bootstrap
from sdgad.metrics.over_seeds import MeanStd, interval_over_seeds, over_seeds
from sdgad.metrics.paired import Comparison, compare, compare_over_seeds
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
    "auroc_interval",
    "average_precision",
    "best_f1_threshold",
    "bootstrap",
    "by_type",
    "compare",
    "compare_over_seeds",
    "Comparison",
    "confusion",
    "Confusion",
    "evaluate",
    "Interval",
    "interval_over_seeds",
    "MeanStd",
    "mixture",
    "over_seeds",
    "PAPER_THRESHOLDS",
    "precision_at_k",
    "precision_recall_curve",
    "PrecisionRecallCurve",
    "threshold_table",
    "ThresholdRow",
    "TypeResult",
]
