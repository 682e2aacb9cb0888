"""`--bad-rows`: refuse a file with bad rows, or go on as if they were not there."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import sdgad as library
from sdgad.events.read import read_events
from sdgad.events.table import read_table

from .conftest import Command

BAD = {  # place, and what stands there for a time
    5: "1970-01-01", 17: "-9223372036854775808", 40: "2099-01-01T00:00:00Z", 60: "", 61: "noon", 90: "9999-12-31",
}  # fmt: skip


def spoil(source: Path, target: Path, bad: dict[int, str] = BAD) -> Path:
    """The same rows with bad ones among them, whose ids are nobody else's."""
    with source.open() as file:
        head, *rows = list(csv.reader(file))
    for place, when in bad.items():
        row = list(rows[0])
        row[head.index("src")], row[head.index("t")] = "nobody", when
        rows.insert(place, row)
    with target.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return target


@pytest.fixture
def dated(files: Path, tmp_path: Path) -> Path:
    """The shared files with ISO-8601 times."""
    for name in ("past.csv", "new.csv"):
        with (files / name).open() as file:
            head, *rows = list(csv.reader(file))
        at = head.index("t")
        for row in rows:
            row[at] = str(np.datetime64(round(float(row[at]) * 1000), "ms")) + "Z"
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    return tmp_path


def test_every_command_that_reads_a_file_refuses_bad_rows_or_skips_them(
    sdgad: Command, model: Path, dated: Path
) -> None:
    bad, out = spoil(dated / "new.csv", dated / "bad.csv"), dated / "out.csv"
    own = shutil.copytree(model, dated / "own")
    before = {file.name: file.read_bytes() for file in own.iterdir()}
    fit = ("--detector", "midas", "-o", dated / "fitted")
    commands: list[tuple[object, ...]] = [
        ("fit", bad, *fit),
        ("fit", dated / "past.csv", "--val", bad, *fit),
        ("score", model, bad, "-o", out),
        ("score", model, bad, "-o", out, "--explain"),
        ("evaluate", model, bad),
        ("report", model, bad, "-o", dated / "page.html"),
        ("explain", model, bad, "--top", 2),
        ("inject", bad, "-o", dated / "injected.csv", "--type", "T=0.02"),
        ("data", "describe", bad),
        ("data", "audit", bad),
        ("update", own, bad),
    ]
    files = {path.name for path in dated.iterdir()}
    for command in commands:
        outcome = sdgad(*command)
        assert outcome.code == 2, command
        assert outcome.err.startswith(f"{bad}, column 't', row 61: there is no time;"), command
        assert outcome.err.endswith("; --bad-rows skip sets it aside.\n")
    assert {path.name for path in dated.iterdir()} == files
    assert {file.name: file.read_bytes() for file in own.iterdir()} == before
    for command in commands:
        outcome = sdgad(*command, "--bad-rows", "skip")
        assert outcome.code == 0, (command, outcome.err)
        assert (
            f"{bad}: set aside {len(BAD)} of 156 rows: row 61 (column 't': there is no time);" in outcome.err
        )


def test_a_row_of_another_age_is_named_with_what_it_is_too_far_from(
    sdgad: Command, model: Path, dated: Path
) -> None:
    bad = spoil(dated / "new.csv", dated / "bad.csv", {3: "2099-01-01"})
    outcome = sdgad("score", model, bad, "-o", dated / "out.csv")
    assert "row 4: '2099-01-01' is too far from the other rows, 2026-01-" in outcome.err
    few = dated / "few.csv"
    few.write_text(
        "\n".join((dated / "new.csv").read_text().splitlines()[:2]).replace("2026-", "2099-") + "\n"
    )
    for verb in (("score", model, few, "-o", dated / "out.csv"), ("update", model, few)):
        assert "is too far from the model's history, 2026-01-" in sdgad(*verb).err


def test_score_writes_every_row_and_leaves_out_the_answers_of_those_set_aside(
    sdgad: Command, model: Path, dated: Path
) -> None:
    bad = spoil(dated / "new.csv", dated / "bad.csv")
    assert sdgad("score", model, dated / "new.csv", "-o", dated / "good-scores.csv", "--explain").code == 0
    outcome = sdgad("score", model, bad, "-o", dated / "scores.csv", "--explain", "--bad-rows", "skip")
    assert "150 events scored" in outcome.out
    assert "older than" not in outcome.err
    good = read_table(dated / "good-scores.csv").to_pylist()
    scored = read_table(dated / "scores.csv").to_pylist()
    raw = read_table(bad).to_pylist()
    assert len(scored) == len(raw)
    assert [{name: row[name] for name in raw[0]} for row in scored] == raw
    for place in sorted(BAD, reverse=True):
        row = scored.pop(place)
        assert [row[name] for name in ("score", "anomaly", "p_value", "why")] == [None] * 4
    assert scored == good


def test_fit_and_update_write_what_they_would_without_the_bad_rows(sdgad: Command, dated: Path) -> None:
    past, new = (spoil(dated / name, dated / f"bad-{name}") for name in ("past.csv", "new.csv"))
    for model, files in (("a", (dated / "past.csv", dated / "new.csv")), ("b", (past, new))):
        for verb in (
            ("fit", files[0], "-o", dated / model, "--detector", "midas"),
            ("update", dated / model, files[1]),
        ):
            assert sdgad(*verb, "--bad-rows", "skip").code == 0
    names, others = (
        sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
        for folder in (dated / "a", dated / "b")
    )
    assert names == others
    for name in names:
        assert (dated / "a" / name).read_bytes() == (dated / "b" / name).read_bytes(), name
    assert library.load(dated / "b").config.bad_rows == "error"


def test_explain_names_rows_as_the_file_has_them(sdgad: Command, model: Path, dated: Path) -> None:
    bad = spoil(dated / "new.csv", dated / "bad.csv", {0: "1970-01-01"})
    told = json.loads(sdgad("explain", model, dated / "new.csv", "--json").out)["events"]
    again = json.loads(sdgad("explain", model, bad, "--json", "--bad-rows", "skip").out)["events"]
    assert [event["row"] for event in again] == [event["row"] + 1 for event in told]
    assert [event["score"] for event in again] == [event["score"] for event in told]


def test_a_model_may_be_told_once_what_becomes_of_absurd_times(sdgad: Command, dated: Path) -> None:
    new = spoil(dated / "new.csv", dated / "bad-new.csv", {7: "2099-01-01"})
    fit = ("fit", dated / "past.csv", "-o", dated / "model", "--detector", "midas", "--set")
    assert sdgad(*fit, "bad_rows=keep").code == 0
    assert "151 events scored" in sdgad("score", dated / "model", new, "-o", dated / "scores.csv").out
    assert len(read_events(dated / "scores.csv", bad_rows="skip")) == 150
    assert sdgad("score", dated / "model", new, "-o", dated / "scores.csv", "--bad-rows", "error").code == 2
    assert sdgad(*fit, "bad_rows=skip").code == 0
    assert sdgad("evaluate", dated / "model", new).code == 0


def test_a_wrong_policy_is_named(sdgad: Command, dated: Path) -> None:
    outcome = sdgad("data", "describe", dated / "new.csv", "--bad-rows", "drop")
    assert outcome.code == 2
    assert "--bad-rows" in outcome.err


def test_days_of_a_spreadsheet_are_told_with_the_option_that_helps(sdgad: Command, tmp_path: Path) -> None:
    rows = "".join(f"a{i % 5},b{i % 3},{46027 + i / 100}\n" for i in range(50))
    (tmp_path / "sheet.csv").write_text("src,dst,t\n" + rows)
    outcome = sdgad("fit", tmp_path / "sheet.csv", "-o", tmp_path / "model", "--detector", "midas")
    assert outcome.code == 2
    assert "'46027.0' looks like a day of a spreadsheet, 2026-01-05 00:00:00" in outcome.err
    assert "with --time-unit" in outcome.err
