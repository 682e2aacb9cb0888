"""What was written is read back as it was; rows of a table keep their text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.read import read_events
from sdgad.events.stream import ColumnNames, EventStream, FeatureColumn
from sdgad.events.table import read_table
from sdgad.events.write import write_events, write_table

from .plain_times import FLOATS, INTEGERS, NANOSECONDS, SECONDS

FORMATS = ["parquet", "csv", "tsv", "jsonl", "csv.gz"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
PANDAS_TEXT = st.text(  # pandas reads a field as ended by a NUL
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
FLOAT32 = st.floats(width=32, allow_infinity=False)


@st.composite
def streams(draw: st.DrawFn) -> EventStream:
    count = draw(st.integers(1, 9))  # too few for any of their times to be absurd

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    ids = draw(
        st.sampled_from([TEXT, st.integers(-(2**63), 2**63 - 1), st.sampled_from(["7", "007", "a b", "🙂"])])
    )
    times = draw(st.sampled_from([INTEGERS, FLOATS, SECONDS, NANOSECONDS]))
    dtype = draw(st.sampled_from(["named", "nameless", "none"]))
    msg, features = None, None
    if dtype != "none":
        width = draw(st.integers(1, 3))
        msg = np.array([column(FLOAT32) for _ in range(width)], np.float32).T
        if dtype == "named":
            texts = column(st.none() | TEXT)
            categories = tuple(sorted({text for text in texts if text is not None}))
            codes = [np.nan if text is None else categories.index(text) for text in texts]
            msg = np.column_stack([msg, np.float32(codes)])
            features = (*(FeatureColumn(f"x {i}") for i in range(width)), FeatureColumn("kind", categories))
    return EventStream(
        column(ids),
        column(ids),
        np.array(column(times)),
        msg,
        column(st.sampled_from([0.0, 1.0, np.nan])),
        bipartite=draw(st.booleans()),
        features=features,
        anomaly_type=draw(st.none() | st.just(["" if i % 2 else "mule" for i in range(count)])),
    )


def texts(events: EventStream, codes: Any) -> list[str]:
    return list(events.vocabulary.raw(codes).cast(pa.large_string()).to_pylist())


def assert_same(left: EventStream, right: EventStream) -> None:
    assert left.t.dtype == right.t.dtype
    assert left.t.tobytes() == right.t.tobytes()
    assert texts(left, left.src) == texts(right, right.src)
    assert texts(left, left.dst) == texts(right, right.dst)
    assert left.bipartite == right.bipartite
    assert np.array_equal(left.label, right.label, equal_nan=True)
    assert [feature.categories for feature in left.features] == [
        feature.categories for feature in right.features
    ]
    assert (left.msg is None) == (right.msg is None)
    if left.msg is not None and right.msg is not None:
        assert np.array_equal(np.isnan(left.msg), np.isnan(right.msg))
        assert np.nan_to_num(left.msg).tobytes() == np.nan_to_num(right.msg).tobytes()
    assert (left.anomaly_type is None) == (right.anomaly_type is None)
    if left.anomaly_type is not None:
        assert left.anomaly_type.tolist() == right.anomaly_type.tolist()  # type: ignore[union-attr]


def round_trip(events: EventStream, form: str, **options: Any) -> EventStream:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"events.{form}"
        write_events(events, path)
        assert [file.name for file in Path(folder).iterdir()] == [path.name]
        return read_events(path, **options)


@settings(max_examples=200, deadline=None)
@given(streams())
def test_parquet_brings_back_the_stream_without_being_told_anything(events: EventStream) -> None:
    again = round_trip(events, "parquet")
    assert_same(events, again)
    assert [feature.name for feature in again.features] == [feature.name for feature in events.features]
    assert [names.type for names in again.vocabulary.names] == [
        names.type for names in events.vocabulary.names
    ]
    assert again.clock == events.clock


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "csv.gz"])
def test_text_formats_bring_back_the_stream_by_its_column_names(form: str) -> None:
    @settings(max_examples=200 if form == "csv" else 60, deadline=None)
    @given(streams())
    def check(events: EventStream) -> None:
        assert_same(events, round_trip(events, form, columns=events.names, bipartite=events.bipartite))

    check()


@pytest.mark.parametrize("form", FORMATS)
def test_a_stream_that_was_read_under_other_names_is_written_under_them(form: str, tmp_path: Path) -> None:
    table = pa.table(
        {
            "who": ["a", "b"], "whom": ["b", "c"], "at": [1, 2], "bad": [0, None],
            "emb": [[1.0, 2.0], [3.0, None]], "msg0": [5.0, 6.0], "kind": ["5411", None],
        }
    )  # fmt: skip
    events = read_events(
        table, src="who", dst="whom", time="at", label="bad", features=["emb", "kind", "msg0"]
    )
    write_events(events, tmp_path / f"out.{form}")
    names = read_table(tmp_path / f"out.{form}").column_names
    spread = ["emb"] if form in ("parquet", "jsonl") else ["emb0", "emb1"]
    assert names == ["who", "whom", "at", "bad", *spread, "kind", "msg0"]
    assert_same(events, read_events(tmp_path / f"out.{form}", columns=events.names))


def test_nameless_features_are_a_fixed_size_list_in_parquet_and_columns_in_csv(tmp_path: Path) -> None:
    events = EventStream(["a"], ["b"], [1.0], [[0.1, np.nan]])
    write_events(events, tmp_path / "e.parquet")
    assert pq.read_schema(tmp_path / "e.parquet").field("msg").type == pa.list_(pa.float32(), 2)
    assert pq.read_schema(tmp_path / "e.parquet").field("label").type == pa.int8()
    write_events(events, tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text() == "src,dst,t,label,f0,f1\na,b,1.0,,0.1,\n"
    write_events(events, tmp_path / "e.jsonl")
    line = '{"src": "a", "dst": "b", "t": 1.0, "label": null, "msg": [0.10000000149011612, null]}\n'
    assert (tmp_path / "e.jsonl").read_text() == line


def test_a_model_reads_its_nameless_features_from_every_format() -> None:
    events = EventStream(["a", "b"], ["b", "c"], [1, 2], [[1, 2], [3, 4]])
    written = [round_trip(events, form, columns=events.names) for form in FORMATS]
    through_list = round_trip(events, "parquet", columns=ColumnNames(features=("msg",)))
    for again in written:
        assert [feature.name for feature in again.features] == ["f0", "f1"]
    for form in FORMATS:
        again = round_trip(events, form, columns=through_list.names)
        assert [feature.name for feature in again.features] == ["msg0", "msg1"]


def test_rows_are_written_in_stream_order(tmp_path: Path) -> None:
    write_events(EventStream(["late", "early"], ["x", "x"], [2, 1]), tmp_path / "e.csv")
    assert read_table(tmp_path / "e.csv")["src"].to_pylist() == ["early", "late"]


def test_what_the_clock_says_survives_in_parquet() -> None:
    events = EventStream([0], [1], [5], clock=Clock("min", wall_clock=True, timezone="Asia/Tokyo"))
    assert round_trip(events, "parquet").clock == events.clock
    assert round_trip(events, "parquet", time_unit="h", timezone="UTC").clock == Clock("h")


def test_a_part_of_a_stream_is_written_without_the_rest() -> None:
    whole = EventStream(["a", "b", "c"], ["b", "c", "d"], [1, 2, 3])
    part = round_trip(whole[1:], "parquet")
    assert texts(part, part.src) == ["b", "c"]
    assert part.num_nodes == 3


# ---------------------------------------------------------------------- tables
def test_csv_rows_are_written_back_as_they_were(tmp_path: Path) -> None:
    text = 'id,src,"a,b",when,amount\n007,x,"say ""hi""",2024-01-01,1.50\n,🙂 y,"two\nlines",NA,-0\n'
    (tmp_path / "in.csv").write_text(text)
    write_table(read_table(tmp_path / "in.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == text


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_text_without_types_gets_types_where_the_format_has_them(form: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("i,x,pad,word\n1,1.50,007,a\n2,NA,8,true\n")
    write_table(read_table(tmp_path / "in.csv"), tmp_path / f"out.{form}")
    rows = read_table(tmp_path / f"out.{form}").to_pylist()
    assert rows == [
        {"i": 1, "x": 1.5, "pad": "007", "word": "a"},
        {"i": 2, "x": None, "pad": "8", "word": "true"},
    ]


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
def test_two_columns_of_one_name_are_kept_or_refused(form: str, tmp_path: Path) -> None:
    text, path = "src,,note,note,\na,b,c,d,e\n", tmp_path / f"out.{form}"
    table = pa.table([["a"], ["b"], ["c"], ["d"], ["e"]], names=["src", "", "note", "note", ""])
    if form == "csv":
        write_table(table, path)
        assert path.read_text() == text
        return
    with pytest.raises(InputError) as caught:
        write_table(table, path)
    assert str(caught.value) == (
        f"{path} would have two columns of the same name, '', which only CSV and TSV can hold."
    )
    assert not list(tmp_path.iterdir())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | PANDAS_TEXT, st.floats(allow_nan=False), st.none() | st.integers(0, 9)),
        min_size=1,
    )
)
def test_csv_agrees_with_pandas(rows: list[tuple[Any, Any, Any]]) -> None:
    one, two, three = (list(column) for column in zip(*rows, strict=True))
    table = pa.table(
        {"a": pa.array(one, pa.string()), "b": pa.array(two, pa.float64()), "c": pa.array(three, pa.int64())}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.csv"
        write_table(table, path)
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert frame["a"].tolist() == ["" if text is None else text for text in one]
    assert [float(value) for value in frame["b"]] == two
    assert [int(value) if value else None for value in frame["c"]] == three


@pytest.mark.parametrize("form", FORMATS)
def test_times_truths_and_nested_values_can_be_written(form: str, tmp_path: Path) -> None:
    table = pa.table(
        {
            "when": [datetime(2024, 1, 2, 3, 4, 5), None],
            "ok": [True, None],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "tags": [["x"], None],
            "vec": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)),
            "void": pa.nulls(2),
        }
    )
    write_table(pa.concat_tables([table.slice(0, 1), table.slice(1, 1)]), tmp_path / f"out.{form}")
    again = read_table(tmp_path / f"out.{form}")
    assert again.num_rows == 2
    assert [str(value)[:19].replace("T", " ") for value in again["when"].to_pylist()] == [
        "2024-01-02 03:04:05",
        "None",
    ]
    assert pc.equal(again["kind"].cast(pa.string()), pa.chunked_array([["a", "b"]])).to_pylist() == [
        True,
        True,
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_fails_half_way_leaves_the_old_one(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"out.{form}"
    write_events(EventStream([0], [1], [1]), path)
    before = path.read_bytes()

    def fail(write: Callable[[pa.Table, Path], None]) -> Callable[[pa.Table, Path], None]:
        def half(table: pa.Table, place: Path) -> None:
            write(table, place)
            raise KeyboardInterrupt

        return half

    from sdgad.events import write as module

    kind = form.removesuffix(".gz")
    monkeypatch.setitem(module.WRITERS, kind, fail(module.WRITERS[kind]))
    with pytest.raises(KeyboardInterrupt):
        write_events(EventStream([5], [6], [7]), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
