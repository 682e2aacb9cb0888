"""`sdgad score`: the same rows with a score, a decision and a p-value."""

from __future__ import annotations

import logging
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from sdgad.cli.manner import Quiet, Verbose
from sdgad.cli.naming import naming
from sdgad.cli.notes import mention
from sdgad.cli.opening import no_rows, open_events, open_model
from sdgad.cli.options import AllowEmpty, Events, Explain, Model, ScoresOut, SkipBadRows, Threads
from sdgad.cli.places import need_another_file, need_place_for_file
from sdgad.cli.printing import number_of, threshold_text
from sdgad.errors import InputError, NoEventsError

if TYPE_CHECKING:
    import pyarrow as pa

    from sdgad.detectors.base import Detector
    from sdgad.detectors.explaining.findings import Findings
    from sdgad.events.stream import Array, EventStream

logger = logging.getLogger("sdgad.cli")

STDOUT = Path("-")


class Format(StrEnum):
    """What can go into a pipe."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"


Top = Annotated[
    int | None, Option("--top", metavar="N", min=1, help="Only the N highest scores, the highest first.")
]
AlertsOnly = Annotated[bool, Option("--alerts-only", help="Only rows with anomaly 1.")]
PipeFormat = Annotated[
    Format | None,
    Option("--format", help="What goes to stdout with `-o -`; files have a suffix.", show_default="csv"),
]


def score(
    model: Model,
    events: Events,
    *,
    output: ScoresOut,
    explain: Explain = False,
    top: Top = None,
    alerts_only: AlertsOnly = False,
    form: PipeFormat = None,
    allow_empty: AllowEmpty = False,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Score every event of a file.

    SCORES holds the rows of EVENTS in their order, with all their columns and three more: `score` (0 to 1, higher is more
    anomalous), `anomaly` (1 where the score reaches the model's threshold) and `p_value` (how rare such a
    score is among normal events). Scoring continues from the end of the model's history and leaves the model
    as it is; `sdgad update` moves the history forward. With --explain there is a fourth, `why`: what is unusual
    about an event that is anomalous (with --top: about every row that is listed), in words, and nothing for the others. A row
    that --bad-rows skip sets aside has none of these.

    \b
    sdgad score model new.csv -o scores.csv
    sdgad score model new.csv -o alerts.csv --alerts-only --explain
    sdgad score model new.csv -o - --top 20 | column -s, -t
    """
    import numpy as np

    from sdgad.experiments.score_table import (
        listed_rows,
        names_with_scores,
        need_names_for_scores,
        with_scores,
    )

    if output != STDOUT:
        if form is not None:
            raise InputError(f"--format goes with -o -; {output} is written by its suffix.")
        need_place_for_file(output)
        need_another_file(output, events)
    detector = open_model(model)
    try:
        table, stream = open_events(events, detector, bad_rows)
    except NoEventsError:
        if not allow_empty:
            raise
        _write_nothing(detector, events, output, form, explain)
        return
    need_names_for_scores(detector.columns, str(events), explained=explain)
    _need_room_for_names(names_with_scores(table, explained=explain), output, form)
    with naming(events):
        found = detector.findings(stream) if explain else None
        scores = np.full(table.num_rows, np.nan)  # of rows that are set aside, too
        scores[stream.row] = scored = detector.decision_function(stream) if found is None else found.scores
        rows = listed_rows(scores, detector.threshold_, top=top, alerts_only=alerts_only)
        why = None
        if found is not None:
            explained = scores >= detector.threshold_
            if top is not None:
                explained[rows] = True
            why = _reasons(found, stream, explained)
    _write(with_scores(table, detector, scores, str(events), why).take(rows), output, form)
    _tell(detector, events, output, scored, None if top is None and not alerts_only else len(rows))


def _need_room_for_names(names: list[str], output: Path, form: Format | None) -> None:
    """Before any event is scored: what the writer would refuse."""
    from sdgad.events.table import file_format
    from sdgad.events.write import need_room_for_names

    if output == STDOUT:
        need_room_for_names(names, (form or Format.csv).value)
    else:
        need_room_for_names(names, file_format(output), str(output))


def _write(table: pa.Table, output: Path, form: Format | None) -> None:
    from sdgad.events.write import write_rows, write_table

    if output != STDOUT:
        write_table(table, output)
    elif sys.stdout is None:
        raise InputError("There is no standard output to write scores to.")
    else:
        write_rows(table, sys.stdout.buffer, (form or Format.csv).value)


def _write_nothing(
    detector: Detector, events: Path, output: Path, form: Format | None, explained: bool
) -> None:
    """A file without rows, for whoever reads it next."""
    import numpy as np

    from sdgad.experiments.score_table import with_scores

    table = with_scores(
        no_rows(events, detector), detector, np.empty(0), str(events), [] if explained else None
    )
    _write(table, output, form)
    _result(f"{output}: {events} holds no events, so there are no scores.", output)


def _tell(detector: Detector, events: Path, output: Path, scores: Array, listed: int | None) -> None:
    import numpy as np

    from sdgad.detectors.trust import unexpected_alerts

    late = int(np.isnan(scores).sum())
    if late:
        logger.warning("%s: %d rows are older than the model's history and have no score.", events, late)
    flagged = int((scores >= detector.threshold_).sum())
    if problem := unexpected_alerts(detector, flagged, len(scores) - late):
        logger.warning("%s: %s", events, problem)
    threshold = threshold_text(detector.threshold_)
    written = "" if listed is None else f", {number_of(listed, 'row')} written"
    _result(
        f"{output}: {number_of(len(scores) - late, 'event')} scored, {flagged:,} anomalous "
        f"(score ≥ {threshold}){written}.",
        output,
    )


def _result(line: str, output: Path) -> None:
    """On stdout, unless the scores themselves are there."""
    if output == STDOUT:
        mention(line.removeprefix(f"{STDOUT}: "))
    else:
        print(line)


def _reasons(found: Findings, stream: EventStream, explained: Array) -> list[str | None]:
    """A sentence for some of the rows of the input, each of which is in the stream."""
    import numpy as np

    place = np.zeros(len(explained), np.int64)  # of each row of the input in the stream
    place[stream.row] = np.arange(len(stream))
    rows = np.flatnonzero(explained)
    why = np.full(len(place), None, object)
    why[rows] = [str(one) for one in found.explanations(place[rows])]
    listed: list[str | None] = why.tolist()
    return listed
