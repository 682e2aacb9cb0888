"""Every type that arrow has, in every role: read, or refused with row and value; and carried into every format, or refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sdgad.errors import InputError
from sdgad.events.read import read_events
from sdgad.events.stream import EventStream
from sdgad.events.write import write_table

D = Decimal
COLUMNS: dict[str, pa.Array] = {
    "null": pa.nulls(3),
    "bool": pa.array([True, False, None]),
    "int8": pa.array([1, 2, None], pa.int8()),
    "uint64": pa.array([2**63, 2**64 - 1, 1], pa.uint64()),
    "float16": pa.array([1, 2, 3], pa.float16()),
    "float32": pa.array([1, 2**24, None], pa.float32()),
    "float64": pa.array([1.0, 2.0**53, float("nan")]),
    "infinite": pa.array([1.0, float("inf"), 2]),
    "decimal": pa.array([D("1"), D("12345678901234567890123"), None], pa.decimal128(38, 0)),
    "fraction": pa.array([D("1.50"), D("2.00"), None], pa.decimal128(10, 2)),
    "decimal256": pa.array([D("1"), D("2"), D("3")], pa.decimal256(60, 0)),
    "string": pa.array(["a", "b", None]),
    "string_view": pa.array(["a", "b", "c"], pa.string_view()),
    "binary": pa.array([b"\xff", b"b", None]),
    "large_binary": pa.array([b"\xff", b"b", None], pa.large_binary()),
    "binary_view": pa.array([b"a", b"b", b"c"], pa.binary_view()),
    "fixed binary": pa.array([b"ab", b"cd", None], pa.binary(2)),
    "date32": pa.array([date(2020, 1, 1), None, date(2020, 1, 2)]),
    "date64": pa.array([date(2020, 1, 1)] * 3, pa.date64()),
    "timestamp": pa.array([1, 2, 3], pa.timestamp("ns")),
    "far timestamp": pa.array([2**63 - 1, -(2**63) + 1, 3], pa.timestamp("s")),
    "unknown zone": pa.array([1, 2, 3], pa.timestamp("us", "Foo/Bar")),
    "time32": pa.array([1, 2, 3], pa.time32("s")),
    "duration": pa.array([1, 2, 3], pa.duration("ns")),
    "interval": pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()),
    "list": pa.array([[1.0], [2.0], None]),
    "list of text": pa.array([["a"], ["b"], None]),
    "list of nothing": pa.array([[None], [None], []]),
    "list of lists": pa.array([[[1]], [[2]], None]),
    "list of decimals": pa.array([[D("1")], [D("2")], [D("3")]]),
    "list view": pa.array([[1], [2], [3]], pa.list_view(pa.int64())),
    "fixed list": pa.array([[1, 2], [3, 4], None], pa.list_(pa.int32(), 2)),
    "struct": pa.array([{"a": 1}, {"a": 2}, None]),
    "map": pa.array([[("a", 1)], [("b", 2)], None], pa.map_(pa.string(), pa.int64())),
    "dictionary": pa.array(["a", "b", None]).dictionary_encode(),
    "dictionary of integers": pa.array([1, 2, 1]).dictionary_encode(),
    "dictionary of bytes": pa.array([b"\xff", b"b", None]).dictionary_encode(),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3], pa.int32()), pa.array(["a"])),
    "union": pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a"])]
    ),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16] * 3, pa.binary(16))),
}
ROLES = ("src", "dst", "t", "label", "msg", "category", "anomaly_type", "note")


def problem_of(act: Callable[[], object]) -> str | None:
    """The sentence in which something is refused; None where it is done. Anything else is a failure."""
    try:
        act()
    except InputError as problem:
        return str(problem)
    return None


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_type_is_read_or_refused_by_row(kind: str, role: str) -> None:
    name = "msg" if role == "category" else role
    table = pa.table({"src": ["a", "b", "c"], "dst": [1, 2, 3], "t": [1, 2, 3], name: COLUMNS[kind]})
    problem = problem_of(lambda: read_events(table, categories=["msg"] if role == "category" else ()))
    assert problem is None or problem.startswith(f"The table, column {name!r}, row ")
    assert "\n" not in (problem or "")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_type_is_carried_or_refused_by_name(tmp_path: Path, kind: str, suffix: str) -> None:
    path = tmp_path / f"out.{suffix}"
    table = pa.table({"src": ["a", "b", "c"], "note": COLUMNS[kind]})
    problem = problem_of(lambda: write_table(table, path))
    assert problem is None or problem.startswith(f"{path}: column 'note' of type ")
    assert path.exists() == (problem is None)


TOLD = [
    ("src", pa.array([None, True]), "row 1: there is no id"),
    ("src", pa.array([True, False]), "row 1: ids are text or integers, not bool like True"),
    ("src", pa.array([{"a": 1}, {"a": 2}]), "row 1: ids are text or integers, not struct<a: int64> like {'a': 1}"),
    ("label", pa.array([None, [1]]), "row 2: labels are 0, 1 or empty, not list<item: int64> like [1]"),
    ("label", pa.array(["0", "x" * 9999]), "row 2: label 'xxx"),
    ("msg", pa.array([None, date(2026, 1, 5)]), "row 2: a feature is a number, a text or a list of numbers, not date32"),
    ("msg", pa.array([["a"], ["b"]]), "row 1: a list of features holds numbers, not list<item: string> like ['a']"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "problem"), TOLD)
def test_a_wrong_type_is_told_by_row_and_value(name: str, values: pa.Array, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_events(pa.table({"src": ["a", "b"], "dst": [1, 2], "t": [1, 2], name: values}))
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 700


def ids(values: Any) -> list[str]:
    table = pa.table({"src": values, "dst": ["b"] * len(values), "t": range(len(values))})
    events = read_events(table)
    return [str(one) for one in events.vocabulary.raw(events.src).to_pylist()]


def test_numbers_that_are_exact_are_ids() -> None:
    assert ids(pa.array([2**64 - 1, 2**64 - 2], pa.uint64())) == [str(2**64 - 1), str(2**64 - 2)]
    assert ids(pa.array([1042.0, 2.0**53 - 1])) == ["1042", str(2**53 - 1)]
    assert ids(pa.array([D(10**30), D(1)], pa.decimal128(38, 0))) == [str(10**30), "1"]
    assert ids(pa.array([2**24 - 1], pa.float32())) == [str(2**24 - 1)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, 2.0**53]),
        pa.array([1, 2**24], pa.float32()),
        pa.array([1, 2048], pa.float16()),
        pa.array([1.0, -(2.0**60)]),
    ],
)
def test_floats_that_have_lost_digits_are_no_ids(values: pa.Array) -> None:
    with pytest.raises(
        InputError, match=r"row 2: .* is not an id; ids are text or integers, and so large a float has lost"
    ):
        ids(values)
    with pytest.raises(InputError, match="row 2"):
        EventStream(values, values, [1, 2])


def test_a_stream_of_large_numbers_keeps_them_apart() -> None:
    events = EventStream(np.array([2**64 - 1, 2**64 - 2], np.uint64), [1, 2], [1, 2])
    assert events.vocabulary.raw(events.src).to_pylist() == [str(2**64 - 1), str(2**64 - 2)]


@pytest.mark.parametrize("odd", [[1], {"a": 1}, b"x", (1, 2), {1}])
def test_what_is_no_single_value_is_no_id_among_others(odd: Any) -> None:
    frame = pd.DataFrame({"src": pd.Series(["a", odd], dtype=object), "dst": ["b", "c"], "t": [1, 2]})
    with pytest.raises(InputError, match=r"The data frame, column 'src', row [12]: "):
        read_events(frame)


def test_a_truth_value_is_no_number_among_floats() -> None:
    with pytest.raises(InputError, match="column 'src', row 2: 'true' is not an id"):
        read_events({"src": [2.0, True], "dst": ["b", "c"], "t": [1, 2]})
