"""Everything that is said about a score, in one dict that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from numpy.typing import NDArray

from sdgad.metrics.by_type import by_type
from sdgad.metrics.confusion import Confusion
from sdgad.metrics.labelled import Labelled, labelled
from sdgad.metrics.ranking import Ranking
from sdgad.metrics.threshold_table import threshold_rows


def evaluate(
    label: Any,
    score: Any,
    threshold: float | None = None,
    k: int | None = None,
    anomaly_type: Sequence[str] | NDArray[Any] | None = None,
) -> dict[str, Any]:
    """Ranking metrics, metrics at the threshold, the threshold table and, with types, each type's result.

    Rows with an unknown label (NaN) are left out: `events` counts the others, `unlabelled` counts them. What
    is undefined is None: the ranking metrics where there is one class only (`note` then says so in a
    sentence), the threshold metrics without a threshold.
    """
    rows = labelled(label, score)
    ranking = Ranking.of(rows)
    counts = None if threshold is None else Confusion.of(rows, threshold)
    result: dict[str, Any] = {
        "auroc": ranking.auroc(),
        "ap": ranking.average_precision(),
        "f1": counts and counts.f1,
        "precision": counts and counts.precision,
        "recall": counts and counts.recall,
        "tpr": counts and counts.tpr,
        "fpr": counts and counts.fpr,
        "threshold": counts and counts.threshold,
        "flagged": counts and counts.flagged,
        "k": None if k is None else int(k),
        "precision_at_k": None if k is None else ranking.precision_at_k(k),
        "events": len(rows),
        "anomalies": rows.anomalies,
        "unlabelled": rows.unlabelled,
        "threshold_table": [asdict(row) for row in threshold_rows(rows, threshold)],
    }
    if anomaly_type is not None:
        types = by_type(label, score, anomaly_type, threshold)
        result["by_type"] = {name: asdict(found) for name, found in types.items()}
    if not ranking.both_classes:
        result["note"] = f"{_one_class(rows)}, so AUROC and average precision are undefined."
    return result


def _one_class(rows: Labelled) -> str:
    if not len(rows):
        return "No event has a label"
    return f"All {len(rows)} labelled events are {'anomalies' if rows.anomalies else 'normal'}"
