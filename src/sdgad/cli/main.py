"""`sdgad`: finds the command, prints errors as one sentence, decides the exit code."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

import sdgad
from sdgad.cli.data import data
from sdgad.cli.demo import demo
from sdgad.cli.evaluate import evaluate
from sdgad.cli.explain import explain
from sdgad.cli.fit import fit
from sdgad.cli.info import info
from sdgad.cli.inject import inject
from sdgad.cli.interruption import INTERRUPTED, TERMINATED, Interruptions, Terminated
from sdgad.cli.listing import listing
from sdgad.cli.manner import begin_plainly
from sdgad.cli.notes import Notes
from sdgad.cli.report import report
from sdgad.cli.score import score
from sdgad.cli.standard_streams import empty_output, open_closed_streams
from sdgad.cli.stream import stream
from sdgad.cli.threshold import threshold
from sdgad.cli.update import update
from sdgad.errors import SdgadError

FAILED, BAD_INPUT = 1, 2

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for wrong options and missing arguments, from whichever click it brought along."""

app = typer.Typer(name="sdgad", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in (demo, fit, score, evaluate, update, threshold, report, explain, stream, info, inject):
    app.command()(command)
app.command("list")(listing)
app.add_typer(data, name="data")


@app.callback(invoke_without_command=True)
def welcome(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Find anomalies in streams of interactions: who, with whom, when, with what features.

    \b
    sdgad demo                                  see it work on simulated payments
    sdgad fit events.csv -o model               learn, with or without labels
    sdgad score model new.csv -o scores.csv     the same rows with score, anomaly and p_value
    sdgad stream model < events.jsonl           one by one, as they come
    sdgad report model new.csv -o report.html   a page on the scores: alerts, calibration, drift
    sdgad explain model new.csv                 why: the top events, and the habits that they break
    sdgad data list                             public datasets; sdgad inject puts anomalies into any stream
    sdgad COMMAND --help                        more, and an example
    """
    if version:
        print(f"sdgad {sdgad.__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str], interruptions: Interruptions | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for input that cannot be used, 130 after Ctrl-C, 143 after SIGTERM."""
    notes = Notes()
    begin_plainly()
    try:
        with notes.listening():
            command = typer.main.get_command(app)
            code: int | None = command.main(list(arguments), prog_name="sdgad", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
            if code != INTERRUPTED:  # which is what typer makes of Ctrl-C
                notes.tell()
                return code or 0
            number = signal.SIGINT
    except SdgadError as problem:
        return _refuse(str(problem))
    except UsageError as problem:
        sentence: str = problem.format_message()  # type: ignore[attr-defined]
        return _refuse(sentence.replace("Value error, ", ""))  # typer's own words, which say nothing
    except BrokenPipeError:  # the reader has seen enough
        empty_output()
        return FAILED
    except OSError as problem:
        empty_output()
        where = "" if problem.filename is None else f"{problem.filename}: "
        return _refuse(f"{where}{problem.strerror or problem}")
    except (typer.Abort, KeyboardInterrupt):
        number, code = signal.SIGINT, INTERRUPTED
    except Terminated:
        number, code = signal.SIGTERM, TERMINATED
    (interruptions or Interruptions()).close(number)
    return code


def _refuse(problem: str) -> int:
    """One sentence on one line, whatever line breaks a library put into it."""
    sentence = " ".join(problem.split())
    print(sentence if sentence.endswith((".", "?", "!")) else f"{sentence}.", file=sys.stderr)
    return BAD_INPUT


def main() -> None:
    """What the user typed, in a process of its own."""
    open_closed_streams()
    if not sys.warnoptions:  # Python's warnings are for programmers; ours come through logging
        warnings.simplefilter("ignore")
    for output in (sys.stdout, sys.stderr):  # ids and paths may not suit the terminal
        output.reconfigure(errors="replace")  # type: ignore[union-attr]
    interruptions = Interruptions()
    with interruptions.watching():
        code = run(sys.argv[1:], interruptions)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
