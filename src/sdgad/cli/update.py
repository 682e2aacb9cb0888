"""`sdgad update`: last night's events count tonight."""

from __future__ import annotations

from sdgad.cli.naming import naming
from sdgad.cli.opening import open_events, open_model
from sdgad.cli.options import Events, Model, SkipBadRows, Threads


def update(
    model: Model,
    events: Events,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
) -> None:
    """Move a model's history forward.

    These events are past from now on; nothing is learned from them. The folder is replaced in one step; a
    failure leaves it as it was. Rows of the very last moment of the history count as new ones of that moment,
    so the last rows of a file that is given twice enter twice.

    \b
    sdgad score model tonight.csv -o scores.csv
    sdgad update model tonight.csv
    """
    detector = open_model(model)
    before, _ = detector.history_size
    _, stream = open_events(events, detector, bad_rows)
    with naming(events):
        detector.update(stream)
    detector.save(model)
    from sdgad.detectors.card import history_text

    grown = detector.history_size[0] - before
    print(f"{model}: the history grew by {grown:,} to {history_text(detector)}.")
