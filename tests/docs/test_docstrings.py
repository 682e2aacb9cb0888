"""Examples in docstrings are run: what `help` shows works when it is typed."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sdgad

from .conftest import payments, short_training, write_csv
from .markdown import ROOT

SOURCE = ROOT / "src"
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@pytest.fixture(scope="module")
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What an example may use without making it: `payments.csv`, and a stream in three parts."""
    folder = tmp_path_factory.mktemp("examples")
    write_csv(folder / "payments.csv", payments(0, 400))
    events = sdgad.simulate_payments(400, anomaly_rate=0.1, seed=0)
    train, val, test = events.split()
    with chdir(folder), short_training():
        yield {"sdgad": sdgad, "events": events, "train": train, "val": val, "test": test}


def failures(module: ModuleType, names: dict[str, Any]) -> tuple[int, str]:
    """How many examples were run, and what was wrong with them."""
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    complaints: list[str] = []
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs=names):
        runner.run(test, out=complaints.append)
    return runner.tries, "".join(complaints)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_example_in_a_docstring_runs_and_shows_what_it_says(
    path: Path, at_hand: dict[str, Any]
) -> None:
    tried, complaints = failures(import_module(name_of(path)), at_hand)
    assert tried, "the file has examples that doctest does not find"
    assert not complaints, complaints


def test_there_are_examples() -> None:
    assert {"sdgad", "sdgad.configuration", "sdgad.detectors.sdgad.detector"} <= set(map(name_of, MODULES))


@pytest.mark.parametrize("example", [">>> 1 + 1\n3", ">>> events.fly()", ">>> len(events)"])
def test_an_example_that_lies_is_found_out(example: str, at_hand: dict[str, Any]) -> None:
    liar = ModuleType("liar", example)
    assert failures(liar, at_hand)[1]
