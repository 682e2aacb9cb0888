"""`sdgad evaluate`: how good the scores of labelled events are."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdgad.cli.manner import Quiet, Verbose
from sdgad.cli.naming import naming
from sdgad.cli.opening import open_events, open_model
from sdgad.cli.options import AllowEmpty, Events, Json, Model, SkipBadRows, Threads
from sdgad.cli.printing import print_facts, print_json, print_table, shown, threshold_text
from sdgad.errors import InputError, NoEventsError

if TYPE_CHECKING:
    from sdgad.events.stream import EventStream
    from sdgad.experiments.scored import ScoredStream

logger = logging.getLogger("sdgad.cli")


def evaluate(
    model: Model,
    events: Events,
    *,
    allow_empty: AllowEmpty = False,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
    json: Json = False,
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Compare scores with labels.

    Prints AUROC, AP, the decisions at the model's threshold and at others, and how well each type is found,
    where a column `anomaly_type` names it. Rows without a label are history and enter no figure.

    \b
    sdgad evaluate model labelled.csv
    """
    from sdgad.experiments.scored_events import scored_events
    from sdgad.metrics import evaluate as measure

    detector = open_model(model)
    try:
        _, stream = open_events(events, detector, bad_rows, labels_needed=True)
    except NoEventsError:
        if not allow_empty:
            raise
        if json:
            print_json(measure([], [], detector.threshold_))
        else:
            print(f"{events} holds no events, so there is nothing to evaluate.")
        return
    _need_labels(stream, events, detector.columns.label)
    with naming(events):
        scored = scored_events(stream, detector.decision_function(stream), detector)
        metrics = measure(scored.label, scored.score, scored.threshold, anomaly_type=scored.anomaly_type)
    late = len(stream) - len(scored)
    if late:
        logger.warning("%s: %d rows are older than the model's history and left out.", events, late)
    if json:
        print_json(metrics)
    else:
        print_metrics(metrics, scored)


def print_metrics(metrics: dict[str, Any], scored: ScoredStream) -> None:
    """What `sdgad.evaluate` found, as tables, and what other thresholds would give."""
    aside = f", {metrics['unlabelled']:,} without a label" if metrics["unlabelled"] else ""
    unknown = scored.alerts - metrics["flagged"]
    more = f", and by {unknown:,} without a label" if unknown else ""
    facts = [
        ("events", f"{metrics['events']:,} labelled, {metrics['anomalies']:,} of them anomalous{aside}"),
        ("AUROC", shown(metrics["auroc"])),
        ("AP", shown(metrics["ap"])),
        ("threshold", f"{threshold_text(metrics['threshold'])}, reached by {metrics['flagged']:,}{more}"),
        ("precision", shown(metrics["precision"])),
        ("recall", shown(metrics["recall"])),
        ("F1", shown(metrics["f1"])),
        ("FPR", shown(metrics["fpr"])),
    ]
    print_facts(facts)
    if "note" in metrics:
        print(metrics["note"])
    _print_choices(scored)
    if metrics.get("by_type"):
        print()
        types = [[name, r["anomalies"], r["recall"], r["auroc"]] for name, r in metrics["by_type"].items()]
        print_table(["type", "anomalies", "recall", "AUROC"], types)


def _print_choices(scored: ScoredStream) -> None:
    """Thresholds by the share of events that they flag, where there is a choice; a rate per day takes a day or more."""
    from sdgad.experiments.threshold_choices import threshold_choices

    choices = threshold_choices(scored)
    if len(choices) == 1:
        return
    daily = scored.days >= 1
    head = ["flagged", "threshold", "alerts", *(["per day"] if daily else []), "precision", "recall"]
    rows = [
        [
            f"{100 * choice.share:.3g}%" + (" *" if choice.used else ""),
            threshold_text(choice.threshold) if choice.used else repr(choice.threshold),
            choice.alerts,
            *([f"{choice.per_day:,.1f}"] if daily else []),
            choice.precision,
            choice.recall,
            choice.false_alarms,
        ]
        for choice in choices
    ]
    print()
    print_table([*head, "false alarms"], rows)
    print("* the model's own threshold; sdgad threshold MODEL VALUE sets another")
    if scored.labelled < len(scored):
        print(f"precision, recall and false alarms are those of the {scored.labelled:,} labelled events")


def _need_labels(stream: EventStream, path: Path, expected: str | None) -> None:
    if stream.has_labels:
        return
    found = stream.names.label
    column = "label column" if expected is None else f"label column {expected!r}"
    what = f"no {column}" if found is None else f"no label in column {found!r}"
    raise InputError(f"{path} has {what}, so there is nothing to compare the scores with.")
