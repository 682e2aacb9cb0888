"""fit → info → score → evaluate → update → score, on the files that people have."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sdgad as library
from sdgad.detectors.baselines.isolation_forest import IsolationForestDetector
from sdgad.events.stream import EventStream
from sdgad.events.table import read_table

from .conftest import Command

FOREST = ("--detector", "isolation-forest")
SMALL = ("--set", "history=3", "--set", "width=8", "--epochs", "1")
ODD = {"src": "Who paid?", "dst": "to whom, then", "t": "Zeit ⏰", "label": "is fraud", "amount": "Höhe in €"}


@pytest.fixture
def odd(files: Path, tmp_path: Path) -> Path:
    """`past` and `new` as CSV: odd column names, ISO-8601 times, ids with spaces and emoji."""
    for name in ("past", "new"):
        table = pq.read_table(files / f"{name}.parquet")
        when = pa.array(np.round(table["t"].to_numpy() * 1000).astype(np.int64), pa.timestamp("ms"))
        people = {role: [f"{x} 💸, Ltd" for x in table[role].to_pylist()] for role in ("src", "dst")}
        rows = zip(
            people["src"], people["dst"], when.to_pylist(), table["label"].to_pylist(),
            table["amount"].to_pylist(), [f"00{i}" for i in range(len(table))], strict=True,
        )  # fmt: skip
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow([*ODD.values(), "reference"])
            out.writerows([*row[:2], row[2].isoformat(), *row[3:]] for row in rows)
    return tmp_path


def named(features: str) -> list[str]:
    names = {"--src": ODD["src"], "--dst": ODD["dst"], "--time": ODD["t"], "--label": ODD["label"]}
    return [word for pair in names.items() for word in pair] + ["--features", features]


def test_a_csv_file_with_odd_names_goes_all_the_way(sdgad: Command, odd: Path) -> None:
    model, new, scores = odd / "m", odd / "new.csv", odd / "scores.csv"
    fitted = sdgad("fit", odd / "past.csv", "-o", model, *named(ODD["amount"]), *FOREST)
    assert fitted.code == 0, fitted.err
    assert f"sdgad score {model}" in fitted.out

    info = json.loads(sdgad("info", model, "--json").out)
    assert info["columns"]["src"] == ODD["src"]
    assert info["columns"]["features"] == [ODD["amount"]]
    assert info["history"]["events"] == len(read_table(odd / "past.csv"))
    assert ODD["amount"] in sdgad("info", model).out

    scored = sdgad("score", model, new, "-o", scores)
    assert (scored.code, scored.err) == (0, "")
    before, after = read_table(new), read_table(scores)
    assert after.column_names == [*before.column_names, "score", "anomaly", "p_value"]
    assert after.select(before.column_names).to_pydict() == before.to_pydict()  # "007" is still "007"

    metrics = json.loads(sdgad("evaluate", model, new, "--json").out)
    label = np.array([float(x) for x in before[ODD["label"]].to_pylist()])
    score = np.array([float(x) for x in after["score"].to_pylist()])
    assert metrics["events"] == len(label)
    assert metrics["auroc"] == pytest.approx(library.evaluate(label, score)["auroc"], abs=1e-12)
    assert metrics["flagged"] == sum(int(x) for x in after["anomaly"].to_pylist())

    updated = sdgad("update", model, new)
    assert updated.code == 0, updated.err
    grown = json.loads(sdgad("info", model, "--json").out)
    assert grown["history"]["events"] == info["history"]["events"] + len(before)
    assert {**grown, "history": None} == {**info, "history": None}
    assert sdgad("score", model, new, "-o", scores).code == 0
    again = np.array([float(x) for x in read_table(scores)["score"].to_pylist()])
    assert np.array_equal(again[:-1], score[:-1])  # where they stand; the last moment may still go on


def test_a_parquet_file_goes_all_the_way_with_sdgad(sdgad: Command, files: Path, tmp_path: Path) -> None:
    model, scores = tmp_path / "m", tmp_path / "s.parquet"
    fitted = sdgad("fit", files / "past.parquet", "-o", model, "--json", "--quiet", *SMALL)
    assert (fitted.code, fitted.err) == (0, "")
    summary = json.loads(fitted.out)
    assert summary["train"]["events"] + summary["validation"]["events"] == 450
    assert summary["labels"] == "all"
    detector = library.load(model)
    assert summary["threshold"] == detector.threshold_
    assert detector.get_params()["epochs"] == 1
    assert detector.get_params()["history"] == 3

    assert sdgad("score", model, files / "new.parquet", "-o", scores).code == 0
    events = library.read_events(files / "new.parquet")
    expected = detector.decision_function(events)
    table = pq.read_table(scores)
    assert np.array_equal(table["score"].to_numpy(), expected)
    assert np.array_equal(table["anomaly"].to_numpy(), expected >= detector.threshold_)
    assert np.array_equal(table["p_value"].to_numpy(), detector.p_value(expected))
    assert table["t"].type == pq.read_table(files / "new.parquet")["t"].type

    shown = sdgad("evaluate", model, scores).out  # scores are events, too
    assert f"{library.evaluate(events.label, expected)['auroc']:.4f}" in shown
    assert "dormant-wakes" in shown
    detector.update(events)
    assert sdgad("update", model, files / "new.parquet").code == 0
    assert np.array_equal(library.load(model).decision_function(events), detector.decision_function(events))


def test_formats_do_not_change_a_score(sdgad: Command, files: Path, model: Path, tmp_path: Path) -> None:
    found = []
    for suffix in ("parquet", "csv", "jsonl"):
        assert sdgad("score", model, files / f"new.{suffix}", "-o", tmp_path / f"s.{suffix}").code == 0
        found.append([float(x) for x in read_table(tmp_path / f"s.{suffix}")["score"].to_pylist()])
    assert found[0] == found[1] == found[2]


def test_unsorted_rows_are_scored_in_their_own_order_and_it_is_said(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    table = pq.read_table(files / "new.parquet")
    order = np.random.default_rng(0).permutation(len(table))
    pq.write_table(table.take(order), tmp_path / "mixed.parquet")
    sdgad("score", model, files / "new.parquet", "-o", tmp_path / "sorted.parquet")
    mixed = sdgad("score", model, tmp_path / "mixed.parquet", "-o", tmp_path / "s.parquet")
    assert mixed.code == 0
    assert "mixed.parquet" in mixed.err
    assert "sorted" in mixed.err
    scores = pq.read_table(tmp_path / "s.parquet")
    assert scores["t"].to_pylist() == table.take(order)["t"].to_pylist()
    assert np.array_equal(
        scores["score"].to_numpy(), pq.read_table(tmp_path / "sorted.parquet")["score"].to_numpy()[order]
    )


def test_columns_of_the_same_name_are_replaced_and_it_is_said(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    sdgad("score", model, files / "new.csv", "-o", tmp_path / "s.csv")
    again = sdgad("score", model, tmp_path / "s.csv", "-o", tmp_path / "s2.csv")
    assert again.err.count("\n") == 1
    assert "'score', column 'anomaly', column 'p_value'" in again.err
    assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "s2.csv").read_bytes()


@pytest.mark.parametrize("old", ["src", "label", "amount"])
def test_a_column_that_the_model_reads_is_not_replaced(
    sdgad: Command, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str
) -> None:
    for name in ("past", "new"):
        rows = pq.read_table(files / f"{name}.parquet").replace_schema_metadata(None)
        rows = rows.rename_columns(["score" if column == old else column for column in rows.column_names])
        pq.write_table(rows, tmp_path / f"{name}.parquet")
    roles = {"src": "src", "label": "label", "features": "amount"}
    named = {role: "score" if name == old else name for role, name in roles.items()}
    past = library.read_events(tmp_path / "past.parquet", **named)  # `sdgad fit` would refuse
    library.make_detector("isolation-forest").fit(past).save(tmp_path / "m")
    monkeypatch.setattr("sdgad.detectors.base.Detector.decision_function", None)  # nothing is scored
    refused = sdgad("score", tmp_path / "m", tmp_path / "new.parquet", "-o", tmp_path / "s.csv")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "new.parquet: the model reads column 'score'" in refused.err
    assert not (tmp_path / "s.csv").exists()


def test_one_wall_clock_may_be_written_in_several_units(sdgad: Command, files: Path, tmp_path: Path) -> None:
    """Seconds, milliseconds and ISO-8601 text, in any order: the same model and the same scores."""

    def write(name: str, form: str) -> Path:
        rows = pq.read_table(files / f"{name}.parquet").replace_schema_metadata(None)
        milliseconds = np.floor(rows["t"].to_numpy()).astype(np.int64) * 1000
        times = {
            "s": pa.array(milliseconds // 1000),
            "ms": pa.array(milliseconds),
            "iso": pa.array(milliseconds, pa.timestamp("ms")),
        }
        rows = rows.set_column(rows.column_names.index("t"), "t", times[form])
        pq.write_table(rows, tmp_path / f"{name}-{form}.parquet")
        return tmp_path / f"{name}-{form}.parquet"

    scores = []
    for past, val, new in (("s", "s", "s"), ("iso", "ms", "ms"), ("ms", "iso", "s"), ("s", "ms", "iso")):
        train, later = write("past", past), write("new", val)
        fitted = sdgad("fit", train, "--val", later, "-o", tmp_path / "m", *FOREST, "--features", "amount")
        assert fitted.code == 0, fitted.err
        assert ("read as ms since 1970" in fitted.err) == (val == "ms")
        scored = sdgad("score", tmp_path / "m", write("new", new), "-o", tmp_path / "s.parquet")
        assert scored.code == 0, scored.err
        assert ("since 1970" in scored.err) == ((past, new) in {("iso", "ms"), ("ms", "s")})
        metrics = json.loads(sdgad("info", tmp_path / "m", "--json").out)
        scores.append((metrics["threshold"], pq.read_table(tmp_path / "s.parquet")["score"].to_pylist()))
    for threshold, values in scores[1:]:
        assert threshold == pytest.approx(scores[0][0])
        assert values == pytest.approx(scores[0][1])


@pytest.mark.parametrize("wanted", [["s.jsonl"], ["s.parquet"], ["-", "--format", "jsonl"]])
def test_no_column_is_lost_to_another_of_its_name(
    sdgad: Command,
    files: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wanted: list[str],
) -> None:
    lines = (files / "new.csv").read_text().splitlines()
    rows = [f"{line},{'note,note' if i == 0 else 'n,m'}" for i, line in enumerate(lines)]
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    assert sdgad("score", model, tmp_path / "x.csv", "-o", tmp_path / "s.csv").code == 0
    assert (tmp_path / "s.csv").read_text().splitlines()[1].split(",")[-5:-3] == ["n", "m"]

    def too_late(*_: object) -> None:
        raise AssertionError("it was scored")

    monkeypatch.setattr(IsolationForestDetector, "decision_function", too_late)
    name, *options = wanted
    output = "-" if name == "-" else tmp_path / name
    done = sdgad("score", model, tmp_path / "x.csv", "-o", output, *options)
    where = "The output" if name == "-" else output
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == f"{where} would have two columns of the same name, 'note', which only CSV and TSV can hold.\n"
    )


def test_a_single_event_of_strangers_can_be_scored(sdgad: Command, model: Path, tmp_path: Path) -> None:
    event = {"src": "new 🦊", "dst": "a\nb", "t": 1_900_000_000, "amount": None, "channel": "pigeon"}
    (tmp_path / "one.jsonl").write_text(json.dumps(event) + "\n", encoding="utf-8")
    assert sdgad("score", model, tmp_path / "one.jsonl", "-o", tmp_path / "s.jsonl").code == 0
    row = json.loads((tmp_path / "s.jsonl").read_text(encoding="utf-8"))
    assert row.items() >= event.items()
    assert 0 < row["score"] < 1
    assert row["anomaly"] in (0, 1)
    assert 0 < row["p_value"] <= 1


@pytest.mark.parametrize("options", [FOREST, SMALL])
def test_events_that_all_happen_at_once_can_be_fitted_and_scored(
    sdgad: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    lines = [f"a{i % 7},b{i % 5},5,{int(i % 9 == 0)}" for i in range(90)]
    (tmp_path / "x.csv").write_text("src,dst,t,label\n" + "\n".join(lines) + "\n")
    fitted = sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", *options)
    assert fitted.code == 0, fitted.err
    assert sdgad("score", tmp_path / "m", tmp_path / "x.csv", "-o", tmp_path / "s.csv").code == 0
    assert len(read_table(tmp_path / "s.csv")) == 90


def test_rows_that_come_too_late_for_the_model_have_no_score(
    sdgad: Command, files: Path, payments: EventStream, tmp_path: Path
) -> None:
    sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *FOREST, "--set", "late=drop")
    library.write_events(payments[400:], tmp_path / "late.csv")
    scored = sdgad("score", tmp_path / "m", tmp_path / "late.csv", "-o", tmp_path / "s.csv")
    assert scored.code == 0
    rows = read_table(tmp_path / "s.csv").to_pylist()
    dropped = [row for row in rows if row["score"] is None]
    assert 0 < len(dropped) <= 50
    assert all(row["anomaly"] is row["p_value"] is None for row in dropped)
    assert f"{len(dropped)} rows are older" in scored.err
    metrics = json.loads(sdgad("evaluate", tmp_path / "m", tmp_path / "late.csv", "--json").out)
    assert metrics["events"] == 200 - len(dropped)
    shutil.rmtree(tmp_path / "m")
    sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *FOREST, "--set", "late=error")
    refused = sdgad("score", tmp_path / "m", tmp_path / "late.csv", "-o", tmp_path / "s2.csv")
    assert refused.code == 2
    assert "late.csv: row 1 is older" in refused.err
    assert not (tmp_path / "s2.csv").exists()


def test_a_model_without_a_label_column_can_be_evaluated(sdgad: Command, files: Path, tmp_path: Path) -> None:
    table = pq.read_table(files / "past.parquet").drop_columns(["label"]).replace_schema_metadata(None)
    pq.write_table(table, tmp_path / "past.parquet")
    sdgad("fit", tmp_path / "past.parquet", "-o", tmp_path / "m", "--features", "amount", *FOREST)
    metrics = json.loads(sdgad("evaluate", tmp_path / "m", files / "new.csv", "--json").out)
    assert metrics["anomalies"] > 0
