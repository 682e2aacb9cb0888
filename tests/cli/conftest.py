"""Files of events and models that several tests share; every model is small."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sdgad.cli.main import run
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream
from sdgad.events.write import write_events


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


def environment() -> dict[str, str]:
    """Ours, with the sources that this process imports."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def sdgad(capsys: pytest.CaptureFixture[str]) -> Command:
    """`sdgad("score", model, …)`, in this process."""

    def command(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return command


@pytest.fixture(scope="session")
def payments() -> EventStream:
    return simulate_payments(600, anomaly_rate=0.1, seed=0)


@pytest.fixture(scope="session")
def files(payments: EventStream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `past` and `new` events."""
    folder = tmp_path_factory.mktemp("events")
    for suffix in ("parquet", "csv", "jsonl"):
        write_events(payments[:450], folder / f"past.{suffix}")
        write_events(payments[450:], folder / f"new.{suffix}")
    return folder


@pytest.fixture(scope="session")
def model(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of `past.csv`; nobody may change it."""
    folder = tmp_path_factory.mktemp("models") / "model"
    assert run(["fit", f"{files}/past.parquet", "-o", str(folder), "--detector", "isolation-forest"]) == 0
    return folder
