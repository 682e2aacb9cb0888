"""Bad input gets one sentence that names file, column and row."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sdgad.atomic import whole_folder
from sdgad.errors import InputError
from sdgad.events.read import read_events
from sdgad.events.stream import ColumnNames, EventStream
from sdgad.events.table import read_table
from sdgad.events.write import write_events, write_table

HEADER = b"src,dst,t,label,amount\n"
GOOD = b"a,b,1,0,2.5\nb,c,2,1,3.5\n"


def sentence(caught: pytest.ExceptionInfo[InputError]) -> str:
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert message.count(". ") == 0
    return message


FILES: list[tuple[str, bytes, dict[str, Any], list[str]]] = [
    ("empty.csv", b"", {}, ["empty.csv is empty"]),
    ("empty.parquet", b"", {}, ["empty.parquet is empty"]),
    ("empty.jsonl", b"", {}, ["empty.jsonl is empty"]),
    ("blank.csv", b"\n\n", {}, ["blank.csv is empty"]),
    ("blank.jsonl", b"\n\n", {}, ["blank.jsonl holds no events"]),
    ("header.csv", HEADER, {}, ["header.csv holds no events"]),
    ("jodie.csv", b"user_id,item_id,timestamp,comma_separated_list_of_features\n", {}, ["holds no events"]),
    ("text.parquet", HEADER + GOOD, {}, ["text.parquet is not a readable Parquet file"]),
    ("cut.parquet", b"PAR1" + b"x" * 50, {}, ["cut.parquet is not a readable Parquet file"]),
    ("parquet.csv", b"PAR1" + b"x" * 50, {}, ["parquet.csv holds Parquet"]),
    ("parquet.jsonl", b"PAR1" + b"x" * 50, {}, ["parquet.jsonl holds Parquet"]),
    ("plain.csv.gz", HEADER + GOOD, {}, ["plain.csv.gz is not gzip"]),
    ("cut.csv.gz", gzip.compress((HEADER + GOOD) * 9, mtime=0)[:-20], {}, ["cut.csv.gz cannot be read"]),
    ("latin.csv", HEADER + "é,b,1,0,2\n".encode("latin-1"), {}, ["latin.csv is not UTF-8 text"]),
    ("latin.csv", HEADER + "é,b,1,0,2\n".encode("latin-1"), {}, ["by iconv -f latin1 -t utf-8 latin.csv"]),
    ("wide.csv", (HEADER + GOOD).decode().encode("utf-16"), {}, ["by iconv -f utf-16 -t utf-8 wide.csv"]),
    ("late.csv", HEADER + GOOD * 40000 + b"\xe9,b,3,0,2\n", {}, ["late.csv is not UTF-8 text"]),
    ("ragged.csv", HEADER + GOOD + b"a,b,3\n", {}, ["ragged.csv, row 3: 3 fields where there should be 5"]),
    ("events.xlsx", b"x", {}, ["events.xlsx has no known format", ".parquet", ".csv", ".jsonl"]),
    ("events", b"x", {}, ["has no known format"]),
    ("broken.jsonl", b'{"src": 1, "dst": 2, "t": 3}\n{"src": 1,\n', {}, ["row 2: not a line of JSON"]),
    ("array.json", b'[{"src": 1, "dst": 2, "t": 3}]', {}, ["array.json, row 1: not a JSON object"]),
    ("names.csv", b"a,b,c\n1,2,3\n", {}, ["names.csv has no column for the source", "'a', 'b', 'c'", "src="]),
    ("notime.csv", b"src,dst,c\n1,2,3\n", {}, ["notime.csv has no column for the time", "time="]),
    ("x.csv", HEADER + GOOD, {"src": "sorce"}, ["x.csv has no column 'sorce'", "'src', 'dst', 't'"]),
    ("x.csv", HEADER + GOOD, {"features": ["amuont"]}, ["'amuont'", "did you mean 'amount'?"]),
    ("x.csv", HEADER + GOOD, {"label": "fraud"}, ["x.csv has no column 'fraud'"]),
    ("x.csv", HEADER + GOOD, {"features": ["amount", "amount"]}, ["x.csv", "'amount' is named twice"]),
    ("x.csv", HEADER + GOOD, {"features": ["label"]}, ["'label' cannot be both the label and a feature"]),
    ("x.csv", HEADER + GOOD, {"features": ["src"]}, ["x.csv: column 'src' cannot be both the source and a feature"]),
    ("x.csv", HEADER + GOOD, {"features": ["dst"]}, ["'dst' cannot be both the destination and a feature"]),
    ("x.csv", HEADER + GOOD, {"features": ["t"]}, ["'t' cannot be both the time and a feature"]),
    ("x.csv", HEADER + GOOD, {"dst": "src"}, ["'src' cannot be both the source and the destination"]),
    ("x.csv", HEADER + GOOD, {"dst": "t"}, ["'t' cannot be both the destination and the time"]),
    ("x.csv", HEADER + GOOD, {"label": "dst"}, ["'dst' cannot be both the destination and the label"]),
    ("twice.csv", b"src,src,dst,t\n1,2,3,4\n", {}, ["twice.csv has 2 columns named 'src'"]),
    ("x.csv", HEADER + GOOD + b",b,3,0,1\n", {}, ["x.csv, column 'src', row 3: there is no id"]),
    ("x.csv", HEADER + GOOD + b'a,"",3,0,1\n', {}, ["x.csv, column 'dst', row 3: there is no id"]),
    ("x.csv", HEADER + GOOD + b"a,b,,0,1\n", {}, ["x.csv, column 't', row 3: there is no time"]),
    ("x.csv", HEADER + GOOD + b"a,b,noon,0,1\n", {}, ["x.csv, column 't', row 3: 'noon' is not a time"]),
    ("x.csv", HEADER + GOOD + b"a,b,3,2,1\n", {}, ["x.csv, column 'label', row 3: label '2' is not"]),
    ("x.csv", HEADER + GOOD + b"a,b,3,yes,1\n", {}, ["x.csv, column 'label', row 3: label 'yes'"]),
    (
        "x.csv", HEADER + GOOD + b'a,b,3,0,"12,5x"\n', {"features": ["amount"]},
        ["x.csv, column 'amount', row 3: '12,5x' is not a number"],
    ),
    (
        "semicolon.csv", b"src;dst;t;amount\na;b;1;\na;b;2;22,31\nb;c;3;-1.204,5\n", {"features": ["amount"]},
        ["semicolon.csv, column 'amount', row 2: '22,31' is not a number, which needs a decimal point"],
    ),
    (
        "semicolon.csv", b"src;dst;t;amount\na;b;1;7\na;b;2;x\nb;c;3;1,5\na;b;4;,5\n", {"features": ["amount"]},
        ["semicolon.csv, column 'amount', row 3: '1,5' is not a number, which needs a decimal point"],
    ),
    ("x.csv", HEADER + GOOD + b"a,b,3,0,inf\n", {"features": ["amount"]}, ["row 3: inf is infinite"]),
    ("x.csv", HEADER + GOOD + b"a,b,3,0,1e39\n", {"features": ["amount"]}, ["column 'amount', row 3: 1e39"]),
    ("x.csv", HEADER + GOOD, {"time_unit": "week"}, ["'week' is not one of"]),
    ("x.csv", HEADER + GOOD, {"timezone": "Berlin"}, ["no time zone 'Berlin'"]),
    ("big.jsonl", b'{"src": 1e17, "dst": 2, "t": 3}\n', {}, ["column 'src', row 1", "ids are text"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "fragments"), FILES)
def test_a_bad_file_is_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], fragments: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_events(path, **options)
    message = sentence(caught)
    for fragment in fragments:
        assert fragment in message


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path, problem in ((tmp_path / "none.csv", "does not exist"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=problem) as caught:
            read_events(str(path))
        assert str(path) in sentence(caught)


TABLES: list[tuple[dict[str, Any], list[str]]] = [
    ({"src": [1, None]}, ["The table, column 'src', row 2: there is no id"]),
    ({"src": ["x", ""]}, ["column 'src', row 2: there is no id"]),
    ({"src": [1.0, float("nan")]}, ["column 'src', row 2: there is no id"]),
    ({"dst": [1.0, 2.5]}, ["column 'dst', row 2: 2.5 is not an id"]),
    ({"dst": [True, False]}, ["column 'dst', row 1: ids are text or integers, not bool"]),
    ({"t": [1.0, None]}, ["column 't', row 2: there is no time"]),
    ({"label": [0, 3]}, ["column 'label', row 2: label 3 is not 0, 1 or empty"]),
    ({"label": [0.0, 0.5]}, ["column 'label', row 2: label 0.5"]),
    ({"label": [[0], [1]]}, ["column 'label', row 1: labels are 0, 1 or empty, not list"]),
    ({"msg": [[1.0, 2.0], [1.0]]}, ["column 'msg', row 2: 1 values where the rows before have 2"]),
    ({"msg": [[1.0, 2.0], [1.0, float("inf")]]}, ["column 'msg', row 2: inf"]),
    ({"msg": [["a"], ["b"]]}, ["column 'msg', row 1: a list of features holds numbers, not"]),
    ({"msg": pa.array([1, 2], pa.timestamp("s"))}, ["column 'msg', row 1: a feature is a number"]),
    ({"msg": [1.0, -float("inf")]}, ["column 'msg', row 2: -inf"]),
]


@pytest.mark.parametrize(("columns", "fragments"), TABLES)
def test_a_bad_table_is_refused_in_one_sentence(columns: dict[str, Any], fragments: list[str]) -> None:
    table = pa.table({"src": [1, 2], "dst": [3, 4], "t": [1, 2], **columns})
    with pytest.raises(InputError) as caught:
        read_events(table)
    message = sentence(caught)
    for fragment in fragments:
        assert fragment in message
    with pytest.raises(InputError, match=r"^events\.csv"):
        read_events(table, name="events.csv")


def test_mixed_numbers_in_a_data_frame_are_refused_by_row() -> None:
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [1, 2, 3], "t": [1, 2, 3], "amount": [1.5, 2, "12,5x"]})
    with pytest.raises(InputError, match=r"The data frame, column 'amount', row 3: '12,5x'"):
        read_events(frame, features=["amount"])


def test_tables_without_rows_and_things_that_are_no_tables_are_refused() -> None:
    with pytest.raises(InputError, match="The table holds no events"):
        read_events(pa.table({"src": [], "dst": [], "t": []}))
    for wrong in (5, {"src"}, np.zeros(3)):
        with pytest.raises(InputError, match=f"not from {type(wrong).__name__}"):
            read_table(wrong)


def test_output_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    events = EventStream([0, 1], [1, 2], [1, 2])
    with pytest.raises(InputError, match="has no known format"):
        write_events(events, tmp_path / "out.xlsx")
    with pytest.raises(InputError, match="does not exist"):
        write_events(events, tmp_path / "none" / "out.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write_events(events, tmp_path / "folder.csv")
    unwritable = pa.table({"x": pa.array([b"\xff"])})
    with pytest.raises(Exception, match=r"(?i)utf-?8"):
        write_table(unwritable, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_two_columns_of_one_name_are_not_written(tmp_path: Path) -> None:
    events = EventStream([1], [2], [3], names=ColumnNames(src="who", dst="who"))
    with pytest.raises(InputError, match="same name"):
        write_events(events, tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_text_with_a_few_commas_between_digits_is_still_a_category(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src;dst;t;tag\na;b;1;x\na;b;2;1,2\na;b;3;y\n")
    assert read_events(tmp_path / "x.csv", features=["tag"]).features[0].categories == ("1,2", "x", "y")


def test_a_place_that_cannot_be_written_is_named_and_not_its_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 245 + ".csv")  # a name that is possible, beside which no longer one is
    with pytest.raises(InputError) as caught:
        write_table(pa.table({"a": [1]}), path)
    assert sentence(caught).startswith(f"{path} cannot be written: ")
    with pytest.raises(InputError) as caught, whole_folder(path):
        pass
    assert sentence(caught).startswith(f"{path} cannot be written: ")
    assert list(tmp_path.iterdir()) == []


def test_half_of_a_surrogate_pair_is_named_by_column_and_row(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"src": "a", "dst": "b", "t": 1}\n{"src": "\\ud800", "dst": "b", "t": 2}\n')
    with pytest.raises(InputError, match=r"'src', row 2"):
        read_events(path)


@pytest.mark.parametrize(
    "amount",
    [
        "4,448.00",
        "1,234,567",
        "4 448,50",
        "4'448.50",
        "4\u202f448",
        "EUR 44.48",
        "$44",
        "44.48 €",
        "-£3.50",
        "12 %",
    ],
)
def test_amounts_as_people_write_them_are_no_categories(tmp_path: Path, amount: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f'src,dst,t,amount\na,b,1,"{amount}"\na,b,2,"{amount}"\na,b,3,12\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_events(path, features=["amount"])
    assert f"column 'amount', row 1: {amount!r} is not a number" in sentence(caught)
    assert "categories=" in sentence(caught)
    assert read_events(path, features=["amount"], categories=["amount"]).features[0].categories


@pytest.mark.parametrize("code", ["MCC 5411", "A12", "EUR", "10.0.0.1", "12:30", "2026-01-05", "5411-a"])
def test_codes_that_hold_digits_are_categories(tmp_path: Path, code: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"src,dst,t,code\na,b,1,{code}\na,b,2,{code}\n")
    assert read_events(path, features=["code"]).features[0].categories == (code,)
