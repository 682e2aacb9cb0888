"""`sdgad stream`: events come line by line and are answered at once."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdgad.cli.naming import naming
from sdgad.cli.opening import open_model
from sdgad.cli.options import Explain, Model, Threads, names
from sdgad.cli.standard_streams import not_open
from sdgad.cli.telling_once import telling_once
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector
    from sdgad.detectors.live import LiveScorer
    from sdgad.serving.ahead import Ahead
    from sdgad.serving.line_source import LineSource

EVERY = 1000
STOPPED_BY_SIGNAL = 128


class Late(StrEnum):
    """What becomes of an event that is older than the newest one."""

    score = "score"
    drop = "drop"
    error = "error"


class Flagged(StrEnum):
    """Whether events that reach the threshold become history."""

    keep = "keep"
    skip = "skip"


def stream(
    model: Model,
    state: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the state here; a later start goes on where this one ends."),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Lines between snapshots of the state.", show_default=str(EVERY)
        ),
    ] = None,
    continued: Annotated[
        bool,
        typer.Option("--continued", help="The input begins after the lines that DIR has consumed."),
    ] = False,
    acks: Annotated[
        Path | None,
        typer.Option(
            metavar="PIPE",
            help="Count lines as done once the reader writes their numbers into this named pipe.",
        ),
    ] = None,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Lines to score together, if so many are waiting.")
    ] = 1,
    echo: Annotated[
        str | None, typer.Option(metavar="KEY,KEY", help="Keys of a line to repeat in its answer.")
    ] = None,
    late: Annotated[
        Late | None,
        typer.Option(help="What to do with an event older than the newest.", show_default="the model's"),
    ] = None,
    flagged: Annotated[
        Flagged, typer.Option(help="Whether events that reach the threshold become history.")
    ] = Flagged.keep,
    max_ahead: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Refuse events that are further ahead of this machine's clock (if times are no wall clock: of the newest "
            "event).",
            show_default="a day on wall clocks",
        ),
    ] = None,
    max_gap: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Refuse events that are further ahead of the newest: for old events.",
        ),
    ] = None,
    max_nodes: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Remember at most so many nodes.")
    ] = None,
    max_age: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Forget nodes and pairs that were silent for longer."),
    ] = None,
    explain: Explain = False,
    threads: Threads = None,  # noqa: ARG001
) -> None:
    """Score events as they arrive.

    Reads one JSON object per line, with the keys that the model was fitted on, and writes one per line, at once:
    {"line": 7, "score": 0.93, "anomaly": 1, "p_value": 0.002}, or {"line": 8, "error": "…"} for a line that
    cannot be used; with --explain, the answers of anomalous events say "why". Every event is history for the
    next one. With --state, start it again with the same input after any stop or crash: it goes on with the first
    line that has not been counted as done, and lines that it answers twice get the same answer (with --batch, the
    same to 1e-5). With --acks, lines are done when the reader of the answers says so. The model stays as it is.

    \b
    sdgad stream model < events.jsonl > scores.jsonl
    tail -n +1 -f events.jsonl | sdgad stream model --state state --echo id >> scores.jsonl
    """
    from sdgad.serving.acknowledgements import Acknowledgements
    from sdgad.serving.consumed import Consumed
    from sdgad.serving.line_loop import answer_lines
    from sdgad.serving.line_scorer import LineScorer
    from sdgad.serving.line_source import LineSource
    from sdgad.serving.state_folder import StateFolder

    for option, given in (("continued", continued), ("every", every is not None), ("acks", acks is not None)):
        if state is None and given:
            raise InputError(f"--{option} needs --state.")
    if sys.stdin is None:
        raise InputError("There is no standard input to read events from.")
    if not_open(sys.stdout):
        raise InputError("There is no standard output to write answers to.")
    with ExitStack() as open_things:
        enter = open_things.enter_context
        enter(telling_once())
        detector = open_model(model)
        bounds = {"max_nodes": max_nodes, "max_age": max_age}
        detector.set_params(**{name: bound for name, bound in bounds.items() if bound is not None})
        live = detector.live(
            late=None if late is None else late.value, flagged=flagged.value, explain=explain
        )
        scorer = LineScorer(live, echo=names(echo) or (), explain=explain)
        heard = None if acks is None else enter(Acknowledgements(acks))
        folder = None if state is None else enter(StateFolder(state, live, every=every or EVERY, acks=heard))
        source = enter(LineSource(sys.stdin.fileno()))
        stopped = enter(stopping(source))
        consumed = Consumed()
        if folder is not None and state is not None:
            consumed = folder.resume()
            if not continued:
                with naming(state), or_continued():
                    consumed.skip(source)
            if consumed.lines:
                print(f"{state}: {consumed.lines:,} lines are done; goes on with the next.", file=sys.stderr)
        scorer.ahead = ahead_of(live, max_ahead, max_gap)  # once the history is where it was
        if sys.stdin.isatty():
            print(f"Waiting for lines like {example(detector)}; Ctrl-D ends.", file=sys.stderr)
        rest = consumed.lines > 0 and not continued  # of an input that was good for something before
        try:
            tally = answer_lines(source, scorer, sys.stdout.buffer, consumed, batch=batch, state=folder)
        except BrokenPipeError:
            if heard is not None:
                print(f"The reader has gone; it has acknowledged line {heard.line:,}.", file=sys.stderr)
            raise
        if not rest and 0 < tally.errors == tally.answered and not stopped:
            raise InputError(f"No line of {tally.answered:,} could be used; the first: {tally.first}")
        if tally.errors:
            print(f"{tally.errors:,} of {tally.answered:,} lines could not be used.", file=sys.stderr)
    if stopped:
        saved = "" if state is None else f"; {state} holds the state"
        print(f"Stopped after line {consumed.lines}{saved}.", file=sys.stderr)
        raise typer.Exit(STOPPED_BY_SIGNAL + stopped[0])


@contextmanager
def stopping(source: LineSource) -> Iterator[list[int]]:
    """SIGINT and SIGTERM let the current line be finished, a second one does not; yields what was caught."""
    caught: list[int] = []

    def stop(number: int, _: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        source.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def or_continued() -> Iterator[None]:
    """Who gives another input may have meant that it goes on."""
    try:
        yield
    except InputError as problem:
        sentence = str(problem).removesuffix(".")
        raise InputError(f"{sentence}; with --continued it begins after them.") from None


def ahead_of(live: LiveScorer, max_ahead: float | None, max_gap: float | None) -> Ahead:
    """How far in the future events may be; where the history is further itself, only who says so compares them with this
    machine's clock."""
    from sdgad.serving.ahead import A_DAY, Ahead, span

    clock, column = live.detector.clock, live.detector.columns.time
    if not clock.wall_clock:
        return Ahead(clock, column, of_newest=_least(max_ahead, max_gap))
    bound = A_DAY if max_ahead is None else max_ahead
    already = 0.0 if live.newest is None else live.newest * clock.seconds - time.time()
    if already <= bound:
        return Ahead(clock, column, of_now=bound, of_newest=max_gap)
    then = (
        "are not compared with it"
        if max_ahead is None
        else f"more than {span(bound)} ahead of it are refused"
    )
    print(
        f"The history ends {span(already)} ahead of this machine's clock; events {then}.",
        file=sys.stderr,
        flush=True,
    )
    return Ahead(clock, column, of_now=max_ahead, of_newest=max_gap)


def _least(*bounds: float | None) -> float | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def example(detector: Detector) -> str:
    """A line for someone who types."""
    columns = detector.columns
    return json.dumps(
        dict.fromkeys((columns.src, columns.dst, columns.time, *columns.features), "…"),
        ensure_ascii=False,
    )
