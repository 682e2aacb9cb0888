"""Events and tables into files, whole or not at all."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from sdgad.atomic import whole_file
from sdgad.errors import InputError
from sdgad.events.column import UNTYPED, shown, typed
from sdgad.events.export import to_arrow
from sdgad.events.stream import EventStream
from sdgad.events.table import file_format

_BATCH = 1 << 16  # rows that are turned into text at once


def write_events(events: EventStream, path: str | os.PathLike[str]) -> None:
    """Write a stream, in stream order, to Parquet, CSV, TSV or JSON lines (by suffix, also .gz).

    Ids are the raw ones, columns have the names of `events.names`, categories are written as text, missing
    values are empty. Features that came from a list go back into it, nameless ones (`f0, f1, …`) into the
    list `msg`; CSV has no lists and gives each number its own column.
    """
    path = Path(path)
    lists = file_format(path) not in SEPARATED
    write_table(to_arrow(events, lists, where=str(path), dates=False), path)


def write_rows(table: pa.Table, file: IO[bytes], form: str) -> None:
    """Write rows to an open file, a pipe for instance, as csv, tsv or jsonl."""
    if form not in TEXTS:
        raise InputError(f"Rows cannot be written as {form!r}, only as {', '.join(TEXTS)}.")
    need_room_for_names(table.column_names, form)
    WRITERS[form](table, file)


def need_room_for_names(names: Sequence[str], form: str, where: str = "The output") -> None:
    """An object of JSON has one value under a name, and most who read Parquet want one column; separated values may have two."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None and form not in SEPARATED:
        raise InputError(
            f"{where} would have two columns of the same name, {shown(twice)}, which only CSV and TSV can hold."
        )


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write rows to Parquet, CSV, TSV or JSON lines, by suffix (also .gz); whole or not at all."""
    path = Path(path)
    form = file_format(path)
    write = WRITERS[form]
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file.")
    need_room_for_names(table.column_names, form, str(path))
    with whole_file(path) as temporary:
        try:
            write(table, temporary)
        except InputError:
            raise
        except (pa.ArrowException, ValueError, OverflowError) as problem:
            raise _unwritable(table, write, temporary, path, problem) from None


def _unwritable(
    table: pa.Table, write: Callable[[pa.Table, Path], None], temporary: Path, path: Path, problem: Exception
) -> InputError:
    """Which column it is that a format has no words for: the first that cannot be written alone."""
    for index, field in enumerate(table.schema):
        try:
            write(table.select([index]), temporary)
        except (pa.ArrowException, ValueError, OverflowError) as found:
            reason = " ".join(str(found).split())
            return InputError(
                f"{path}: column {shown(field.name)} of type {field.type} cannot be written to it ({reason})."
            )
    return InputError(f"{path} cannot be written: {' '.join(str(problem).split())}.")


# ---------------------------------------------------------------------- formats
def _with_types(table: pa.Table) -> pa.Table:
    """Untyped text (from CSV) for a format that has types."""
    for index, field in enumerate(table.schema):
        if field.metadata and field.metadata.keys() >= UNTYPED.keys():
            text = table.column(index).cast(pa.large_string()).combine_chunks()
            table = table.set_column(index, field.name, typed(text))
    return table


def _write_parquet(table: pa.Table, path: Path) -> None:
    pa.parquet.write_table(_with_open_lists(_with_types(table)), path, compression="zstd")


def _with_open_lists(table: pa.Table) -> pa.Table:
    """Missing lists of fixed size as lists of any size: older pyarrow cannot read the file otherwise."""
    for index, field in enumerate(table.schema):
        if pa.types.is_fixed_size_list(field.type) and table.column(index).null_count:
            values = table.column(index).cast(pa.list_(field.type.value_type))
            table = table.set_column(index, field.name, values)
    return table


def _write_csv(table: pa.Table, path: Path | IO[bytes]) -> None:
    _write_separated(table, path, ",")


def _write_tsv(table: pa.Table, path: Path | IO[bytes]) -> None:
    _write_separated(table, path, "\t")


def _write_separated(table: pa.Table, path: Path | IO[bytes], delimiter: str) -> None:
    """Only what needs quotes gets them, and 5.0 stays 5.0, so that text and types survive a round trip."""
    names, columns = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        for spread_name, spread in _without_lists(name, column):
            names.append(spread_name)
            columns.append(spread)
    with _text(path) as file:
        file.write(delimiter.join(_quoted(pa.array(names, pa.large_string()), delimiter).to_pylist()) + "\n")
        for start in range(0, table.num_rows, _BATCH):
            fields = [
                _field_text(column.slice(start, _BATCH).combine_chunks(), delimiter) for column in columns
            ]
            lines = pc.binary_join_element_wise(
                *fields, pa.scalar(delimiter, pa.large_string()), null_handling="replace", null_replacement=""
            )
            file.write("\n".join(lines.to_pylist()) + "\n")


def _without_lists(name: str, column: pa.ChunkedArray) -> list[tuple[str, pa.ChunkedArray]]:
    """Columns for CSV: a list of fixed size becomes `name0, name1, …`, anything else that is nested JSON."""
    if not pa.types.is_nested(column.type):
        return [(name, column)]
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
        return [
            (f"{name}{i}", pa.chunked_array([pc.list_element(c, i) for c in column.chunks]))
            for i in range(width)
        ]
    return [
        (
            name,
            pa.chunked_array(
                [[None if v is None else json.dumps(v, default=str) for v in column.to_pylist()]]
            ),
        )
    ]


def _field_text(column: pa.Array, delimiter: str) -> pa.Array:
    text = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        text = pc.if_else(pc.is_nan(column), None, text)
        return pc.replace_substring_regex(text, r"^(-?\d+)$", r"\1.0")
    return _quoted(text, delimiter)


def _quoted(text: pa.Array, delimiter: str) -> pa.Array:
    special = pc.match_substring_regex(text, f'[{delimiter}"\r\n]')
    if not pc.any(special).as_py():
        return text
    mark = pa.scalar('"', pa.large_string())
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(
        special, pc.binary_join_element_wise(mark, doubled, mark, pa.scalar("", pa.large_string())), text
    )


def _write_json(table: pa.Table, path: Path | IO[bytes]) -> None:
    with _text(path) as file:
        for batch in _with_types(table).to_batches(max_chunksize=_BATCH):
            file.writelines(json.dumps(_plain(row), ensure_ascii=False) + "\n" for row in batch.to_pylist())


def _plain(value: Any) -> Any:
    """What JSON can hold: NaN is null, times are ISO-8601 text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


@contextmanager
def _text(path: Path | IO[bytes]) -> Iterator[IO[str] | _Utf8]:
    """A text file to write, packed where its name ends in .gz."""
    if not isinstance(path, Path):
        yield _Utf8(path)
    elif path.suffix.lower() == ".gz":
        with gzip.open(path, "wt", encoding="utf-8", newline="") as packed:
            yield packed
    else:
        with path.open("w", encoding="utf-8", newline="") as plain:
            yield plain


class _Utf8:
    """Text into somebody else's file, which stays open; without a buffer of its own it may take a part at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        rest = memoryview(text.encode("utf-8"))
        while rest:
            rest = rest[self._file.write(rest) :]

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


SEPARATED = ("csv", "tsv")
TEXTS = (*SEPARATED, "jsonl")

WRITERS: dict[str, Callable[[pa.Table, Any], None]] = {
    "parquet": _write_parquet,
    "pq": _write_parquet,
    "csv": _write_csv,
    "tsv": _write_tsv,
    "jsonl": _write_json,
    "ndjson": _write_json,
    "json": _write_json,
}
