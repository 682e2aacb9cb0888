"""`sdgad report`: one page on a scored stream."""

from __future__ import annotations

import logging
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdgad.cli.manner import Quiet, Verbose
from sdgad.cli.naming import naming
from sdgad.cli.notes import tell
from sdgad.cli.opening import open_events, open_model
from sdgad.cli.options import AllowEmpty, Events, Model, SkipBadRows, Threads
from sdgad.cli.places import need_place_for_page
from sdgad.cli.printing import threshold_text
from sdgad.errors import NoEventsError

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector
    from sdgad.events.stream import EventStream

logger = logging.getLogger("sdgad.cli")


def report(
    model: Model,
    events: Events,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PAGE", help="The page to write: a name with .html.")
    ],
    allow_empty: AllowEmpty = False,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Write a web page on the scores of a file.

    PAGE shows the scores over time and the top alerts, each with what is unusual about it and with what names its row in
    the file (a payment_id); whether false alarms
    are as rare as was asked, and how the scores have drifted since the model was fitted; and, where there are
    labels, precision and recall. It is one file without scripts or links, to open in any browser or to send around.

    \b
    sdgad report model new.csv -o report.html
    """
    from sdgad.detectors.base import used_to_fit_note
    from sdgad.detectors.trust import unexpected_alerts
    from sdgad.experiments.drawing import can_draw
    from sdgad.experiments.identifiers import identifiers
    from sdgad.experiments.report import write_empty_report, write_report
    from sdgad.experiments.scored_events import scored_events
    from sdgad.metrics import evaluate

    need_place_for_page(output)
    detector = open_model(model)
    title = f"Anomalies in {events.name}"
    try:
        table, stream = open_events(events, detector, bad_rows)
    except NoEventsError:
        if not allow_empty:
            raise
        write_empty_report(output, title)
        print(f"{output}: {events} holds no events.")
        return
    tell(f"scoring {len(stream):,} events")
    with naming(events):
        findings = detector.findings(stream)
        scored = scored_events(stream, findings.scores, detector, findings, identifiers(table, stream))
    tell("writing the page")
    metrics = None
    if scored.labelled:
        metrics = evaluate(scored.label, scored.score, scored.threshold, anomaly_type=scored.anomaly_type)
    late, seen = len(stream) - len(scored), detector.used_to_fit(stream)
    command = shlex.join(["sdgad", "report", str(model), str(events), "-o", str(output)])
    write_report(
        output,
        scored,
        title=title,
        facts=[*_facts(model, detector, stream, late, table.num_rows - len(stream)), ("command", command)],
        metrics=metrics,
        validation=detector.validation,
        warnings=[
            *([used_to_fit_note(seen, len(scored))] if seen else []),
            *(
                [unexpected]
                if (unexpected := unexpected_alerts(detector, scored.alerts, len(scored)))
                else []
            ),
        ],
    )
    if late:
        logger.warning("%s: %d rows are older than the model's history and left out.", events, late)
    if not can_draw():
        logger.warning("%s has no figures: they need matplotlib, pip install 'sdgad[report]'.", output)
    threshold = threshold_text(scored.threshold)
    print(f"{output}: {len(scored):,} events scored, {scored.alerts:,} anomalous (score ≥ {threshold}).")


def _facts(
    model: Path, detector: Detector, stream: EventStream, late: int, aside: int
) -> list[tuple[str, str]]:
    """What the page says of model and events."""
    from sdgad.experiments.scored_events import listed_features

    size, nodes = detector.history_size
    features, listed = len(stream.features), len(listed_features(stream))
    facts = [
        ("model", f"{model}, detector {detector.name}, with a history of {size:,} events of {nodes:,} nodes"),
        (
            "threshold",
            f"{threshold_text(detector.threshold_)}, rule: {detector.threshold_rule_}, from validation",
        ),
        (
            "validation",
            f"{len(detector.validation):,} events, {int(detector.validation.anomaly.sum()):,} known anomalies",
        ),
    ]
    if features > listed:
        which = f"the first {listed} are" if listed else "too many to be"
        facts.append(("features", f"{features}, {which} listed with the alerts"))
    if late:
        facts.append(("left out", f"{late:,} rows that are older than the model's history"))
    if aside:
        facts.append(("set aside", f"{aside:,} rows that cannot be used"))
    return facts
