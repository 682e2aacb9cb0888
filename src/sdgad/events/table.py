"""The raw rows of a file or table, as an arrow table, before anyone asks what they mean."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from sdgad.errors import InputError, NoEventsError
from sdgad.events.arrays import build_table, mapping_table, temporal_data_table
from sdgad.events.column import UNTYPED
from sdgad.events.layouts import spread

_BLOCK = 16 << 20  # bytes; no row may be longer


def read_table(source: Any) -> pa.Table:
    """The rows of a Parquet, CSV, TSV or JSON lines file (by suffix, also .gz), a table, a PyG `TemporalData`
    or a dictionary of columns.

    CSV has no types: its columns stay text, marked as untyped, so that they can be written back as they were.
    """
    return open_table(source)[1]


def open_table(source: Any) -> tuple[str, pa.Table]:
    """What to call a source in messages, and its rows."""
    for adapter in ADAPTERS:
        if adapter.accepts(source):
            return adapter.describe(source), adapter.read(source)
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
        raise InputError(f"{path} has no known format; files end in {', '.join('.' + s for s in READERS)}.")
    return name


def _read_file(source: str | os.PathLike[str]) -> pa.Table:
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file of events.")
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    read = READERS[file_format(path)]
    try:
        if path.stat().st_size == 0:
            raise NoEventsError(f"{path} is empty.")
        return read(path)
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "its content is damaged"
        raise InputError(f"{path} cannot be read: {reason}.") from None


def _not_utf8(path: Path) -> InputError:
    """How to make it UTF-8: what begins with a byte order mark is UTF-16, other text mostly Western European."""
    with path.open("rb") as file:
        encoding = "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "latin1"
    return InputError(
        f"{path} is not UTF-8 text; convert it, for instance by iconv -f {encoding} -t utf-8 {path.name}."
    )


def _read_parquet(path: Path) -> pa.Table:
    try:
        return pa.parquet.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError):
        raise InputError(f"{path} is not a readable Parquet file.") from None


def _text(path: Path) -> io.TextIOBase:
    """A file opened as text, unpacked where it ends in .gz."""
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            raise InputError(f"{path} holds Parquet, not text; rename it to end in .parquet.")
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _read_csv(path: Path) -> pa.Table:
    with _text(path) as file:
        line = file.readline()
    return _read_separated(path, next((mark for mark in ",\t;" if mark in line), ","))


def _read_tsv(path: Path) -> pa.Table:
    return _read_separated(path, "\t")


def _read_separated(path: Path, delimiter: str) -> pa.Table:
    """All columns as text; only the many unnamed features of a known layout are read as numbers at once."""
    with _text(path) as file:
        records = csv.reader(file, delimiter=delimiter)
        try:
            header = next((record for record in records if record), None)
            lines = records.line_num
            row = next((record for record in records if record), None)
        except csv.Error as error:
            raise InputError(f"{path} is not readable as CSV: {error}.") from None
    if header is None:
        raise NoEventsError(f"{path} is empty.")
    names = spread(header, len(row) if row else len(header))
    skip = {"skip_rows": lines, "column_names": names} if names else {}
    text = {name: pa.string() for name in names or header}
    numbers = {name: pa.float64() for name in names or () if name not in header}
    try:
        return _parse_csv(path, delimiter, text | numbers, skip)
    except pa.ArrowInvalid:
        return _parse_csv(path, delimiter, text, skip)


def _parse_csv(path: Path, delimiter: str, types: dict[str, pa.DataType], skip: dict[str, Any]) -> pa.Table:
    def parse(threads: bool, **handler: Any) -> pa.Table:
        return pa.csv.read_csv(
            path,
            pa.csv.ReadOptions(use_threads=threads, block_size=_BLOCK, **skip),
            pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, **handler),
            pa.csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    try:
        table = parse(threads=True)
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise _not_utf8(path) from None
        if "Expected" not in str(error) or any(kind != pa.string() for kind in types.values()):
            raise
        ragged: list[Any] = []
        parse(threads=False, invalid_row_handler=lambda row: ragged.append(row) or "skip")  # type: ignore[func-returns-value]
        row, number = ragged[0], ragged[0].number - skip.get("skip_rows", 1)
        raise InputError(
            f"{path}, row {number}: {row.actual_columns} fields where there should be {row.expected_columns}."
        ) from None
    marked = [
        pa.field(f.name, f.type, metadata=UNTYPED if pa.types.is_string(f.type) else None)
        for f in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(marked))


def _read_json(path: Path) -> pa.Table:
    """One JSON object per line. Arrow makes timestamps of text that looks like a date; we want the text."""
    with _text(path):
        options = pa.json.ReadOptions(block_size=_BLOCK)
    try:
        table = pa.json.read_json(path, options)
        dates = [pa.field(f.name, pa.string()) for f in table.schema if pa.types.is_timestamp(f.type)]
        if dates:
            table = pa.json.read_json(path, options, pa.json.ParseOptions(explicit_schema=pa.schema(dates)))
        table.validate()  # arrow loses elements of lists that begin with null before it has seen a number
    except pa.ArrowException:
        return _read_json_slowly(path)
    return table


def _read_json_slowly(path: Path) -> pa.Table:
    """Row by row, for columns of mixed types, or to say which row is wrong."""
    rows: list[dict[str, Any]] = []
    with _text(path) as file:
        for line in file:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                raise InputError(f"{path}, row {len(rows) + 1}: not a line of JSON.") from None
            if not isinstance(row, dict):
                raise InputError(
                    f"{path}, row {len(rows) + 1}: not a JSON object; there should be one on each line."
                )
            rows.append(row)
    if not rows:
        raise NoEventsError(f"{path} is empty.")
    return rows_to_table(rows)


def rows_to_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of plain values under their names; what a row lacks is null."""
    names = dict.fromkeys(name for row in rows for name in row)
    return build_table((name, [row.get(name) for row in rows]) for name in names)


READERS: dict[str, Callable[[Path], pa.Table]] = {
    "parquet": _read_parquet,
    "pq": _read_parquet,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "jsonl": _read_json,
    "ndjson": _read_json,
    "json": _read_json,
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
