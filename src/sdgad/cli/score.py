"""`sdgad score`: the same rows with a score, a decision and a p-value."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sdgad.cli.naming import naming
from sdgad.cli.opening import open_events, open_model
from sdgad.cli.options import Events, Explain, Model, ScoresOut, SkipBadRows, Threads
from sdgad.cli.places import need_another_file, need_place_for_file
from sdgad.cli.printing import number_of, threshold_text
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.detectors.explaining.findings import Findings
    from sdgad.events.stream import Array

logger = logging.getLogger("sdgad.cli")


def score(
    model: Model,
    events: Events,
    *,
    output: ScoresOut,
    explain: Explain = False,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
) -> None:
    """Score every event of a file.

    SCORES holds the rows of EVENTS in their order, with three more columns: `score` (0 to 1, higher is more
    anomalous), `anomaly` (1 where the score reaches the model's threshold) and `p_value` (how rare such a
    score is among normal events). Scoring continues from the end of the model's history and leaves the model
    as it is; `sdgad update` moves the history forward. With --explain there is a fourth, `why`: what is unusual
    about an event that is anomalous, in words, and nothing for the others. A row that --bad-rows skip sets aside
    has none of these.

    \b
    sdgad score model new.csv -o scores.csv
    """
    import numpy as np

    from sdgad.events.write import write_table
    from sdgad.experiments.score_table import need_room_for_scores, with_scores

    if str(output) == "-":
        raise InputError("score writes a file, by its suffix; for pipes there is sdgad stream.")
    need_place_for_file(output)
    need_another_file(output, events)
    detector = open_model(model)
    table, stream = open_events(events, detector, bad_rows)
    need_room_for_scores(table, detector.columns, str(events), explained=explain)
    with naming(events):
        found = detector.findings(stream) if explain else None
        scored = detector.decision_function(stream) if found is None else found.scores
        scores, why = np.full(table.num_rows, np.nan), None
        scores[stream.row] = scored
        if found is not None:
            reasons = np.full(table.num_rows, None, object)
            reasons[stream.row] = _reasons(found, detector.threshold_)
            why = reasons.tolist()
    write_table(with_scores(table, detector, scores, str(events), why), output)
    late = int(np.isnan(scored).sum())
    if late:
        logger.warning("%s: %d rows are older than the model's history and have no score.", events, late)
    flagged = int((scores >= detector.threshold_).sum())
    threshold = threshold_text(detector.threshold_)
    print(
        f"{output}: {number_of(len(scored) - late, 'event')} scored, {flagged:,} anomalous (score ≥ {threshold})."
    )


def _reasons(found: Findings, threshold: float) -> Array:
    """A sentence for every event that reaches the threshold, in the order of the stream."""
    import numpy as np

    flagged = np.flatnonzero(found.scores >= threshold)
    why = np.full(len(found.scores), None, object)
    why[flagged] = [str(one) for one in found.explanations(flagged)]
    return why
