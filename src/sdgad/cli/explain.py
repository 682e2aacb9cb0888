"""`sdgad explain`: why the top events of a file have their scores."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdgad.cli.manner import Quiet, Verbose
from sdgad.cli.naming import naming
from sdgad.cli.opening import open_events, open_model
from sdgad.cli.options import AllowEmpty, Events, Json, Model, SkipBadRows, Threads
from sdgad.cli.printing import number_of, print_json, threshold_text
from sdgad.errors import NoEventsError

if TYPE_CHECKING:
    from sdgad.detectors.explaining.explanation import Explanation
    from sdgad.experiments.scored import ScoredStream

logger = logging.getLogger("sdgad.cli")

TOLD = 8  # kinds of evidence


def explain(
    model: Model,
    events: Events,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="So many events, the highest scores first.")
    ] = 20,
    *,
    allow_empty: AllowEmpty = False,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
    json: Json = False,
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Say why events have their scores.

    Prints the events with the highest scores: row in the file, who, when, score and p-value; in words what is most unusual
    about it for its two ends; and the kinds of evidence, where the detector has such, with how rare so much of each is
    among normal events. The model stays as it is.

    \b
    sdgad explain model new.csv --top 5
    """
    import numpy as np

    from sdgad.experiments.identifiers import identifiers
    from sdgad.experiments.scored_events import scored_events

    detector = open_model(model)
    try:
        table, stream = open_events(events, detector, bad_rows)
    except NoEventsError:
        if not allow_empty:
            raise
        if json:
            print_json({"model": str(model), "threshold": detector.threshold_, "events": []})
        else:
            print(f"{events} holds no events, so there is nothing to explain.")
        return
    with naming(events):
        found = detector.findings(stream)
        scored = scored_events(stream, found.scores, detector, ids=identifiers(table, stream))
    rows = scored.top(top).tolist()
    kept = np.flatnonzero(~np.isnan(found.scores))
    explanations = found.explanations(kept[rows])
    if late := len(stream) - len(scored):
        logger.warning("%s: %d rows are older than the model's history and left out.", events, late)
    if json:
        told = [_document(scored, row, one) for row, one in zip(rows, explanations, strict=True)]
        print_json({"model": str(model), "threshold": scored.threshold, "events": told})
    else:
        _print(events, scored, rows, explanations)


def _document(scored: ScoredStream, row: int, explanation: Explanation) -> dict[str, Any]:
    return {
        "row": _number(scored, row),
        **({"ids": {name: column[row] for name, column in scored.ids.items()}} if scored.ids else {}),
        "source": scored.source[row],
        "destination": scored.destination[row],
        "time": scored.moment(row),
        "anomaly": int(scored.score[row] >= scored.threshold),
        **explanation.to_dict(),
    }


def _print(events: Path, scored: ScoredStream, rows: list[int], explanations: list[Explanation]) -> None:
    for row, explanation in zip(rows, explanations, strict=True):
        verdict = "anomalous" if scored.score[row] >= scored.threshold else "below the threshold"
        ids = ", ".join(f"{name} {column[row]}" for name, column in scored.ids.items())
        print(
            f"row {_number(scored, row):,}{f' ({ids})' if ids else ''}: "
            f"{scored.source[row]} → {scored.destination[row]}, {scored.moment(row)}"
        )
        print(f"  score {explanation.score:.6g}, p-value {explanation.p_value:.2g}: {verdict}")
        print(f"  {explanation}")
        kinds = [f"{kind.name} {_rare(kind.nats)}" for kind in explanation.evidence if kind.contribution > 0]
        if kinds:
            print(f"  evidence: {first_of(kinds)}")
        print()
    shown = f"; above are the top {len(rows):,}" if len(rows) < len(scored) else ""
    print(
        f"{events}: {number_of(len(scored), 'event')} scored, {scored.alerts:,} anomalous "
        f"(score ≥ {threshold_text(scored.threshold)}){shown}."
    )


def first_of(kinds: Sequence[str]) -> str:
    """The first eight, and how many say less; `--json` has them all."""
    rest = len(kinds) - TOLD
    return ", ".join([*kinds[:TOLD], f"and {rest} that say less"] if rest > 1 else kinds)


def _rare(nats: float) -> str:
    """One in so many normal events has as much of it."""
    many = math.exp(min(max(nats, 0.0), 30.0))
    return f"1 in {float(f'{many:.2g}'):,.0f}" if many >= 10 else f"1 in {many:.2g}"


def _number(scored: ScoredStream, row: int) -> int:
    """Of the event in its file, from 1."""
    return row + 1 if scored.row is None else int(scored.row[row]) + 1
