"""`sdgad evaluate`: how good the scores of labelled events are."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdgad.cli.naming import naming
from sdgad.cli.opening import open_events, open_model
from sdgad.cli.options import Events, Json, Model
from sdgad.cli.printing import print_facts, print_json, print_table, shown, threshold_text
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.events.stream import EventStream

logger = logging.getLogger("sdgad.cli")


def evaluate(model: Model, events: Events, json: Json = False) -> None:
    """Compare scores with labels.

    Prints AUROC, AP, the decisions at the model's threshold and at others, and how well each type is found,
    where a column `anomaly_type` names it. Rows without a label are history and enter no figure.

    \b
    sdgad evaluate model labelled.csv
    """
    import numpy as np

    from sdgad.metrics import evaluate as measure

    detector = open_model(model)
    _, stream = open_events(events, detector)
    _need_labels(stream, events, detector.columns.label)
    with naming(events):
        scores = detector.decision_function(stream)
        kept = ~np.isnan(scores)
        types = None if stream.anomaly_type is None else stream.anomaly_type[kept]
        metrics = measure(stream.label[kept], scores[kept], detector.threshold_, anomaly_type=types)
    if not kept.all():
        logger.warning(
            "%s: %d rows are older than the model's history and left out.", events, int((~kept).sum())
        )
    if json:
        print_json(metrics)
    else:
        print_metrics(metrics)


def print_metrics(metrics: dict[str, Any]) -> None:
    """What `sdgad.evaluate` found, as tables."""
    aside = f", {metrics['unlabelled']:,} without a label" if metrics["unlabelled"] else ""
    facts = [
        ("events", f"{metrics['events']:,} labelled, {metrics['anomalies']:,} of them anomalous{aside}"),
        ("AUROC", shown(metrics["auroc"])),
        ("AP", shown(metrics["ap"])),
        ("threshold", f"{threshold_text(metrics['threshold'])}, reached by {metrics['flagged']:,}"),
        ("precision", shown(metrics["precision"])),
        ("recall", shown(metrics["recall"])),
        ("F1", shown(metrics["f1"])),
        ("FPR", shown(metrics["fpr"])),
    ]
    print_facts(facts)
    if "note" in metrics:
        print(metrics["note"])
    print()
    rows = [
        [
            threshold_text(row["threshold"]) + (" *" if row["calibrated"] else ""),
            row["f1"],
            row["tpr"],
            row["fpr"],
        ]
        for row in metrics["threshold_table"]
    ]
    print_table(["threshold", "F1", "TPR", "FPR"], rows)
    print("* the model's own")
    if metrics.get("by_type"):
        print()
        types = [[name, r["anomalies"], r["recall"], r["auroc"]] for name, r in metrics["by_type"].items()]
        print_table(["type", "anomalies", "recall", "AUROC"], types)


def _need_labels(stream: EventStream, path: Path, expected: str | None) -> None:
    if stream.has_labels:
        return
    found = stream.names.label
    column = "label column" if expected is None else f"label column {expected!r}"
    what = f"no {column}" if found is None else f"no label in column {found!r}"
    raise InputError(f"{path} has {what}, so there is nothing to compare the scores with.")
