"""`sdgad update`: last night's events count tonight."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from sdgad.cli.manner import Quiet, Verbose
from sdgad.cli.naming import naming
from sdgad.cli.opening import open_events, open_model, open_to_change
from sdgad.cli.options import AllowEmpty, Model, SkipBadRows, Threads, Wait
from sdgad.errors import InputError, NoEventsError

MaybeEvents = Annotated[
    Path | None,
    Argument(metavar="EVENTS", help="Parquet, CSV, TSV or JSON lines, one event per row; none with --undo."),
]
Undo = Annotated[bool, Option("--undo", help="Take the last update back; there is no second step.")]


def update(
    model: Model,
    events: MaybeEvents = None,
    *,
    undo: Undo = False,
    wait: Wait = None,
    allow_empty: AllowEmpty = False,
    bad_rows: SkipBadRows = None,
    threads: Threads = None,  # noqa: ARG001
    quiet: Quiet = False,  # noqa: ARG001
    verbose: Verbose = False,  # noqa: ARG001
) -> None:
    """Move a model's history forward.

    These events are past from now on; nothing is learned from them. The folder is replaced in one step, once the
    new model was read back; a failure leaves it as it was. Two updates of one model at a time come one after the
    other. Rows of the very last moment of the history count as new ones of that moment, so the last rows of a file
    that is given twice enter twice. `--undo` brings the model before the last update back, unless something else
    (a new threshold, a new fit) has changed it since.

    \b
    sdgad score model tonight.csv -o scores.csv
    sdgad update model tonight.csv
    sdgad update model --undo
    """
    if undo:
        _undo(model, events, wait)
        return
    if events is None:
        raise InputError("Missing argument 'EVENTS': say which events, or --undo.")
    from sdgad.detectors.card import history_text

    with open_to_change(model, wait) as detector:
        before, _ = detector.history_size
        try:
            _, stream = open_events(events, detector, bad_rows)
        except NoEventsError:
            if not allow_empty:
                raise
            print(f"{model}: {events} holds no events, so the history stays as it is.")
            return
        with naming(events):
            detector.update(stream)
        detector.save(model, undo=True)
    grown = detector.history_size[0] - before
    print(f"{model}: the history grew by {grown:,} to {history_text(detector)}.")


def _undo(model: Path, events: Path | None, wait: float | None) -> None:
    if events is not None:
        raise InputError(f"--undo takes the last update back, whatever its events were: leave {events} out.")
    from sdgad.detectors.card import history_text
    from sdgad.detectors.registry import undo_update

    with open_to_change(model, wait):
        undo_update(model)
        detector = open_model(model)
    print(f"{model}: the last update is undone, the history is again {history_text(detector)}.")
