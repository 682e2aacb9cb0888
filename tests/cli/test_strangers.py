"""Ids and categories that match nothing, and arguments in each other's place, are told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdgad.events.strangers import tell_strangers
from sdgad.events.stream import EventStream

from .conftest import Command
from .test_bad_input import refused

ROWS = 200


def written(path: Path, spell: Callable[[int], str], *, start: int = 0, shift: int = 0) -> Path:
    """Payments among 30 accounts, of which `spell` makes ids."""
    rng = np.random.default_rng(start)
    lines = [
        f'"{spell(1000 + shift + a)}","{spell(1000 + shift + b)}",{start + i},{i % 2}'
        for i, (a, b) in enumerate(rng.integers(0, 30, (ROWS, 2)).tolist())
    ]
    path.write_text("src,dst,t,label\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sdgad.cli.main import run

    folder = tmp_path_factory.mktemp("accounts")
    past = written(folder / "past.csv", str)
    assert run(["fit", str(past), "-o", str(folder / "model"), "--detector", "isolation-forest"]) == 0
    return folder / "model"


SPELLINGS: list[tuple[Callable[[int], str], str]] = [
    (lambda i: f"{i}.0", "; without '.0' at their end 60 would be known, so write them as at fit."),
    (lambda i: f" {i} ", "; without spaces around them 60 would be known"),
    (lambda i: f"{i:08d}", "; without zeros before them 60 would be known"),
    (lambda i: f"{i:06d}.00 ", "; without spaces, '.0', zeros before them and case 60 would be known"),
    (lambda i: f"acct-{i}", "30 in column 'dst'."),
]


@pytest.mark.parametrize(("spell", "advice"), SPELLINGS)
def test_a_file_whose_ids_the_model_does_not_know_is_told_in_one_line(
    sdgad: Command, accounts: Path, tmp_path: Path, spell: Callable[[int], str], advice: str
) -> None:
    new = written(tmp_path / "new.csv", spell, start=1000)
    outcome = sdgad("score", accounts, new, "-o", tmp_path / "s.csv")
    assert outcome.code == 0
    assert outcome.err.startswith(
        f"{new}: most ids are unknown to the model: 30 of 30 in column 'src', 30 of 30 in column 'dst'"
    )
    assert outcome.err.count("\n") == 1
    assert advice in outcome.err
    first = (tmp_path / "s.csv").read_text().splitlines()[1]
    assert first.startswith(new.read_text().splitlines()[1].replace('"', "").partition(",")[0])  # as it was
    known = sdgad(
        "score", accounts, written(tmp_path / "known.csv", str, start=1000), "-o", tmp_path / "k.csv"
    )
    assert known.err == ""
    assert (tmp_path / "k.csv").read_text().splitlines()[1].split(",")[-3] != first.split(",")[-3]


@pytest.mark.parametrize("command", ["evaluate", "explain", "report", "update"])
def test_every_command_that_reads_events_tells_it(
    sdgad: Command, accounts: Path, tmp_path: Path, command: str
) -> None:
    model = tmp_path / "model"
    shutil.copytree(accounts, model)
    new = written(tmp_path / "new.csv", lambda i: f"{i}.0", start=1000)
    output = ("-o", tmp_path / "page.html") if command == "report" else ()
    outcome = sdgad(command, model, new, *output)
    assert outcome.code == 0
    assert outcome.err.count("most ids are unknown to the model") == 1


def test_validation_events_of_other_ids_are_told(sdgad: Command, tmp_path: Path) -> None:
    past = written(tmp_path / "past.csv", lambda i: f"Acct{i}")
    val = written(tmp_path / "val.csv", lambda i: f"ACCT{i}", start=1000)
    outcome = sdgad("fit", past, "--val", val, "-o", tmp_path / "m", "--detector", "isolation-forest")
    assert outcome.code == 0
    assert f"{val}: most ids are unknown to the model" in outcome.err
    assert "in one case 60 would be known" in outcome.err


def test_a_file_with_some_new_ids_is_nothing_to_tell(sdgad: Command, accounts: Path, tmp_path: Path) -> None:
    new = written(tmp_path / "new.csv", str, start=1000, shift=10)  # a third of them
    assert sdgad("score", accounts, new, "-o", tmp_path / "s.csv").err == ""
    (tmp_path / "few.csv").write_text("src,dst,t,label\nx,y,2000,0\ny,z,2001,0\n")
    assert sdgad("score", accounts, tmp_path / "few.csv", "-o", tmp_path / "s.csv").err == ""


def test_a_model_that_keeps_no_ids_knows_nobody(sdgad: Command, tmp_path: Path) -> None:
    past = written(tmp_path / "past.csv", str)
    assert sdgad("fit", past, "-o", tmp_path / "m", "--detector", "midas").code == 0
    new = written(tmp_path / "new.csv", lambda i: f"{i}.0", start=1000)
    assert "unknown" not in sdgad("score", tmp_path / "m", new, "-o", tmp_path / "s.csv").err


# ---------------------------------------------------------------------- categories
def with_kinds(path: Path, spell: Callable[[int], str], *, start: int = 0, rows: int = ROWS) -> Path:
    """The same payments with a feature `kind`."""
    lines = written(path, str, start=start).read_text().splitlines()[1 : rows + 1]
    kinds = [f'{line},"{spell(i)}"' for i, line in enumerate(lines)]
    path.write_text("src,dst,t,label,kind\n" + "\n".join(kinds) + "\n")
    return path


@pytest.fixture(scope="module")
def of_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models that know three kinds, and 32 of 50."""
    from sdgad.cli.main import run

    folder = tmp_path_factory.mktemp("kinds")
    for model, kinds in (("few", 3), ("many", 50)):
        past = with_kinds(folder / f"{model}.csv", lambda i, kinds=kinds: f"Kind{i % kinds}")
        options = ("--features", "kind", "--detector", "isolation-forest")
        assert run(["fit", str(past), "-o", str(folder / model), *options]) == 0
    return folder


@pytest.mark.parametrize("command", ["score", "evaluate", "explain", "report", "update"])
def test_categories_that_the_model_does_not_know_are_told_with_their_spelling(
    sdgad: Command, of_kinds: Path, tmp_path: Path, command: str
) -> None:
    model = shutil.copytree(of_kinds / "few", tmp_path / "model")
    new = with_kinds(tmp_path / "new.csv", lambda i: f"KIND{i % 3}" if i % 4 else "Kind0", start=1000)
    output = {"score": ("-o", tmp_path / "s.csv"), "report": ("-o", tmp_path / "p.html")}.get(command, ())
    outcome = sdgad(command, model, new, *output)
    assert outcome.code == 0
    assert (
        f"{new}: most values are unknown to the model: 150 of 200 in column 'kind'; "
        "in one case 150 would be known, so write them as at fit.\n" in outcome.err
    )


def test_categories_that_no_spelling_makes_known_are_told(
    sdgad: Command, of_kinds: Path, tmp_path: Path
) -> None:
    new = with_kinds(tmp_path / "new.csv", str, start=1000)
    told = sdgad("score", of_kinds / "few", new, "-o", tmp_path / "s.csv").err
    assert f"{new}: most values are unknown to the model: 200 of 200 in column 'kind'.\n" in told


def test_rare_categories_of_a_model_with_many_are_nothing_to_tell(
    sdgad: Command, of_kinds: Path, tmp_path: Path
) -> None:
    rare = with_kinds(tmp_path / "rare.csv", lambda i: f"Kind{40 + i % 10}", start=1000)
    assert "unknown" not in sdgad("score", of_kinds / "many", rare, "-o", tmp_path / "s.csv").err
    upper = with_kinds(tmp_path / "upper.csv", lambda i: f"KIND{i % 30}", start=1000)
    assert "in one case" in sdgad("score", of_kinds / "many", upper, "-o", tmp_path / "s.csv").err


def test_some_new_categories_are_nothing_to_tell(sdgad: Command, of_kinds: Path, tmp_path: Path) -> None:
    half = with_kinds(tmp_path / "half.csv", lambda i: f"Kind{i % 6}", start=1000)
    few = with_kinds(tmp_path / "few.csv", "new{}".format, start=1000, rows=9)
    missing = with_kinds(tmp_path / "missing.csv", lambda i: "" if i % 3 else "Kind1", start=1000)
    for new in (half, few, missing):
        assert "unknown" not in sdgad("score", of_kinds / "few", new, "-o", tmp_path / "s.csv").err


def test_categories_of_validation_events_are_told(sdgad: Command, of_kinds: Path, tmp_path: Path) -> None:
    val = with_kinds(tmp_path / "val.csv", lambda i: f"kind{i % 3}", start=1000)
    options = ("--features", "kind", "--detector", "isolation-forest")
    outcome = sdgad("fit", of_kinds / "few.csv", "--val", val, "-o", tmp_path / "m", *options)
    assert outcome.code == 0
    assert f"{val}: most values are unknown to the model: 200 of 200 in column 'kind'; in one" in outcome.err


def test_sides_of_their_own_are_compared_apart(caplog: pytest.LogCaptureFixture) -> None:
    users, items = [f"u{i}" for i in range(12)], [f"i{i}" for i in range(12)]
    known = EventStream(users, items, range(12), bipartite=True).vocabulary.texts
    tell_strangers(EventStream(users, items, range(12), bipartite=True), known, "x")
    assert not caplog.messages
    tell_strangers(EventStream(users, users, range(12), bipartite=True), known, "x")
    assert caplog.messages == ["x: most ids are unknown to the model: 12 of 12 in column 'dst'."]


# ---------------------------------------------------------------------- arguments in each other's place
@pytest.mark.parametrize("command", ["score", "evaluate", "update", "report", "explain"])
def test_swapped_arguments_are_told(
    sdgad: Command, model: Path, files: Path, tmp_path: Path, command: str
) -> None:
    output = {"score": ("-o", tmp_path / "s.csv"), "report": ("-o", tmp_path / "p.html")}.get(command, ())
    for suffix in ("csv", "jsonl", "parquet"):
        events = files / f"new.{suffix}"
        refused(
            sdgad(command, events, model, *output), events, "is a file of events", "the model comes first"
        )
    refused(sdgad(command, model, model, *output), model, "is a model folder, not a file of events")
    assert not list(tmp_path.iterdir())


def test_a_model_is_nothing_to_fit(sdgad: Command, model: Path, files: Path, tmp_path: Path) -> None:
    refused(
        sdgad("fit", model, "-o", tmp_path / "m", "--detector", "midas"),
        model,
        "is a model folder, not a file of events",
    )
    outcome = sdgad("fit", files / "past.csv", "--val", model, "-o", tmp_path / "m", "--detector", "midas")
    refused(outcome, model, "is a model folder, not a file of events")


# ---------------------------------------------------------------------- rows that are carried along
def test_a_carried_column_that_cannot_be_written_is_named(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    table = pq.read_table(files / "new.parquet")
    pq.write_table(table.append_column("raw", pa.array([b"\xff"] * table.num_rows)), tmp_path / "new.parquet")
    outcome = sdgad("score", model, tmp_path / "new.parquet", "-o", tmp_path / "s.csv")
    refused(outcome, tmp_path / "s.csv", "column 'raw' of type binary cannot be written")
    assert {path.name for path in tmp_path.iterdir()} == {"new.parquet"}


def test_a_carried_column_that_is_no_text_is_refused_by_its_row(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    lines = (files / "new.jsonl").read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b"}", b', "note": "\xe9"}')
    (tmp_path / "new.jsonl").write_bytes(b"".join(lines))
    refused(
        sdgad("score", model, tmp_path / "new.jsonl", "-o", tmp_path / "s.csv"), "not UTF-8 text in row 5"
    )
    outcome = sdgad("fit", tmp_path / "new.jsonl", "-o", tmp_path / "m", "--detector", "midas")
    refused(outcome, "not UTF-8 text in row 5")
