"""Events are the same whatever they are read from."""

from __future__ import annotations

import gzip
import itertools
import json
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdgad.errors import InputError
from sdgad.events.column import UNTYPED
from sdgad.events.read import read_events
from sdgad.events.stream import ColumnNames, EventStream
from sdgad.events.table import read_table

ROWS: dict[str, list[Any]] = {
    "payer": ["ann", "bob b.", "💸", "ann"],
    "payee": ["shop", "shop", "ann", "bob b."],
    "when": ["2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z", "2024-01-01T01:00:00+01:00", "2024-01-02"],
    "is_fraud": [0, 1, None, 0],
    "amount": [1.5, None, -3.25, 1e6],
    "currency": ["EUR", "USD", None, "EUR"],
}
NAMES: dict[str, Any] = {
    "src": "payer", "dst": "payee", "time": "when", "label": "is_fraud", "features": ["amount", "currency"]
}  # fmt: skip


def as_csv(path: Path, delimiter: str = ",") -> None:
    text = pd.DataFrame(ROWS).astype({"is_fraud": "Int8"}).to_csv(index=False, sep=delimiter)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def as_json(path: Path) -> None:
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    path.write_text("\n\n".join(json.dumps(row) for row in rows))


def source(kind: str, folder: Path) -> Any:
    path = folder / f"events.{kind}"
    makers: dict[str, Any] = {
        "parquet": lambda: pq.write_table(pa.table(ROWS), path),
        "csv": lambda: as_csv(path),
        "csv.gz": lambda: as_csv(path),
        "tsv": lambda: as_csv(path, "\t"),
        "jsonl": lambda: as_json(path),
        "ndjson": lambda: as_json(path),
        "json": lambda: as_json(path),
    }
    if kind in makers:
        makers[kind]()
        return path
    return {"arrow": pa.table(ROWS), "pandas": pd.DataFrame(ROWS), "semicolon": folder / "semicolon.csv"}[
        kind
    ]


KINDS = ["parquet", "csv", "csv.gz", "tsv", "jsonl", "ndjson", "json", "arrow", "pandas"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_rows_are_the_same_events_from_every_source(kind: str, tmp_path: Path) -> None:
    events = read_events(source(kind, tmp_path), **NAMES)
    first = 1_704_067_200.0  # rows 1 and 3 are at the same time, in order of arrival
    assert events.t.tolist() == [first, first, first + 1, first + 86400]
    assert events.row.tolist() == [0, 2, 1, 3]
    assert events.vocabulary.raw(events.src).to_pylist() == ["ann", "💸", "bob b.", "ann"]
    assert events.vocabulary.raw(events.dst).to_pylist() == ["shop", "ann", "shop", "bob b."]
    assert events.num_nodes == 4
    assert np.array_equal(events.label, np.float32([0, np.nan, 1, 0]), equal_nan=True)
    assert events.features[0].categories is None
    assert events.features[1].categories == ("EUR", "USD")
    nan = np.nan
    expected = np.float32([[1.5, 0], [-3.25, nan], [nan, 1], [1e6, 0]])
    assert events.msg is not None
    assert events.msg.dtype == np.float32
    assert np.array_equal(events.msg, expected, equal_nan=True)
    assert events.clock.wall_clock
    assert events.names == ColumnNames(
        "payer", "payee", "when", "is_fraud", ("amount", "currency"), ("currency",)
    )


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow", "pandas"])
def test_a_table_that_was_read_gives_the_same_events_as_its_source(kind: str, tmp_path: Path) -> None:
    direct = read_events(source(kind, tmp_path), **NAMES)
    through = read_events(read_table(source(kind, tmp_path)), **NAMES)
    assert np.array_equal(direct.src, through.src)
    assert np.array_equal(direct.msg, through.msg, equal_nan=True)  # type: ignore[arg-type]


def test_semicolons_and_a_byte_order_mark_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes("\ufeffsrc;dst;t\na,b;c;1\n".encode())
    events = read_events(path)
    assert events.vocabulary.raw(events.src).to_pylist() == ["a,b"]


def test_other_files_are_read_by_the_names_of_an_earlier_stream(tmp_path: Path) -> None:
    columns = read_events(source("csv", tmp_path), **NAMES).names
    fewer = {name: values for name, values in ROWS.items() if name != "is_fraud"}
    again = read_events(pa.table(fewer), columns=columns)
    assert not again.has_labels
    assert [feature.name for feature in again.features] == ["amount", "currency"]
    del fewer["amount"]
    with pytest.raises(InputError, match="no column 'amount'"):
        read_events(pa.table(fewer), columns=columns)


def test_a_feature_stays_categorical_for_the_names_of_an_earlier_stream() -> None:
    columns = read_events(table(code=["5411", "7995"]), features=["code"]).names
    csv = table(code=["7995", "5411"])
    csv = csv.set_column(3, pa.field("code", pa.string(), metadata=UNTYPED), csv["code"])
    for later in (csv, table(code=[7995, 5411])):
        assert read_events(later, columns=columns).features[0].categories == ("5411", "7995")
    empty = read_events(table(code=pa.nulls(2)), columns=columns)
    assert empty.features[0].categories == ()
    assert empty.msg is not None
    assert np.isnan(empty.msg).all()


# ---------------------------------------------------------------------- ids
def table(**columns: Any) -> pa.Table:
    count = len(next(iter(columns.values()))) if columns else 2
    return pa.table(
        {"src": list(range(count)), "dst": list(range(count)), "t": list(range(count)), **columns}
    )


def csv_file(folder: Path, text: str) -> Path:
    path = folder / "events.csv"
    path.write_text(text)
    return path


def test_padded_ids_stay_distinct_in_text(tmp_path: Path) -> None:
    events = read_events(csv_file(tmp_path, "src,dst,t\n007,7,1\n7,007,2\n"))
    assert events.num_nodes == 2
    assert events.vocabulary.raw(events.src).to_pylist() == ["007", "7"]


@pytest.mark.parametrize("odd", ["0x7", "+7", "7.0", " 7", "-0", "9223372036854775808", "7e0"])
def test_text_that_is_not_a_canonical_integer_is_not_an_integer(tmp_path: Path, odd: str) -> None:
    events = read_events(csv_file(tmp_path, f"src,dst,t\n{odd},7,1\n7,7,2\n"))
    assert events.vocabulary.raw(events.src).to_pylist() == [odd, "7"]


def test_canonical_integers_in_text_are_integers(tmp_path: Path) -> None:
    events = read_events(csv_file(tmp_path, "src,dst,t\n0,-12,1\n9223372036854775807,0,2\n"))
    assert events.vocabulary.raw(events.src).to_pylist() == [0, 2**63 - 1]
    assert events.vocabulary.raw(events.dst).to_pylist() == [-12, 0]


def test_integer_ids_of_every_width_and_whole_floats_are_ids() -> None:
    for kind in (pa.int8(), pa.int32(), pa.uint16(), pa.uint64(), pa.float64()):
        events = read_events(table(src=pa.array([3, 5], kind)))
        assert events.vocabulary.raw(events.src).to_pylist() == [3, 5]
    huge = read_events(table(src=pa.array([2**64 - 1, 5], pa.uint64())))
    assert huge.vocabulary.raw(huge.src).to_pylist() == [str(2**64 - 1), "5"]


def test_mixed_ids_in_json_and_pandas_are_text(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"src": 1, "dst": "x", "t": 1}\n{"src": "a", "dst": "y", "t": 2}\n')
    for mixed in (path, pd.DataFrame({"src": [1, "a"], "dst": ["x", "y"], "t": [1, 2]})):
        events = read_events(mixed)
        assert events.vocabulary.raw(events.src).to_pylist() == ["1", "a"]


def test_json_ids_that_look_like_dates_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "dates.jsonl"
    path.write_text('{"src": "2024-01-01", "dst": "2024-01-02", "t": "2024-01-03"}\n')
    events = read_events(path)
    assert events.vocabulary.raw(events.src).to_pylist() == ["2024-01-01"]
    assert events.t.tolist() == [1_704_240_000.0]


def test_bipartite_gives_each_side_its_own_names() -> None:
    assert read_events(table(src=[1, 2], dst=[1, 2])).num_nodes == 2
    assert read_events(table(src=[1, 2], dst=[1, 2]), bipartite=True).num_nodes == 4


# ---------------------------------------------------------------------- features
def test_only_named_and_conventional_features_are_taken_and_the_others_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "sdgad.events"):
        events = read_events(table(amount=[1.0, 2.0], note=["x", "y"]))
    assert events.num_features == 0
    assert "'amount', 'note'" in caplog.text
    caplog.clear()
    assert read_events(table(amount=[1.0, 2.0], msg=[[1.0], [2.0]]), features=["amount"]).num_features == 1
    assert not caplog.records


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.float32()), pa.list_(pa.float64(), 2), pa.large_list(pa.int64()), pa.list_(pa.float16())],
)
def test_lists_of_numbers_are_spread_over_columns(kind: pa.DataType) -> None:
    msg = pa.array([[1, 2], None, [3, None]], pa.list_(pa.float64())).cast(kind)
    events = read_events(table(msg=msg))
    assert events.msg is not None
    nan = np.nan
    assert np.array_equal(events.msg, np.float32([[1, 2], [nan, nan], [3, nan]]), equal_nan=True)
    assert [feature.name for feature in events.features] == ["msg0", "msg1"]
    assert events.names.features == ("msg",)


def test_a_list_in_a_slice_or_in_several_chunks_is_read_in_full() -> None:
    whole = table(msg=pa.array([[float(i), -float(i)] for i in range(6)], pa.list_(pa.float32(), 2)))
    sliced = read_events(pa.concat_tables([whole.slice(1, 2), whole.slice(4, 2)]))
    assert sliced.msg is not None
    assert sliced.msg.tolist() == [[1, -1], [2, -2], [4, -4], [5, -5]]


def test_msg_means_the_same_numbers_as_a_list_and_as_columns() -> None:
    as_list = table(msg=[[1.0, 2.0], [3.0, 4.0]])
    as_msg = table(msg0=[1.0, 3.0], msg1=[2.0, 4.0])
    as_f = table(f0=[1.0, 3.0], f1=[2.0, 4.0])
    for columns in (ColumnNames(features=("msg",)), ColumnNames(features=("f0", "f1"))):
        for one in (as_list, as_f):
            events = read_events(one, columns=columns)
            assert events.msg is not None
            assert events.msg.tolist() == [[1, 2], [3, 4]]
            expected = ["msg0", "msg1"] if columns.features == ("msg",) else ["f0", "f1"]
            assert [feature.name for feature in events.features] == expected
    for one in (as_list, as_msg, as_f):
        assert [feature.name for feature in read_events(one).features] == ["msg0", "msg1"]
    with pytest.raises(InputError, match="no column 'f2'"):
        read_events(as_list, columns=ColumnNames(features=("f0", "f2")))


def test_truth_values_and_dictionaries_are_categories() -> None:
    events = read_events(
        table(flag=[True, None, False], kind=pa.array(["b", "a", "b"]).dictionary_encode()),
        features=["flag", "kind"],
    )
    assert [feature.categories for feature in events.features] == [("false", "true"), ("a", "b")]
    assert events.msg is not None
    assert np.array_equal(events.msg, np.float32([[1, 1], [np.nan, 0], [0, 1]]), equal_nan=True)


@pytest.mark.parametrize(
    "codes",
    [[80, 443, None, 80], [80.0, 443.0, None, 80.0], ["80", "443", None, "80"]],
    ids=["int", "float", "text"],
)
def test_named_categories_are_codes_whatever_they_look_like(codes: list[Any], tmp_path: Path) -> None:
    table = pa.table(
        {"src": ["a"] * 4, "dst": ["b"] * 4, "t": [1, 2, 3, 4], "port": codes, "size": [1, 2, 3, 4]}
    )
    (tmp_path / "e.csv").write_text("src,dst,t,port,size\na,b,1,80,1\na,b,2,443,2\na,b,3,,3\na,b,4,80,4\n")
    for source in (table, tmp_path / "e.csv"):
        events = read_events(source, features="size", categories="port")
        assert [feature.name for feature in events.features] == ["size", "port"]
        assert events.features[1].categories == ("443", "80")
        np.testing.assert_array_equal(events.msg[:, 1], [1, 0, np.nan, 1])
        assert events.names.categorical == ("port",)


def test_a_wrong_name_is_complained_of_before_what_was_not_named() -> None:
    table = pa.table({"payer": ["a"], "payee": ["b"], "moment": [1]})
    with pytest.raises(InputError, match="no column 'payr'"):
        read_events(table, src="payr")


def test_text_with_types_is_categorical_even_if_it_looks_like_numbers() -> None:
    assert read_events(table(code=["5411", "7995"]), features=["code"]).features[0].categories == (
        "5411",
        "7995",
    )


def test_text_without_types_is_numeric_if_it_looks_like_numbers(tmp_path: Path) -> None:
    text = "src,dst,t,amount,kind\na,b,1, 1.5 ,NA\na,b,2,NaN,x\na,b,3,,y\na,b,4,-2e3,7\n"
    events = read_events(csv_file(tmp_path, text), features=["amount", "kind"])
    assert events.features[0].categories is None
    assert events.features[1].categories == ("7", "NA", "x", "y")
    assert events.msg is not None
    assert np.array_equal(events.msg[:, 0], np.float32([1.5, np.nan, np.nan, -2000]), equal_nan=True)


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint32(), pa.int64(), pa.float16(), pa.float64(), pa.decimal128(9, 2)]
)
def test_numbers_of_every_type_are_features(kind: pa.DataType) -> None:
    events = read_events(table(x=pa.array([3, None], pa.int8()).cast(kind)), features=["x"])
    assert events.msg is not None
    assert np.array_equal(events.msg, np.float32([[3], [np.nan]]), equal_nan=True)


# ---------------------------------------------------------------------- labels, order
@pytest.mark.parametrize(
    "labels",
    [
        pa.array([0, 1, None], pa.int8()),
        pa.array([0.0, 1.0, float("nan")]),
        pa.array([False, True, None]),
        pa.array(["false", "TRUE", ""]),
        pa.array(["0", " 1 ", "nan"]),
        pa.array(["0.0", "1.0", None]).dictionary_encode(),
    ],
)
def test_labels_are_understood_in_every_form(labels: pa.Array) -> None:
    events = read_events(table(label=labels))
    assert np.array_equal(events.label, np.float32([0, 1, np.nan]), equal_nan=True)


def test_a_label_column_may_be_missing_unless_it_was_named() -> None:
    assert not read_events(table()).has_labels
    assert read_events(table()).names.label is None
    with pytest.raises(InputError, match="no column 'label'"):
        read_events(table(), label="label")


def test_a_label_column_of_a_common_name_is_found_beside_our_own_names() -> None:
    assert read_events(table(is_fraud=[0, 1])).label.tolist() == [0, 1]


def test_unsorted_rows_are_sorted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "sdgad.events"):
        events = read_events(table(t=[3, 1, 2, 3]))
    assert events.t.tolist() == [1, 2, 3, 3]
    assert events.row.tolist() == [1, 2, 0, 3]
    assert "2 of 4 rows were not in time order and were sorted" in caplog.text
    caplog.clear()
    read_events(table(t=[1, 1, 2]))
    assert not caplog.records


def test_the_kind_of_anomaly_is_kept() -> None:
    events = read_events(table(t=[2, 1], anomaly_type=["mule", None]))
    assert events.anomaly_type is not None
    assert events.anomaly_type.tolist() == ["", "mule"]


def test_a_single_event_and_events_at_one_time_are_streams() -> None:
    assert len(read_events(table(src=["a"]))) == 1
    assert read_events(table(t=[5, 5, 5])).row.tolist() == [0, 1, 2]


def shared_data(name: str) -> Path:
    folder = Path(os.environ.get("SDGAD_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not there; set SDGAD_DATA")
    return path


def test_mooc_has_the_size_that_the_paper_states() -> None:
    events: EventStream = read_events(shared_data("mooc"))
    assert (len(events), events.num_nodes, events.num_features) == (411_749, 7_144, 4)
    assert int(events.label.sum()) == 4_066
    assert len(np.unique(events.t)) == 345_600


def test_a_category_that_never_comes_back_is_told_when_a_model_is_to_be_made(
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = {"src": [1] * 200, "dst": [2] * 200, "t": range(200), "txid": [f"x{i}" for i in range(200)],
             "kind": [f"k{i % 20}" for i in range(200)]}  # fmt: skip
    events = read_events(pd.DataFrame(table), features=["txid", "kind"])
    assert [record.getMessage() for record in caplog.records] == [
        "The data frame: 'txid' has 200 different values in 200 events, which say nothing about new ones."
    ]
    caplog.clear()
    read_events(pd.DataFrame(table), columns=events.names)
    assert not caplog.records


def test_when_is_a_name_for_the_time(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("payer,payee,When\na,b,7\n")
    assert read_events(tmp_path / "x.csv").names.time == "When"


def test_lists_may_begin_with_missing_values(tmp_path: Path) -> None:
    path, cells = tmp_path / "events.jsonl", ([None, None], [None, 1.5], [1.5, None], [1.5, 2.5], [3, 4])
    for lists in itertools.product(cells, repeat=3):
        rows = [{"src": 1, "dst": 2, "t": t, "msg": values} for t, values in enumerate(lists)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        np.testing.assert_array_equal(read_events(path).msg, np.array(lists, np.float32))
