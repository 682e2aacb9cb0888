"""Manners: quick help, one JSON document, Ctrl-C, closed pipes."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sdgad as library
from sdgad.cli.notes import Notes
from sdgad.detectors.sdgad.detector import SDGAD

from .conftest import Command, environment

COMMANDS = (
    "demo",
    "fit",
    "score",
    "evaluate",
    "update",
    "threshold",
    "report",
    "stream",
    "info",
    "list",
    "data",
)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from sdgad.cli.main import run; run(['fit', '--help']); print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"torch", "numpy", "pyarrow", "sklearn", "zuko", "matplotlib", "pandas"}
    assert "sdgad.cli.fit" in loaded


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(sdgad: Command, command: str) -> None:
    shown = sdgad(command, "--help")
    assert shown.code == 0
    assert f"\n  sdgad {command} " in shown.out
    assert command in sdgad().out


def test_names_are_listed_one_per_line(sdgad: Command) -> None:
    assert sdgad("list", "detectors").out.split("\n")[:-1] == library.list_detectors()
    assert sdgad("list", "encoders").out.split("\n")[:-1] == library.list_encoders()
    assert sdgad("--version").out == f"sdgad {library.__version__}\n"


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["fly"], 2)])
def test_the_package_can_be_run_as_the_command(sdgad: Command, arguments: list[str], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sdgad", *arguments],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == sdgad(*arguments)
    assert done.returncode == code


def test_json_is_one_document_and_nothing_else(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    commands = (
        ("fit", files / "past.csv", "-o", tmp_path / "m", "--detector", "isolation-forest"),
        ("info", model),
        ("evaluate", model, files / "new.csv"),
    )
    for command in commands:
        done = sdgad(*command, "--json")
        assert done.code == 0
        assert isinstance(json.loads(done.out), dict)


def test_what_info_prints_is_what_the_model_holds(sdgad: Command, model: Path) -> None:
    detector = library.load(model)
    found = json.loads(sdgad("info", model, "--json").out)
    assert found["detector"] == "isolation-forest"
    assert found["threshold"] == detector.threshold_
    assert found["options"] == json.loads(json.dumps(detector.get_params()))
    assert (found["history"]["events"], found["history"]["nodes"]) == detector.history_size
    assert found["format_version"] == 1
    assert found["validation"]["events"] == len(detector.validation_scores_)
    text = sdgad("info", model).out
    assert f"{found['validation']['auroc']:.4f}" in text


def test_a_single_class_is_said_rather_than_failed(sdgad: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,dst,t,amount,channel,label\na,b,2026-02-01,2,card,0\n")
    assert "All 1 labelled events are normal" in sdgad("evaluate", model, tmp_path / "x.csv").out
    assert json.loads(sdgad("evaluate", model, tmp_path / "x.csv", "--json").out)["auroc"] is None


def test_ctrl_c_in_training_keeps_the_best_state_and_says_so(
    sdgad: Command, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses, calls = SDGAD._losses, []

    def impatient(self: SDGAD, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return losses(self, *arguments)

    monkeypatch.setattr(SDGAD, "_losses", impatient)
    options = ("--set", "history=3", "--set", "width=8", "--epochs", "9")
    done = sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *options)
    assert done.code == 0
    assert "interrupted" in done.err
    assert "cut short" in done.out
    assert len(calls) == 3
    assert library.load(tmp_path / "m").name == "sdgad"


def test_ctrl_c_elsewhere_ends_with_130_and_one_line(
    sdgad: Command, files: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sdgad.events.write._write_separated", impatient)
    done = sdgad("score", model, files / "new.csv", "-o", tmp_path / "s.csv")
    assert (done.code, done.err) == (130, "Interrupted.\n")
    assert not list(tmp_path.iterdir())


def test_a_closed_pipe_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "sdgad.cli.main", "--help"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, env=environment())
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_notes_are_held_back_only_where_nobody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, record = (
        Notes(),
        logging.makeLogRecord({"msg": "%d rows", "args": (3,), "levelno": logging.WARNING}),
    )
    notes.handle(record)
    assert capsys.readouterr().err == ""
    notes.tell()
    assert capsys.readouterr().err == "3 rows\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    notes.handle(record)
    assert capsys.readouterr().err == "3 rows\n"
    notes.tell()
    assert capsys.readouterr().err == ""


def test_the_log_is_left_as_it_was(sdgad: Command, model: Path) -> None:
    before = list(logging.getLogger("sdgad").handlers)
    sdgad("info", model)
    sdgad("info", "none")
    assert logging.getLogger("sdgad").handlers == before


def test_an_unforeseen_error_keeps_its_traceback(
    sdgad: Command, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("sdgad.cli.info.describe", broken)
    with pytest.raises(ZeroDivisionError):
        sdgad("info", model)
