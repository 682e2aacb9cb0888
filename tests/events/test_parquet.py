"""Parquet files that lie about themselves are refused in one sentence, before memory or the process is lost."""

from __future__ import annotations

import copy
import io
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdgad.errors import InputError
from sdgad.events import parquet
from sdgad.events.layouts import from_metadata
from sdgad.events.read import read_events
from sdgad.events.table import read_table

from .crafted import (
    BINARY,
    CHILDREN,
    CHUNK,
    COLUMNS,
    GROUP_ROWS,
    KEY_VALUES,
    LIST,
    NAME,
    NUM_ROWS,
    NUM_VALUES,
    ROW_GROUPS,
    SCHEMA,
    STRUCT,
    Struct,
    elements,
    join,
    put,
    split,
)

TABLE = pa.table({"src": ["a", "b"] * 50, "dst": range(100), "t": range(100), "msg": [[1.0, 2.0]] * 100})


def file_of(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def _group(footer: Struct) -> Struct:
    group: Struct = elements(footer, ROW_GROUPS)[0]
    return group


def _chunk(footer: Struct) -> Struct:
    chunk: Struct = elements(_group(footer), COLUMNS)[0][CHUNK][1]
    return chunk


def _rows_everywhere(footer: Struct) -> None:
    put(footer, NUM_ROWS, 10**12)
    put(_group(footer), GROUP_ROWS, 10**12)
    for column in elements(_group(footer), COLUMNS):
        put(column[CHUNK][1], NUM_VALUES, 10**12)


def _deep(footer: Struct) -> None:
    schema = elements(footer, SCHEMA)
    put(schema[0], CHILDREN, schema[0][CHILDREN][1] + 1)
    schema += [{3: (5, 1), NAME: (BINARY, b"g"), CHILDREN: (5, 1)} for _ in range(100_000)]
    schema.append({1: (5, 2), 3: (5, 1), NAME: (BINARY, b"x")})


def _metadata(footer: Struct, key: bytes, value: bytes) -> None:
    footer[KEY_VALUES] = (LIST, (STRUCT, [{1: (BINARY, key), 2: (BINARY, value)}]))


def _levels(footer: Struct) -> None:
    """A column that may be missing, though its statistics say that it may not: arrow ends the process if asked for them."""
    put(elements(footer, SCHEMA)[1], 3, 0)


LIES: dict[str, tuple[Callable[[Struct], object], str]] = {
    "too many rows": (lambda f: put(f, NUM_ROWS, 10**15), "announces 1,000,000,000,000,000 rows and has 100"),
    "fewer rows than none": (lambda f: put(f, NUM_ROWS, -5), "announces -5 rows and has 100"),
    "too many rows in a group": (
        lambda f: put(_group(f), GROUP_ROWS, 10**12),
        "announces 1,000,000,000,000 rows and has 100",
    ),
    "too many rows everywhere": (_rows_everywhere, "not a readable Parquet file"),
    "fewer values than none": (lambda f: put(_chunk(f), NUM_VALUES, -1), "not a readable Parquet file"),
    "a size beyond the file": (lambda f: put(_chunk(f), 7, 10**17), "not a readable Parquet file"),
    "a place before the file": (lambda f: put(_chunk(f), 9, -1), "not a readable Parquet file"),
    "an unknown compression": (lambda f: put(_chunk(f), 4, 77), "not a readable Parquet file"),
    "nested columns to no end": (_deep, "not a readable Parquet file"),
    "too many columns": (lambda f: put(elements(f, SCHEMA)[0], CHILDREN, 2**31 - 1), "not a readable Parquet file"),
    "a name that is no text": (lambda f: put(elements(f, SCHEMA)[1], NAME, b"\xff\xfe"), "not a readable Parquet file"),
    "an arrow schema that is none": (lambda f: _metadata(f, b"ARROW:schema", b"AAAA" * 99), "not a readable Parquet file"),
    "levels that contradict": (_levels, "not a readable Parquet file"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies_is_refused_in_one_sentence(tmp_path: Path, lie: str) -> None:
    body, footer = split(file_of(TABLE))
    footer = copy.deepcopy(footer)
    change, problem = LIES[lie]
    change(footer)
    path = tmp_path / "x.parquet"
    path.write_bytes(join(body, footer))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError) as caught:
        read_events(path)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff\xfe",
        b'{"columns": [',
        b"[" * 100_000,
        b'{"index_columns": [{"kind": "range", "stop": 1e99}]}',
    ],
)
@pytest.mark.parametrize("key", [b"pandas", b"sdgad.events"])
def test_notes_that_make_no_sense_are_not_read(tmp_path: Path, key: bytes, value: bytes) -> None:
    body, footer = split(file_of(TABLE))
    _metadata(footer, key, value)
    (tmp_path / "x.parquet").write_bytes(join(body, footer))
    assert len(read_events(tmp_path / "x.parquet")) == 100


def test_a_layout_of_other_things_than_names_is_none() -> None:
    clock = '{"unit": "s", "wall_clock": false, "timezone": "UTC", "offsets": null}'
    for src, features in (("5", '["msg"]'), ('"src"', "[5]"), ('["src"]', "[]")):
        note = f'{{"src": {src}, "dst": "dst", "time": "t", "label": null, "features": {features}, "clock": {clock}'
        note += ', "bipartite": false}'
        assert from_metadata(pa.schema([], {b"sdgad.events": note.encode()})) is None


def test_a_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    content = file_of(TABLE)
    path = tmp_path / "x.parquet"
    for size in (5, 100, len(content) - 1, len(content) - 9):
        path.write_bytes(content[:size])
        with pytest.raises(
            InputError, match="not a readable Parquet file; it is cut off, or still being written"
        ):
            read_table(path)


def test_more_than_fits_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.parquet").write_bytes(file_of(pa.table({"t": np.zeros(1 << 19, np.int64)})))
    monkeypatch.setattr(parquet, "memory", lambda: 1 << 21)
    with pytest.raises(InputError, match="which is all the memory there is"):
        read_table(tmp_path / "x.parquet")


def test_a_damaged_page_is_seen_by_its_checksum(tmp_path: Path) -> None:
    content = bytearray(file_of(TABLE, compression="none", use_dictionary=False, write_page_checksum=True))
    last = b"\x62" + bytes(7) + b"\x63" + bytes(7)  # 98 and 99, the last destinations
    place = content.index(last)
    content[place] = 7
    (tmp_path / "x.parquet").write_bytes(bytes(content))
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_table(tmp_path / "x.parquet")


# ---------------------------------------------------------------------- text that is none
def spoiled(kind: pa.DataType, values: list[bytes]) -> pa.Array:
    """Bytes that pose as text."""
    raw = pa.array(values, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(values), raw.buffers())


BAD = spoiled(pa.string(), [b"a", b"b", b"\xe9", b"d"])
COLUMNS_OF_BYTES = {
    "text": BAD,
    "long text": spoiled(pa.large_string(), [b"a", b"b", b"\xff", b"d"]),
    "dictionary": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 2]), spoiled(pa.string(), [b"a", b"b", b"\xc3"])
    ),
    "lists": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4]), BAD),
    "objects": pa.StructArray.from_arrays([BAD], ["inside"]),
}


@pytest.mark.parametrize("role", ["src", "dst", "t", "label", "msg", "note", "anomaly_type"])
@pytest.mark.parametrize("kind", COLUMNS_OF_BYTES)
def test_bytes_that_are_no_text_are_refused_by_column_and_row(tmp_path: Path, kind: str, role: str) -> None:
    columns = {"src": list("abcd"), "dst": list("abcd"), "t": [1, 2, 3, 4], role: COLUMNS_OF_BYTES[kind]}
    for table in (
        pa.table(columns),
        pa.concat_tables([pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]),
    ):
        with pytest.raises(
            InputError, match=rf"^The table, column '{role}', row 3: this is not UTF-8 text\.$"
        ):
            read_events(table)
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=rf"x\.parquet, column '{role}', row 3: this is not UTF-8 text\.$"):
        read_events(tmp_path / "x.parquet")


def test_a_table_goes_by_the_name_that_it_is_given() -> None:
    with pytest.raises(InputError, match=r"^night\.csv, column 'src', row 3: this is not UTF-8 text"):
        read_events(pa.table({"src": BAD, "dst": list("abcd"), "t": range(4)}), name="night.csv")


def test_a_name_that_is_no_text_is_refused_in_a_table() -> None:
    buffer = (
        pa.table({"src": [1], "dst": [2], "tXY": [3]})
        .schema.serialize()
        .to_pybytes()
        .replace(b"tXY", b"t\xff\xfe")
    )
    schema = pa.ipc.read_schema(pa.py_buffer(buffer))
    with pytest.raises(InputError, match="column 3 has a name that is not UTF-8 text"):
        read_table(pa.Table.from_arrays([pa.array([1])] * 3, schema=schema))
