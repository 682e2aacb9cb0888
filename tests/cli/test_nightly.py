"""A job that nobody watches: files without events, pipes, a few rows of many, ids that lead back to the file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sdgad as library
from sdgad.events.table import read_table
from sdgad.events.write import write_table

from .conftest import Command, environment

HEADER = "src,dst,t,amount,channel,payment_id\n"


@pytest.fixture
def numbered(files: Path, tmp_path: Path) -> Path:
    """The new events, each with the id of its payment, in no order of time."""
    table = read_table(files / "new.parquet")
    ids = [f"pay-{i:05d}" for i in range(table.num_rows)]
    path = tmp_path / "numbered.csv"
    shuffled = np.random.default_rng(0).permutation(table.num_rows)
    write_table(table.append_column("payment_id", pa.array(ids)).take(shuffled), path)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("content", ["", "\n", HEADER], ids=["nothing", "a blank line", "a header"])
def test_a_file_without_events_is_no_failure_where_it_is_allowed(
    sdgad: Command, model: Path, tmp_path: Path, content: str
) -> None:
    copy = Path(shutil.copytree(model, tmp_path / "m"))
    events, scores, page = tmp_path / "x.csv", tmp_path / "s.csv", tmp_path / "r.html"
    events.write_text(content)
    before = contents(copy)
    commands = (
        ("score", copy, events, "-o", scores),
        ("score", copy, events, "-o", scores, "--explain", "--top", 3),
        ("update", copy, events),
        ("evaluate", copy, events),
        ("explain", copy, events),
        ("report", copy, events, "-o", page),
    )
    for command in commands:
        assert sdgad(*command).code == 2
        done = sdgad(*command, "--allow-empty")
        assert (done.code, done.err, done.out.count("\n")) == (0, "", 1), command
        assert "holds no events" in done.out
        assert contents(copy) == before
    header = scores.read_text().rstrip("\n").split(",")
    assert header[:3] == ["src", "dst", "t"]
    assert header[-4:] == ["score", "anomaly", "p_value", "why"]
    assert ("payment_id" in header) == (content == HEADER)
    assert "no event to score" in page.read_text()
    assert json.loads(sdgad("evaluate", copy, events, "--allow-empty", "--json").out)["events"] == 0
    assert json.loads(sdgad("explain", copy, events, "--allow-empty", "--json").out)["events"] == []


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
def test_so_it_is_in_every_format(
    sdgad: Command, model: Path, files: Path, tmp_path: Path, name: str
) -> None:
    events, scores = tmp_path / name, tmp_path / f"s{Path(name).suffix}"
    if name.endswith(".jsonl"):
        events.touch()
    else:
        write_table(read_table(files / "new.parquet").slice(0, 0), events)
    assert sdgad("score", model, events, "-o", scores, "--allow-empty").code == 0
    assert sdgad("score", model, events, "-o", tmp_path / "s.csv", "--allow-empty").code == 0
    assert "score,anomaly,p_value" in (tmp_path / "s.csv").read_text()
    assert scores.exists()


def test_a_missing_file_is_a_failure_nevertheless(sdgad: Command, model: Path, tmp_path: Path) -> None:
    done = sdgad("score", model, tmp_path / "x.csv", "-o", tmp_path / "s.csv", "--allow-empty")
    assert (done.code, "does not exist" in done.err) == (2, True)


def test_scores_on_stdout_are_those_of_a_file_and_nothing_else(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    for suffix in ("csv", "tsv", "jsonl"):
        output = tmp_path / f"s.{suffix}"
        assert sdgad("score", model, files / "new.csv", "-o", output).code == 0
        piped = sdgad("score", model, files / "new.csv", "-o", "-", "--format", suffix)
        assert (piped.code, piped.out) == (0, output.read_text())
        assert "150 events scored" in piped.err
    plain = sdgad("score", model, files / "new.csv", "-o", "-", "--quiet")
    assert (plain.out, plain.err) == ((tmp_path / "s.csv").read_text(), "")
    assert not Path("-").exists()


def test_a_format_goes_with_a_pipe_alone(sdgad: Command, model: Path, files: Path, tmp_path: Path) -> None:
    done = sdgad("score", model, files / "new.csv", "-o", tmp_path / "s.csv", "--format", "jsonl")
    assert (done.code, "--format goes with -o -" in done.err) == (2, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("reader", "unbuffered", "seen"),
    [("head -n 1", "", "src,dst,t"), ("(sleep 4; cat) | wc -l", "1", "3001")],
)
def test_a_reader_of_the_pipe_may_leave_and_may_be_slow(
    model: Path, files: Path, tmp_path: Path, reader: str, unbuffered: str, seen: str
) -> None:
    """More than a pipe holds goes through it; who has seen enough ends it without a word."""
    table = read_table(files / "new.csv")
    write_table(pa.concat_tables([table] * 20), tmp_path / "long.csv")
    score = f"'{sys.executable}' -m sdgad score '{model}' '{tmp_path}/long.csv' -o - --quiet"
    done = subprocess.run(
        ["bash", "-c", f"{score} | {reader}"],
        capture_output=True, text=True, check=False, env=environment() | {"PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert done.stdout.startswith(seen)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_the_highest_scores_come_first_and_only_alerts_where_asked(
    sdgad: Command, model: Path, numbered: Path, tmp_path: Path
) -> None:
    def rows(*options: object) -> list[dict[str, object]]:
        done = sdgad("score", model, numbered, "-o", tmp_path / "s.jsonl", *options)
        assert done.code == 0, done.err
        return [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]

    everything = rows("--explain")
    alerts = [row for row in everything if row["anomaly"]]
    ranked = sorted(everything, key=lambda row: -float(str(row["score"])))
    plain = [{name: value for name, value in row.items() if name != "why"} for row in ranked]
    assert 5 < len(alerts) < len(everything) == 150
    assert rows("--alerts-only", "--explain") == alerts
    assert rows("--top", 10) == plain[:10]
    assert rows("--top", 1000) == plain
    assert rows("--top", 1000, "--alerts-only", "--explain") == ranked[: len(alerts)]
    top = rows("--top", len(alerts) + 3, "--explain")
    assert [row["payment_id"] for row in top] == [row["payment_id"] for row in ranked[: len(top)]]
    assert all(row["why"] for row in top)
    assert top[: len(alerts)] == ranked[: len(alerts)]


def test_late_rows_have_no_score_and_are_in_no_selection(sdgad: Command, files: Path, tmp_path: Path) -> None:
    fit = ("fit", files / "past.csv", "-o", tmp_path / "m", "--detector", "isolation-forest")
    assert sdgad(*fit, "--set", "late=drop").code == 0
    text = (files / "new.csv").read_text().splitlines()
    late = ",".join([*text[1].split(",")[:2], "1767574000", *text[1].split(",")[3:]])
    (tmp_path / "x.csv").write_text("\n".join([text[0], late, *text[1:]]) + "\n")
    assert (
        sdgad("score", tmp_path / "m", tmp_path / "x.csv", "-o", tmp_path / "s.csv", "--top", 999).code == 0
    )
    assert len((tmp_path / "s.csv").read_text().splitlines()) == len(text)


def test_a_payment_is_found_again_by_its_id(
    sdgad: Command, model: Path, numbered: Path, tmp_path: Path
) -> None:
    sdgad("score", model, numbered, "-o", tmp_path / "s.jsonl", "--top", 5)
    top = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert sdgad("report", model, numbered, "-o", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text()
    assert "payment_id" in page
    found = json.loads(sdgad("explain", model, numbered, "--top", 5, "--json").out)["events"]
    told = sdgad("explain", model, numbered, "--top", 5).out
    for row, event in zip(top, found, strict=True):
        assert row["payment_id"] in page
        assert event["ids"] == {"payment_id": row["payment_id"]}
        assert event["source"] == row["src"]
        assert f"(payment_id {row['payment_id']}): {row['src']} →" in told


def test_alerts_that_are_most_of_a_file_are_told(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    library.load(model).save(tmp_path / "m")
    detector = library.load(tmp_path / "m")
    events = library.read_events(files / "new.csv", columns=detector.columns, clock=detector.clock)
    detector._validation.score[:] = 0.0
    detector.threshold_ = float(np.quantile(detector.decision_function(events), 0.3))
    detector.save(tmp_path / "m")
    said = sdgad("score", tmp_path / "m", files / "new.csv", "-o", tmp_path / "s.csv")
    assert "105 of 150 events are alerts, where 0 of 90 were in validation" in said.err
    sdgad("report", tmp_path / "m", files / "new.csv", "-o", tmp_path / "r.html")
    assert "the threshold does not hold for these events" in (tmp_path / "r.html").read_text()
    assert "does not hold" not in sdgad("score", model, files / "new.csv", "-o", tmp_path / "s.csv").err
