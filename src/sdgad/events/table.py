"""The raw rows of a file or table, as an arrow table, before anyone asks what they mean."""

from __future__ import annotations

import csv
import os
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv

from sdgad.errors import InputError, NoEventsError
from sdgad.events.arrays import build_table, encodes, mapping_table, temporal_data_table
from sdgad.events.column import UNTYPED
from sdgad.events.file_kinds import need_no_json
from sdgad.events.json_lines import read_json_lines
from sdgad.events.json_lines import rows_to_table as rows_to_table  # noqa: PLC0414
from sdgad.events.layouts import spread
from sdgad.events.parquet import read_parquet
from sdgad.events.sound import need_sound
from sdgad.events.text_file import (
    LONGEST,
    first_row_not_utf8,
    is_packed,
    need_readable,
    not_utf8,
    open_bytes,
    open_text,
)

_BLOCK = 16 << 20  # bytes; no row may be longer


def read_table(source: Any) -> pa.Table:
    """The rows of a Parquet, CSV, TSV or JSON lines file (by suffix, also .gz), a table, a PyG `TemporalData`
    or a dictionary of columns.

    CSV has no types: its columns stay text, marked as untyped, so that they can be written back as they were.
    """
    return open_table(source)[1]


def open_table(source: Any, name: str | None = None) -> tuple[str, pa.Table]:
    """What to call a source in messages, by its own name unless it is given one, and its rows."""
    for adapter in ADAPTERS:
        if adapter.accepts(source):
            where, table = name or adapter.describe(source), adapter.read(source)
            need_sound(table, where)
            return where, table
    raise InputError(
        "Events come from a file, a table (pyarrow, pandas, polars), a PyG TemporalData or a dictionary of "
        f"columns, not from {type(source).__name__}."
    )


class Adapter(NamedTuple):
    """One kind of source; the first that accepts a source reads it."""

    accepts: Callable[[Any], bool]
    describe: Callable[[Any], str]
    read: Callable[[Any], pa.Table]


# ---------------------------------------------------------------------- tables in memory
def _is(source: Any, package: str, *names: str) -> bool:
    """Whether a package made this object, without importing it: whoever holds one has imported it."""
    return any(
        c.__module__.partition(".")[0] == package and c.__name__ in names for c in type(source).__mro__
    )


def _read_pandas(frame: Any) -> pa.Table:
    """`attrs` may hold what `EventStream.to_pandas` knew about the columns."""
    table = build_table((str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns))
    known = {
        key: value for key, value in frame.attrs.items() if isinstance(key, str) and isinstance(value, str)
    }
    return table.replace_schema_metadata(known)


def _read_polars(frame: Any) -> pa.Table:
    arrays = []
    for series in frame.lazy().collect().iter_columns():
        try:
            arrays.append((series.name, series.to_arrow()))
        except pa.ArrowException:
            raise InputError(
                f"The data frame, column {series.name!r}: arrow has no type for {series.dtype}."
            ) from None
    return build_table(arrays)


def _read_arrow(source: Any) -> pa.Table:
    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError):
        raise InputError(f"Events come from a table of columns, not from {type(source).__name__}.") from None


# ---------------------------------------------------------------------- files
def file_format(path: Path) -> str:
    """The suffix that says how a file is written, without the dot and without .gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    name = suffixes[-1][1:] if suffixes else ""
    if name not in READERS:
        sheet = "; save the sheet as CSV" if name in ("xlsx", "xls", "xlsm", "ods", "numbers") else ""
        raise InputError(
            f"{path} has no known format; files end in {', '.join('.' + s for s in READERS)}{sheet}."
        )
    return name


def _read_file(source: str | os.PathLike[str]) -> pa.Table:
    path = Path(source)
    if path.is_dir():
        model = (path / "manifest.json").is_file() and (path / "config.json").is_file()
        raise InputError(f"{path} is a {'model ' if model else ''}folder, not a file of events.")
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    read = READERS[file_format(path)]
    try:
        if path.stat().st_size == 0:
            raise NoEventsError(f"{path} is empty.")
        return read(path)
    except UnicodeDecodeError:
        raise not_utf8(path) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "its content is damaged"
        raise InputError(f"{path} cannot be read: {reason}.") from None


def _read_csv(path: Path) -> pa.Table:
    need_no_json(path, need_readable(path))
    with open_text(path, errors="surrogateescape") as file:
        line = next((line for line in iter(lambda: file.readline(LONGEST), "") if line.strip()), "")
    return _read_separated(path, next((mark for mark in ",\t;" if mark in line), ","))


def _read_tsv(path: Path) -> pa.Table:
    need_no_json(path, need_readable(path))
    return _read_separated(path, "\t")


def _read_separated(path: Path, delimiter: str) -> pa.Table:
    """All columns as text; only the many unnamed features of a known layout are read as numbers at once."""
    with open_text(path, errors="surrogateescape") as file:
        records = csv.reader(iter(lambda: file.readline(LONGEST), ""), delimiter=delimiter)
        try:
            header = next((record for record in records if any(map(str.strip, record))), None)
            lines = records.line_num
            row = next((record for record in records if record), None)
        except csv.Error as error:
            raise InputError(f"{path} is not readable as CSV: {error}.") from None
    if header is None:
        raise NoEventsError(f"{path} is empty.")
    if not all(map(encodes, header)):
        raise not_utf8(path, 0)
    names = spread(header, len(row) if row else len(header)) or header
    text = {name: pa.string() for name in names}
    numbers = {name: pa.float64() for name in names if name not in header}
    try:
        return _parse_csv(path, delimiter, names, text | numbers, lines)
    except pa.ArrowInvalid:
        return _parse_csv(path, delimiter, names, text, lines)


def _parse_csv(
    path: Path, delimiter: str, names: list[str], types: dict[str, pa.DataType], header: int
) -> pa.Table:
    """The rows after so many lines of header, under these names."""

    def parse(**handler: Any) -> pa.Table:
        options = (
            pa.csv.ReadOptions(
                use_threads=not handler, block_size=_BLOCK, skip_rows=header, column_names=names
            ),
            pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, **handler),
            pa.csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
        if not is_packed(path):
            return pa.csv.read_csv(path, *options)
        with open_bytes(path) as file:
            return pa.csv.read_csv(file, *options)

    try:
        table = parse()
    except pa.ArrowInvalid as error:
        if any(kind != pa.string() for kind in types.values()):
            raise
        if "Empty CSV" in str(error):
            return pa.table({name: pa.array([], pa.string()) for name in names})
        wrong = first_row_not_utf8(path, delimiter)
        if wrong is not None or "UTF8" in str(error):
            raise not_utf8(path, wrong) from None
        ragged: list[Any] = []
        with suppress(pa.ArrowInvalid):
            parse(invalid_row_handler=lambda row: ragged.append(row) or "skip")  # type: ignore[func-returns-value]
        if not ragged:
            reason = "a row is longer than 16 MiB" if "straddl" in str(error) else "its quotes do not match"
            raise InputError(f"{path} is not readable as CSV: {reason}.") from None
        row, number = ragged[0], ragged[0].number - header
        raise InputError(
            f"{path}, row {number}: {row.actual_columns} fields where there should be {row.expected_columns}."
        ) from None
    marked = [
        pa.field(f.name, f.type, metadata=UNTYPED if pa.types.is_string(f.type) else None)
        for f in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(marked))


READERS: dict[str, Callable[[Path], pa.Table]] = {
    "parquet": read_parquet,
    "pq": read_parquet,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "jsonl": read_json_lines,
    "ndjson": read_json_lines,
    "json": read_json_lines,
}

ADAPTERS = (
    Adapter(lambda source: isinstance(source, pa.Table), lambda _: "The table", lambda table: table),
    Adapter(lambda source: _is(source, "pandas", "DataFrame"), lambda _: "The data frame", _read_pandas),
    Adapter(
        lambda source: _is(source, "polars", "DataFrame", "LazyFrame"),
        lambda _: "The data frame",
        _read_polars,
    ),
    Adapter(
        lambda source: _is(source, "torch_geometric", "TemporalData"),
        lambda _: "The TemporalData",
        temporal_data_table,
    ),
    Adapter(lambda source: isinstance(source, Mapping), lambda _: "The dictionary", mapping_table),
    Adapter(  # duckdb, record batches, anything else that speaks the arrow C interface
        lambda source: hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"),
        lambda _: "The table",
        _read_arrow,
    ),
    Adapter(
        lambda source: isinstance(source, str | os.PathLike), lambda source: str(Path(source)), _read_file
    ),
)
