"""Bad input through the command line: one line on stderr that names the thing, exit code 2, no output."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from .conftest import Command, Outcome, environment

HEADER = b"src,dst,t,label,amount,channel\n"
GOOD = b"".join(b"a%d,b,%d,%d,2.5,card\n" % (i % 5, i, i % 7 == 0) for i in range(40))
BAD_FILES = {
    "empty": ("x.csv", b"", ["is empty"]),
    "without rows": ("x.csv", HEADER, ["holds no events"]),
    "corrupt Parquet": ("x.parquet", b"PAR1" + b"?" * 99, ["not a readable Parquet file"]),
    "unknown format": ("x.xlsx", b"?", ["has no known format"]),
    "no text": ("x.csv", HEADER + b"\xff\xfe,b,1,0,1,card\n", ["not UTF-8"]),
    "unreadable time": ("x.csv", HEADER + GOOD + b"a,b,noon,0,1,card\n", ["column 't'", "row 41", "'noon'"]),
    "missing time": ("x.csv", HEADER + GOOD + b"a,b,,0,1,card\n", ["column 't'", "row 41", "no time"]),
    "missing id": ("x.csv", HEADER + GOOD + b",b,50,0,1,card\n", ["column 'src'", "row 41", "no id"]),
    "ragged row": ("x.csv", HEADER + GOOD + b"a,b,50\n", ["row 41", "3 fields where there should be 6"]),
    "infinite": ("x.csv", HEADER + GOOD + b"a,b,50,0,inf,card\n", ["column 'amount'", "row 41", "inf"]),
    "not JSON": ("x.jsonl", b'{"src": 1,\n', ["row 1", "not a line of JSON"]),
}
BAD_LABELS = {  # to whom they matter
    "label 2": ("x.csv", HEADER + GOOD + b"a,b,50,2,1,card\n", ["column 'label'", "row 41", "'2'"]),
    "label yes": ("x.csv", HEADER + GOOD + b"a,b,50,yes,1,card\n", ["column 'label'", "row 41", "'yes'"]),
}


def refused(outcome: Outcome, *words: object) -> None:
    """The whole stderr is one sentence with these words."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.endswith((".\n", "?\n"))
    assert "─" not in outcome.err  # no box around it
    assert "Value error" not in outcome.err
    for word in words:
        assert str(word) in outcome.err


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("case", BAD_FILES | BAD_LABELS)
def test_fit_refuses_a_bad_file(sdgad: Command, tmp_path: Path, case: str) -> None:
    name, content, words = (BAD_FILES | BAD_LABELS)[case]
    (tmp_path / name).write_bytes(content)
    outcome = sdgad("fit", tmp_path / name, "-o", tmp_path / "model", "--features", "amount,channel")
    refused(outcome, tmp_path / name, *words)
    assert left_in(tmp_path) == {name}


@pytest.mark.parametrize("case", BAD_FILES)
def test_score_evaluate_and_update_refuse_a_bad_file(
    sdgad: Command, model: Path, tmp_path: Path, case: str
) -> None:
    name, content, words = BAD_FILES[case]
    (tmp_path / name).write_bytes(content)
    before = (model / "manifest.json").read_bytes()
    refused(sdgad("score", model, tmp_path / name, "-o", tmp_path / "s.csv"), tmp_path / name, *words)
    refused(sdgad("evaluate", model, tmp_path / name), tmp_path / name, *words)
    refused(sdgad("update", model, tmp_path / name), tmp_path / name, *words)
    assert left_in(tmp_path) == {name}
    assert (model / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("command", ["score", "explain", "report", "update"])
def test_a_label_that_is_none_is_unknown_to_a_command_that_needs_none(
    sdgad: Command, model: Path, files: Path, tmp_path: Path, command: str
) -> None:
    copy = shutil.copytree(model, tmp_path / "model")
    table = csv.read_csv(
        files / "new.csv", convert_options=csv.ConvertOptions(column_types={"label": "string"})
    )
    labels, sources = table["label"].to_pylist(), table["src"].to_pylist()
    labels[3], labels[7], sources[1] = "?", "maybe", ""  # a row that is set aside before them moves no number
    for name, values in (("label", labels), ("src", sources)):
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    csv.write_csv(table, tmp_path / "new.csv")
    output = {"score": ("-o", tmp_path / "s.csv"), "report": ("-o", tmp_path / "p.html")}.get(command, ())
    outcome = sdgad(command, copy, tmp_path / "new.csv", "--bad-rows", "skip", *output)
    assert outcome.code == 0
    assert (
        f"{tmp_path / 'new.csv'}, column 'label': 2 of 149 labels are not 0, 1 or empty and are taken as unknown, "
        "the first of them '?' in row 4.\n" in outcome.err
    )
    if command == "score":
        assert csv.read_csv(tmp_path / "s.csv")["label"].to_pylist() == labels  # as they were
    refused(
        sdgad("evaluate", copy, tmp_path / "new.csv", "--bad-rows", "skip"),
        "column 'label', row 4: label '?' is not 0, 1 or empty",
    )


def test_a_column_that_holds_no_label_at_all_is_unknown_to_a_command_that_needs_none(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    table = pq.read_table(files / "new.parquet")
    dates = pa.array([0] * len(table), pa.date32())
    pq.write_table(
        table.set_column(table.column_names.index("label"), "label", dates), tmp_path / "x.parquet"
    )
    outcome = sdgad("score", model, tmp_path / "x.parquet", "-o", tmp_path / "s.csv")
    assert outcome.code == 0
    assert f"{len(table)} of {len(table)} labels are not 0, 1 or empty" in outcome.err
    refused(
        sdgad("evaluate", model, tmp_path / "x.parquet"), "column 'label', row 1: labels are 0, 1 or empty"
    )


def test_ragged_features_are_named_by_column_and_row(sdgad: Command, tmp_path: Path) -> None:
    table = pa.table({"src": [1, 2], "dst": [3, 4], "t": [1, 2], "msg": [[1.0, 2.0], [1.0]]})
    pq.write_table(table, tmp_path / "x.parquet")
    outcome = sdgad("fit", tmp_path / "x.parquet", "-o", tmp_path / "model")
    refused(outcome, tmp_path / "x.parquet", "column 'msg'", "row 2")
    assert left_in(tmp_path) == {"x.parquet"}


def test_missing_files_and_folders_are_named(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    for path, problem in ((tmp_path / "none.csv", "does not exist"), (files, "is a folder")):
        refused(sdgad("fit", path, "-o", tmp_path / "model"), path, problem)
        refused(sdgad("score", model, path, "-o", tmp_path / "s.csv"), path, problem)
        refused(sdgad("evaluate", model, path), path, problem)
        refused(sdgad("update", model, path), path, problem)
        refused(sdgad("fit", files / "past.csv", "-o", tmp_path / "model", "--val", path), path, problem)
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--src", "payer"], ["no column 'payer'", "'src', 'dst'"]),
        (["--time", "tt"], ["no column 'tt'", "did you mean 't'?"]),
        (["--label", "fraud"], ["no column 'fraud'"]),
        (["--features", "amount,amuont"], ["no column 'amuont'", "did you mean 'amount'?"]),
        (["--features", "amount,src"], ["'src' cannot be both the source and a feature"]),
        (["--dst", "src"], ["'src' cannot be both the source and the destination"]),
        (["--time-unit", "week"], ["'week' is not one of"]),
        (["--timezone", "Berlin"], ["no time zone 'Berlin'"]),
        (["--labels", "few-shot", "--k", "50"], ["k=50", "there are"]),
    ],
)
def test_columns_and_settings_that_the_file_does_not_have_are_named(
    sdgad: Command, files: Path, tmp_path: Path, options: list[str], words: list[str]
) -> None:
    refused(sdgad("fit", files / "past.csv", "-o", tmp_path / "m", *options), files / "past.csv", *words)
    assert left_in(tmp_path) == set()


def test_a_column_that_nobody_can_guess_is_asked_for_by_its_option(sdgad: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,c\n1,2,3\n")
    refused(
        sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m"), "x.csv", "name it with --src", "'a', 'b', 'c'"
    )


def test_labels_must_be_there_if_they_are_asked_for(sdgad: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"src,dst,t\n" + b"a,b,1\n" * 40)
    outcome = sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", "--labels", "all")
    refused(outcome, tmp_path / "x.csv", "no training event has a label", "--labels all")


def test_too_few_events_are_counted(sdgad: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(HEADER + b"".join(GOOD.splitlines(True)[:15]))
    refused(
        sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m"), tmp_path / "x.csv", "too few events to fit"
    )
    (tmp_path / "one.csv").write_bytes(HEADER + b"a,b,1,0,2,card\n")
    refused(sdgad("fit", tmp_path / "one.csv", "-o", tmp_path / "m"), tmp_path / "one.csv", "too few")
    assert left_in(tmp_path) == {"x.csv", "one.csv"}


def test_validation_before_training_is_refused(sdgad: Command, files: Path, tmp_path: Path) -> None:
    outcome = sdgad("fit", files / "new.csv", "--val", files / "past.csv", "-o", tmp_path / "m")
    refused(outcome, files / "new.csv", files / "past.csv", "begin before")


def test_features_that_the_model_needs_must_be_there(sdgad: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,dst,t,amount\na,b,1,2\n")
    outcome = sdgad("score", model, tmp_path / "x.csv", "-o", tmp_path / "s.csv")
    refused(outcome, tmp_path / "x.csv", "'channel'")
    assert left_in(tmp_path) == {"x.csv"}


def test_evaluation_without_labels_is_refused(sdgad: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,dst,t,amount,channel\na,b,2026-02-01,2,card\n")
    refused(sdgad("evaluate", model, tmp_path / "x.csv"), tmp_path / "x.csv", "no label column 'label'")
    (tmp_path / "y.csv").write_text("src,dst,t,amount,channel,label\na,b,2026-02-01,2,card,\n")
    refused(sdgad("evaluate", model, tmp_path / "y.csv"), tmp_path / "y.csv", "no label in column 'label'")


@pytest.mark.parametrize(
    ("old", "new", "options"),
    [("label", "anomaly", ["--label", "anomaly"]), ("amount", "score", ["--features", "score"])],
)
def test_a_column_whose_name_scores_need_is_refused_before_the_fit_and_not_after_it(
    sdgad: Command, files: Path, tmp_path: Path, old: str, new: str, options: list[str]
) -> None:
    head, _, rest = (files / "past.csv").read_text().partition("\n")
    assert old in head.split(",")
    (tmp_path / "x.csv").write_text(
        ",".join(new if name == old else name for name in head.split(",")) + "\n" + rest
    )
    outcome = sdgad("fit", tmp_path / "x.csv", "-o", tmp_path / "m", "--detector", "histogram", *options)
    refused(outcome, tmp_path / "x.csv", repr(new), "`sdgad score`")
    assert left_in(tmp_path) == {"x.csv"}


def test_a_number_of_labels_that_nobody_asked_for_is_refused(
    sdgad: Command, files: Path, tmp_path: Path
) -> None:
    refused(sdgad("fit", files / "past.csv", "-o", tmp_path / "m", "--k", "3"), "--k", "--labels few-shot")
    assert left_in(tmp_path) == set()


# ---------------------------------------------------------------------- options
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit"], ["EVENTS"]),
        (["fit", "x.csv"], ["--output"]),
        (["score", "model"], ["EVENTS"]),
        (["fit", "x.csv", "-o", "m", "--labels", "some"], ["--labels", "'some'", "few-shot"]),
        (["fit", "x.csv", "-o", "m", "--seed", "x"], ["--seed"]),
        (["fit", "x.csv", "-o", "m", "--epochs", "0"], ["--epochs"]),
        (["fit", "x.csv", "-o", "m", "--k", "0"], ["--k"]),
        (["fit", "x.csv", "-o", "/proc/m"], ["/proc/m", "cannot be written"]),
        (["fit", "x.csv", "-o", "m", "--device", "gpu"], ["--device", "'gpu'"]),
        (["fit", "x.csv", "-o", "m", "--colour", "red"], ["--colour"]),
        (["fit", "x.csv", "-o", "m", "--set", "history"], ["--set", "'history'"]),
        (["fit", "x.csv", "-o", "m", "--set", "histroy=3"], ["'histroy'", "did you mean 'history'?"]),
        (["fit", "x.csv", "-o", "m", "--set", "history=many"], ["history", "'many'", "int"]),
        (["fit", "x.csv", "-o", "m", "--set", "seed=1", "--seed", "1"], ["'seed'", "twice"]),
        (["fit", "x.csv", "-o", "m", "--set", "gamma=1", "--set", "gamma=2"], ["'gamma'", "twice"]),
        (["fit", "x.csv", "-o", "m", "--detector", "oracle"], ["'oracle'", "sdgad"]),
        (["fit", "x.csv", "-o", "m", "--encoder", "oracle"], ["'oracle'", "tcl"]),
        (["fit", "x.csv", "-o", "m", "--detector", "boosting", "--encoder", "tcl"], ["boosting", "encoder"]),
        (["fit", "x.csv", "-o", "m", "--config", "none.toml"], ["none.toml", "does not exist"]),
        (["fit", "x.csv", "-o", "m", "--config", "settings.ini"], ["settings.ini", ".json or .toml"]),
        (["demo", "--labels", "few-shot"], ["--labels"]),
        (["demo", "--events", "3"], ["--events"]),
        (["list", "planets"], ["There is no list of 'planets', only of encoders, detectors and datasets."]),
        (["list"], ["encoders", "detectors"]),
        (["fitt"], ["'fitt'", "'fit'"]),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named(
    sdgad: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(sdgad(*arguments), *words)
    assert left_in(tmp_path) == set()


BAD_CONFIGS = [
    ("c.json", "{", "cannot be read"),
    ("c.toml", "a = ", "cannot be read"),
    ("c.json", "[1]", "one JSON object"),
    ("c.json", '{"histroy": 3}', "'histroy'"),
    ("c.toml", "gamma = 'x'", "gamma='x'"),
]


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_a_bad_config_file_is_refused(
    sdgad: Command, files: Path, tmp_path: Path, case: tuple[str, str, str]
) -> None:
    name, content, word = case
    (tmp_path / name).write_text(content)
    refused(sdgad("fit", files / "past.csv", "-o", tmp_path / "m", "--config", tmp_path / name), word)
    assert left_in(tmp_path) == {name}


# ---------------------------------------------------------------------- places to write
def test_output_that_cannot_be_written_is_refused_before_the_work(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    new, nowhere = files / "new.csv", tmp_path / "none" / "out.csv"
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    (tmp_path / "s.csv").mkdir()
    refused(sdgad("score", model, new, "-o", nowhere), nowhere.parent, "does not exist")
    refused(sdgad("score", model, new, "-o", tmp_path / "s.xlsx"), "s.xlsx", "no known format")
    refused(sdgad("score", model, new, "-o", tmp_path / "s.csv"), "s.csv", "is a folder")
    refused(sdgad("fit", "none.csv", "-o", nowhere), nowhere.parent, "does not exist")
    refused(sdgad("fit", "none.csv", "-o", tmp_path / "file"), tmp_path / "file", "is a file")
    refused(sdgad("fit", "none.csv", "-o", tmp_path / "folder"), tmp_path / "folder", "notes.txt")
    assert left_in(tmp_path) == {"file", "folder", "s.csv"}
    assert left_in(tmp_path / "folder") == {"notes.txt"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(
    sdgad: Command, model: Path, files: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o500)
    refused(sdgad("score", model, files / "new.csv", "-o", tmp_path / "s.csv"), tmp_path, "ermission denied")


# ---------------------------------------------------------------------- model folders
def _truncate(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])


def _alter(folder: Path) -> None:
    file = folder / "state.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def _from_the_future(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format_version": 99}))


def _lose(folder: Path) -> None:
    (folder / "calibration.json").unlink()


def _pickle(folder: Path) -> None:
    (folder / "extra.pkl").write_bytes(pickle.dumps(print))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (_truncate, "model.safetensors is truncated"),
    "altered": (_alter, "state.safetensors was altered"),
    "from a newer format": (_from_the_future, "newer"),
    "incomplete": (_lose, "calibration.json is missing"),
    "with a pickle": (_pickle, "is a pickle"),
    "missing": (shutil.rmtree, "does not exist"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model_is_refused(
    sdgad: Command, model: Path, files: Path, tmp_path: Path, damage: str
) -> None:
    bad, new = tmp_path / "model", files / "new.csv"
    shutil.copytree(model, bad)
    spoil, word = DAMAGE[damage]
    spoil(bad)
    refused(sdgad("info", bad), bad, word)
    refused(sdgad("score", bad, new, "-o", tmp_path / "s.csv"), bad, word)
    refused(sdgad("evaluate", bad, new), bad, word)
    refused(sdgad("update", bad, new), bad, word)
    assert left_in(tmp_path) <= {"model"}


def test_a_file_is_no_model(sdgad: Command, files: Path) -> None:
    refused(sdgad("info", files / "new.csv"), files / "new.csv", "is a file")


# ---------------------------------------------------------------------- a real process
def test_a_process_ends_with_exit_code_2_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    command = [sys.executable, "-m", "sdgad.cli.main", "fit", "empty.csv", "-o", "model"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "empty.csv is empty.\n")
    assert left_in(tmp_path) == {"empty.csv"}
