"""JSON lines: one object per line. Arrow reads them fast, and dies of some; so every line is looked at before it does."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from sdgad.errors import InputError
from sdgad.events.arrays import build_table
from sdgad.events.column import EXACT
from sdgad.events.text_file import LONGEST, is_packed, need_readable, not_utf8, open_bytes

DEEPEST = 64  # lists and objects inside each other; an event has two
_BLOCK = 16 << 20  # bytes that are read at once
_BLANK = b" \t\r\n"
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
_KEY = re.compile(rb'"([^"\\]{1,200})"\s*:')
_SAMPLE, _MANY_KEYS = 1 << 20, 2000

Array = np.ndarray[Any, Any]


def read_json_lines(path: Path) -> pa.Table:
    """Arrow makes timestamps of text that looks like a date, where we want the text; and floats of integers that share
    a column with floats, where large ones would lose their last digits."""
    need_readable(path)
    rows = _look_at_lines(path)
    try:
        table = _parse(path)
        dates = [pa.field(f.name, pa.string()) for f in table.schema if pa.types.is_timestamp(f.type)]
        if dates:
            table = _parse(path, explicit_schema=pa.schema(dates)).select(table.column_names)
        table.validate()  # arrow loses elements of lists that begin with null before it has seen a number
    except pa.ArrowException:
        return _read_slowly(path)
    if table.num_rows != rows:  # two objects on a line, lines that end in \r, nothing but {}
        return _read_slowly(path)
    return _with_exact_integers(path, table)


def _parse(path: Path, **options: Any) -> pa.Table:
    read = partial(
        pa.json.read_json,
        read_options=pa.json.ReadOptions(block_size=_BLOCK),
        parse_options=pa.json.ParseOptions(**options),
    )
    if not is_packed(path):
        return read(path)
    with open_bytes(path) as file:
        return read(file)


# ---------------------------------------------------------------------- before arrow sees it
def _look_at_lines(path: Path) -> int:
    """The number of rows, each of which is UTF-8, begins and ends like an object and is not nested too deeply.

    Arrow crashes on a first line `null` and on deep nesting, and takes bytes that are no UTF-8. All lines of a block are looked
    at together, and one by one only those that look odd.
    """
    rows = 0
    for block in _blocks(path):
        if not rows:
            _need_columns(path, block[:_SAMPLE])
        if not block.isascii():
            try:
                block.decode()
            except UnicodeDecodeError as problem:
                before = block[: problem.start].split(b"\n")[:-1]
                raise not_utf8(path, rows + 1 + sum(1 for line in before if line.strip(_BLANK))) from None
        starts, ends, odd = _odd_lines(block)
        blank = 0
        for line in odd.tolist():
            content = block[starts[line] : ends[line]].strip(_BLANK)
            if content:
                _need_plain_object(path, rows + line - blank + 1, content)
            else:
                blank += 1
        rows += len(starts) - blank
    return rows


def _blocks(path: Path) -> Iterator[bytes]:
    """Some whole lines at a time, without a byte order mark."""
    with open_bytes(path) as file:
        rest = file.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")
        while rest:
            more = file.read(_BLOCK)
            cut = rest.rfind(b"\n") + 1 if more else len(rest)
            if cut:
                yield rest[:cut]
            rest = rest[cut:] + more
            if len(rest) > LONGEST + _BLOCK:
                raise InputError(f"{path}: a line is longer than {LONGEST >> 20} MiB.")


def _odd_lines(block: bytes) -> tuple[Array, Array, Array]:
    """Where lines begin and end, and which are blank, do not look like an object or have many brackets."""
    codes = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(codes))
    starts = np.concatenate([[0], ends[:-1] + 1])
    last = np.maximum(ends - 1, starts)
    last = np.where(codes.take(last, mode="clip") == ord("\r"), np.maximum(last - 1, starts), last)
    opening = np.flatnonzero((codes == ord("{")) | (codes == ord("[")))
    brackets = np.searchsorted(opening, ends) - np.searchsorted(opening, starts)
    odd = (codes.take(starts, mode="clip") != ord("{")) | (codes.take(last, mode="clip") != ord("}"))
    return starts, ends, np.flatnonzero(odd | (brackets > DEEPEST) | (last == starts))


def _need_plain_object(path: Path, row: int, line: bytes) -> None:
    if not (line.startswith(b"{") and line.endswith(b"}")):
        _object(path, row, line)
    if line.count(b"{") + line.count(b"[") > DEEPEST and _depth(line) > DEEPEST:
        raise InputError(f"{path}, row {row}: lists and objects are nested more than {DEEPEST} deep.")


def _need_columns(path: Path, sample: bytes) -> None:
    """Keys that differ from row to row (ids, dates) would be a column each: a table of rows times rows."""
    keys = [set(_KEY.findall(line)) for line in sample.split(b"\n")]
    different = len(set().union(*keys))
    if different > _MANY_KEYS and different > 10 * max(map(len, keys)):
        raise InputError(
            f"{path}: the first {len(keys):,} rows have {different:,} different keys, which should be names of columns."
        )


def _rows(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not blank, without what surrounds them."""
    row = 0
    for block in _blocks(path):
        for line in block.split(b"\n"):
            if stripped := line.strip(_BLANK):
                row += 1
                yield row, stripped


def _depth(line: bytes) -> int:
    """How deep brackets stand inside each other, those in strings aside."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


# ---------------------------------------------------------------------- row by row
def _read_slowly(path: Path, only: Collection[str] | None = None) -> pa.Table:
    """Row by row, for columns of mixed types, or to say which row is wrong."""
    rows: list[dict[str, Any]] = []
    for number, line in _rows(path):
        for part in _parts(line):
            fields = _object(path, max(number, len(rows) + 1), part)
            rows.append(fields if only is None else {name: fields.get(name) for name in only})
    try:
        return rows_to_table(rows)
    except InputError as problem:
        raise InputError(f"{path}: {str(problem)[:1].lower()}{str(problem)[1:]}") from None


def _parts(line: bytes) -> list[bytes]:
    """A line; or several, where they end in \\r alone, which also may stand between the fields of one."""
    if b"\r" not in line:
        return [line]
    try:
        json.loads(line)
    except ValueError:
        return [part for part in line.split(b"\r") if part.strip(_BLANK)]
    return [line]


def _object(path: Path, row: int, line: bytes) -> dict[str, Any]:
    """The object that a line holds; of a key that comes twice the last counts."""
    try:
        fields = json.loads(line.decode("utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise InputError(f"{path}, row {row}: not a line of JSON.") from None
    except ValueError:
        raise InputError(f"{path}, row {row}: a number of too many digits.") from None
    except RecursionError:
        raise InputError(f"{path}, row {row}: lists and objects are nested too deeply.") from None
    if not isinstance(fields, dict):
        raise InputError(f"{path}, row {row}: not a JSON object; there should be one on each line.")
    return fields


def rows_to_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of plain values under their names; what a row lacks is null."""
    names = dict.fromkeys(name for row in rows for name in row)
    return build_table((name, [row.get(name) for row in rows]) for name in names)


def _with_exact_integers(path: Path, table: pa.Table) -> pa.Table:
    """9007199254740993 is no float: columns in which arrow may have made one of such a number are read again."""
    doubtful = [
        field.name
        for field, column in zip(table.schema, table.columns, strict=True)
        if pa.types.is_float64(field.type) and pc.any(pc.greater_equal(pc.abs(column), float(EXACT))).as_py()
    ]
    if not doubtful:
        return table
    exact = _read_slowly(path, doubtful)
    for field, column in zip(exact.schema, exact.columns, strict=True):
        table = table.set_column(table.schema.get_field_index(field.name), field, column)
    return table
