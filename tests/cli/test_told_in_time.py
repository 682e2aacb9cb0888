"""What can be trusted, how a training gets on, that it was interrupted: told when it is of use, and to whom it is."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest

import sdgad as library
from sdgad.cli.interruption import Interruptions
from sdgad.cli.main import run
from sdgad.cli.manner import Manner, manner
from sdgad.detectors.classifier import Classifier
from sdgad.events.stream import EventStream
from sdgad.events.write import write_events

from .conftest import Command, environment

ROOT = Path(__file__).parents[2]
FOREST = ("--detector", "isolation-forest")
TINY = ("--detector", "classifier", "--set", "history=3", "--set", "width=8", "--epochs", "2")


# ---------------------------------------------------------------------- labels
def with_column(path: Path, name: str, values: list[object], source: Path) -> Path:
    lines = source.read_text().splitlines()
    head, *rows = [line.split(",")[:3] for line in lines]
    text = [",".join([*row, str(value)]) for row, value in zip(rows, values, strict=False)]
    path.write_text("\n".join([",".join([*head, name]), *text]) + "\n")
    return path


def test_a_forgotten_label_is_asked_about_by_its_option(sdgad: Command, files: Path, tmp_path: Path) -> None:
    values: list[object] = [int(i % 20 == 0) for i in range(450)]
    events = with_column(tmp_path / "x.csv", "flagged_by_bank", values, files / "past.csv")
    said = sdgad("fit", events, "-o", tmp_path / "m", *FOREST).err
    assert "column 'flagged_by_bank' looks like a label (0, 1 or empty) and is not used" in said
    assert "name it with --label." in said
    assert "as features" not in said


@pytest.mark.parametrize("name", ["y", "edge_label", "label"])
def test_a_column_that_is_merely_called_like_a_label_refuses_no_file(
    sdgad: Command, files: Path, tmp_path: Path, name: str
) -> None:
    """`fit` leaves out a `y` of other things, and so do all that need no label; `label` may first come the next day."""
    odd: list[object] = [f"{i % 7}.5" for i in range(450)]
    past = with_column(tmp_path / "past.csv", "x" if name == "label" else name, odd, files / "past.csv")
    new = with_column(tmp_path / "new.csv", name, odd, files / "new.csv")
    assert sdgad("fit", past, "-o", tmp_path / "m", *FOREST).code == 0
    for command in (
        ("score", tmp_path / "m", new, "-o", tmp_path / "s.csv"),
        ("report", tmp_path / "m", new, "-o", tmp_path / "r.html"),
        ("explain", tmp_path / "m", new, "--top", 1),
        ("update", tmp_path / "m", new),
    ):
        done = sdgad(*command)
        assert done.code == 0, done.err
        assert f"column {name!r} holds other values than 0, 1 and empty" in done.err
    assert f",{name},score," in (tmp_path / "s.csv").read_text().splitlines()[0]
    refused = sdgad("evaluate", tmp_path / "m", new)
    assert refused.code == 2
    assert ("column 'label', row 1" if name == "label" else "no label column") in refused.err


# ---------------------------------------------------------------------- what can be trusted
def test_a_fit_on_few_events_says_what_cannot_be_trusted(
    sdgad: Command, payments: EventStream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_events(payments[:50], tmp_path / "x.csv")
    doubts = (
        "40 training events are few",
        "10 validation events cannot tell 1%",
        "no p-value is below 0.091",
    )
    said = sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *FOREST, "--labels", "none")
    for text in (said.err, sdgad("info", tmp_path / "m").out, (tmp_path / "m" / "card.md").read_text()):
        assert all(doubt in text for doubt in doubts)
    assert len(json.loads(sdgad("info", tmp_path / "m", "--json").out)["doubts"]) == 2
    detector = library.load(tmp_path / "m")
    assert detector.p_value([0.999999])[0] == 1 / 11
    library.make_detector("isolation-forest").fit(payments[:50])
    assert all(doubt in caplog.text for doubt in doubts[:2])


def test_machines_get_every_doubt_that_the_text_has(
    sdgad: Command, payments: EventStream, tmp_path: Path
) -> None:
    write_events(payments[:300], tmp_path / "x.csv")  # few events, and among them few anomalies
    fit = ("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *FOREST)
    told = json.loads(sdgad(*fit, "--json").out)["doubts"]
    assert told == json.loads(sdgad("info", tmp_path / "m", "--json").out)["doubts"]
    hedges = ("training events are few", "cannot tell 1%", "seen by fit, so optimistic", "too few to trust")
    for text in ("\n".join(told), sdgad("info", tmp_path / "m").out):
        assert [text.count(hedge) for hedge in hedges] == [1, 1, 1, 1]
    assert json.loads(sdgad("threshold", tmp_path / "m", "--json").out)["doubts"] == []
    (fine,) = json.loads(sdgad("threshold", tmp_path / "m", "fpr", "0.001", "--json").out)["doubts"]
    assert fine in sdgad("threshold", tmp_path / "m").out
    assert "cannot tell 0.001" in fine


def test_a_fit_on_enough_events_has_no_doubts(sdgad: Command, tmp_path: Path) -> None:
    write_events(library.simulate_payments(1200, seed=0), tmp_path / "x.csv")
    said = sdgad(
        "fit", tmp_path / "x.csv", "-o", tmp_path / "m", "--detector", "midas", "--features", "amount,channel"
    )
    assert (said.code, said.err) == (0, "")
    assert "doubt" not in sdgad("info", tmp_path / "m").out


# ---------------------------------------------------------------------- how much is said
def test_off_a_terminal_every_epoch_is_a_line_at_once(sdgad: Command, files: Path, tmp_path: Path) -> None:
    fit = ("fit", files / "past.csv", "-o", tmp_path / "m", "--features", "amount,channel", *TINY)
    lines = sdgad(*fit).err.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["epoch 1", "epoch 2"]
    silent = sdgad(*fit, "--quiet")
    assert (silent.err, silent.out[:6]) == ("", "fitted")
    loud = sdgad(*fit, "--verbose").err.splitlines()
    assert loud[0].startswith("info sdgad.training: epoch 1: ")
    assert manner() is Manner.verbose
    assert logging.getLogger("sdgad").level == logging.NOTSET


def test_quiet_leaves_results_and_errors(sdgad: Command, model: Path, files: Path, tmp_path: Path) -> None:
    for option in ("--quiet", "-q"):
        done = sdgad("score", model, files / "past.csv", "-o", tmp_path / "s.csv", option)
        assert (done.code, done.err) == (0, "")
        assert "scored" in done.out
    assert "used to fit" in sdgad("score", model, files / "past.csv", "-o", tmp_path / "s.csv").err
    assert "does not exist" in sdgad("update", model, tmp_path / "none.csv", "--quiet").err
    both = sdgad("evaluate", model, files / "new.csv", "--quiet", "--verbose")
    assert (both.code, "exclude each other" in both.err) == (2, True)


@pytest.mark.parametrize("command", ["fit", "score", "update", "evaluate", "explain", "report", "demo"])
def test_commands_that_talk_can_be_told_how_much(sdgad: Command, command: str) -> None:
    shown = sdgad(command, "--help").out
    assert "--quiet" in shown
    assert "--verbose" in shown


# ---------------------------------------------------------------------- interruptions
STEP = """
    import hashlib, signal, sys
    from sdgad.cli import main, score

    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts tests in the background has it ignored

    def long_step(*_):
        print("begun", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 3_000_000)  # compiled: no exception ends it
        for _ in range(10**9): pass

    {patch}
    main.main()
"""


@pytest.mark.parametrize(
    ("number", "word", "code"), [(signal.SIGINT, "Interrupted", 130), (signal.SIGTERM, "Terminated", 143)]
)
def test_an_interruption_is_told_at_once_and_leaves_nothing(
    model: Path, files: Path, tmp_path: Path, number: signal.Signals, word: str, code: int
) -> None:
    program = textwrap.dedent(STEP).format(
        patch="import sdgad.events.write as w; w._write_separated = long_step"
    )
    command = [
        sys.executable,
        "-c",
        program,
        "score",
        str(model),
        str(files / "new.csv"),
        "-o",
        str(tmp_path / "s.csv"),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as job:
        assert job.stdout is not None
        assert job.stderr is not None
        assert job.stdout.readline() == "begun\n"
        time.sleep(0.2)  # until it is inside what is compiled
        sent = time.monotonic()
        job.send_signal(number)
        told = job.stderr.readline()
        told_after = time.monotonic() - sent
        still = job.poll() is None
        rest = job.stderr.read()
        ended_after = time.monotonic() - sent
        job.wait()
    assert told.startswith(f"{word}; ")
    assert (job.returncode, rest) == (code, "")
    assert still
    assert told_after < ended_after
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("number", "word", "code"),
    [(signal.SIGINT, "Interrupted.\n", 130), (signal.SIGTERM, "Terminated.\n", 143)],
)
@pytest.mark.parametrize("start", ["sdgad", "python -m sdgad"])
def test_an_interruption_while_the_command_line_is_imported_is_told_as_any_other(
    tmp_path: Path, number: signal.Signals, word: str, code: int, start: str
) -> None:
    (tmp_path / "typer.py").write_text(
        "import os, time\n"
        f"try: os.kill(os.getpid(), {number:d}); time.sleep(9)\n"
        "except BaseException: pass  # so does Python while it calls back from an import\n"
    )
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, name = scripts["sdgad"].split(":")
    program = {
        "sdgad": f"from {module} import {name}; {name}()",
        "python -m sdgad": "import runpy; runpy.run_module('sdgad', run_name='__main__')",
    }
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    paths = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-c", heard + program[start]],
        capture_output=True, text=True, check=False, env=environment() | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (code, "", word)


def test_sigterm_in_training_leaves_no_model(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def terminated(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Classifier, "_losses", terminated)
    interruptions = Interruptions()
    fit = ["fit", str(files / "past.csv"), "-o", str(tmp_path / "m"), *TINY]
    before = signal.getsignal(signal.SIGTERM)
    with interruptions.watching():
        assert run(fit, interruptions) == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert not list(tmp_path.iterdir())


def test_an_interruption_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    interruptions = Interruptions()
    interruptions.tell(signal.SIGINT)
    interruptions.tell(signal.SIGINT)
    interruptions.close(signal.SIGINT)
    assert capsys.readouterr().err == "Interrupted; this ends with the step that is running.\n"
