"""What a command says so that nobody is misled: kinds of features, too few labels, odd times, an empty history."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sdgad as library
from sdgad.events.stream import EventStream

from .conftest import Command

FOREST = ("--detector", "isolation-forest")


def rows(events: EventStream, *, every: int = 1) -> list[str]:
    """Lines of CSV, in which every so many-th event keeps its label."""
    assert events.msg is not None
    source, target = (events.vocabulary.raw(codes).to_pylist() for codes in (events.src, events.dst))
    return [
        f"{source[i]},{target[i]},{events.t[i]:.0f},{events.msg[i, 0]:.2f},k{i % 3},"
        + (f"{events.label[i]:.0f}" if i % every == 0 else "")
        for i in range(len(events))
    ]


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("src,dst,t,amount,kind,label\n" + "\n".join(lines) + "\n")
    return path


def test_fit_info_and_card_say_what_kind_of_feature_each_is(
    sdgad: Command, payments: EventStream, tmp_path: Path
) -> None:
    events = written(tmp_path / "x.csv", rows(payments))
    said = sdgad("fit", events, "-o", tmp_path / "m", *FOREST, "--features", "amount,kind")
    for text in (said.out, sdgad("info", tmp_path / "m").out, (tmp_path / "m" / "card.md").read_text()):
        assert "amount (number), kind (category, 3 values)" in text
    found = json.loads(sdgad("info", tmp_path / "m", "--json").out)
    assert found["features"] == {"amount": None, "kind": 3}


def test_figures_name_the_events_that_they_are_of(
    sdgad: Command, payments: EventStream, tmp_path: Path
) -> None:
    events = written(tmp_path / "x.csv", rows(payments, every=7))
    said = sdgad("fit", events, "-o", tmp_path / "m", *FOREST).out
    document = json.loads(sdgad("info", tmp_path / "m", "--json").out)
    found = document["validation"]
    assert 0 < found["anomalies"] < 10
    assert found["labelled"] < found["events"]
    few = next(line for line in document["doubts"] if "too few to trust AUROC, AP or the threshold" in line)
    assert few.startswith(f"{found['anomalies']} anomal")
    for text in (said, sdgad("info", tmp_path / "m").out):
        assert f"on the {found['labelled']} labelled events" in text
        assert few in text
        assert f"sdgad threshold {tmp_path / 'm'} alerts_per_day 20" in text
    told = sdgad("threshold", tmp_path / "m")
    unlabelled = found["events"] - found["labelled"]
    assert f"({unlabelled} of them without a label)" in told.out
    assert f" of {found['anomalies']} known anomal" in told.out
    sdgad("threshold", tmp_path / "m", "alerts_per_day", 20)
    assert "sdgad threshold" not in sdgad("info", tmp_path / "m").out


def test_no_labels_are_called_no_labels(sdgad: Command, files: Path, tmp_path: Path) -> None:
    said = sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *FOREST, "--labels", "none").out
    assert said.count("events, no labels") == 2


def test_events_of_one_time_are_told_unless_their_order_counts(
    sdgad: Command, payments: EventStream, tmp_path: Path
) -> None:
    lines = [",".join([*line.split(",")[:2], "1767600000", *line.split(",")[3:]]) for line in rows(payments)]
    events = written(tmp_path / "x.csv", lines)
    assert "All 600 events have one time" in sdgad("fit", events, "-o", tmp_path / "m", *FOREST).err
    arrival = sdgad("fit", events, "-o", tmp_path / "m", *FOREST, "--set", "ties=arrival")
    assert "one time" not in arrival.err


def test_scoring_without_a_history_is_told(sdgad: Command, model: Path, files: Path, tmp_path: Path) -> None:
    library.load(model).save(tmp_path / "to-go", history=False)
    assert "no history" in sdgad("score", tmp_path / "to-go", files / "new.csv", "-o", tmp_path / "s.csv").err
    assert "no history" not in sdgad("update", tmp_path / "to-go", files / "past.csv").err
    assert (
        "no history"
        not in sdgad("score", tmp_path / "to-go", files / "new.csv", "-o", tmp_path / "s.csv").err
    )


def test_info_says_until_when_the_history_reaches(
    sdgad: Command, model: Path, files: Path, payments: EventStream, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(model, tmp_path / "m"))
    for last in (449, 599):
        found = json.loads(sdgad("info", copy, "--json").out)["history"]
        assert found["span"] == [payments.t[0], payments.t[last]]
        days = [str(t.astype("datetime64[s]").astype("datetime64[D]")) for t in payments.t[[0, last]]]
        assert f"parties, {days[0]} to {days[1]}" in sdgad("info", copy).out
        sdgad("update", copy, files / "new.csv")


def test_info_shows_the_options_that_are_not_the_default(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    assert "the default ones" in sdgad("info", model).out
    options = ("--set", "history=3", "--set", "width=8", "--epochs", "1")
    sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *options)
    line = next(line for line in sdgad("info", tmp_path / "m").out.splitlines() if line.startswith("options"))
    assert line.split(maxsplit=1)[1] == "width=8, history=3, epochs=1"


def test_one_event_is_not_called_events(sdgad: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,dst,t,amount,channel\na,b,1900000000,2,card\n")
    assert ": 1 event scored" in sdgad("score", model, tmp_path / "x.csv", "-o", tmp_path / "s.csv").out


def test_scores_never_replace_the_events(sdgad: Command, model: Path, files: Path, tmp_path: Path) -> None:
    events = Path(shutil.copy(files / "new.csv", tmp_path / "new.csv"))
    before = events.read_bytes()
    (tmp_path / "link.csv").symlink_to(events)
    itself = "holds the events"
    for output in (events, tmp_path / "link.csv"):
        refused = sdgad("score", model, events, "-o", output)
        assert refused.code == 2
        assert itself in refused.err
    assert events.read_bytes() == before


def test_the_demo_refuses_a_place_that_is_taken_before_it_computes(
    sdgad: Command, model: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdgad.experiments.demo.run_demo", None)
    for place, said in ((model, "is a model folder"), (files / "new.csv", "is a file, not a folder")):
        refused = sdgad("demo", "--out", place)
        assert (refused.code, said in refused.err) == (2, True)


def test_a_demo_without_anomalies_says_so_in_place_of_a_table(sdgad: Command, tmp_path: Path) -> None:
    done = sdgad("demo", "--out", tmp_path / "d", "--events", 300)
    assert json.loads((tmp_path / "d" / "metrics.json").read_text())["test"]["anomalies"] == 0
    assert "more --events" in done.out
    assert "–" not in done.out


@pytest.mark.parametrize("command", ["score", "evaluate", "explain", "report", "update"])
@pytest.mark.parametrize(("shift", "note"), [(-400, "are older than"), (4000, "long after")])
def test_a_file_of_another_time_than_the_history_is_told_in_one_line(
    sdgad: Command, model: Path, payments: EventStream, tmp_path: Path, command: str, shift: int, note: str
) -> None:
    copy, table = shutil.copytree(model, tmp_path / "m"), payments[450:].to_arrow()
    moved = pc.add(table["t"], 86_400 * shift)
    table = table.set_column(table.column_names.index("t"), "t", moved)
    pq.write_table(table, tmp_path / "new.parquet")
    output = {"score": ("-o", tmp_path / "s.csv"), "report": ("-o", tmp_path / "p.html")}.get(command, ())
    outcome = sdgad(command, copy, tmp_path / "new.parquet", *output)
    assert outcome.code == 0
    (line,) = (line for line in outcome.err.splitlines() if "the model's history" in line)
    assert "150 events" in line
    assert note in line
    assert line.endswith(": are unit and dates of column 't' right?")
