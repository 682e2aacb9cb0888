"""Parquet: what a file says of itself is checked before arrow believes it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sdgad.errors import InputError
from sdgad.events.file_kinds import why_no_parquet
from sdgad.events.text_file import memory

_WIDTH = {
    "BOOLEAN": 1 / 8,
    "INT32": 4,
    "FLOAT": 4,
}  # bytes in memory; other values take 8, texts at least so many


def read_parquet(path: Path) -> pa.Table:
    """All rows; a file that contradicts itself, or says that it holds more than fits into memory, is refused."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _need_sense(path, file.metadata)
            table = file.read()
        fields = [pa.field(field.name, field.type, field.nullable) for field in table.schema]
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError):
        raise InputError(f"{path} is not a readable Parquet file{why_no_parquet(path)}.") from None
    # without what a file may say of single columns, which is how our own readers tell each other
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))


def _need_sense(path: Path, metadata: pq.FileMetaData) -> None:
    """Rows are counted in three places, which must agree, and take memory before the first of them is read."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if any(group.num_rows < 0 for group in groups) or metadata.num_rows != sum(g.num_rows for g in groups):
        raise InputError(f"{path} is not a readable Parquet file; its counts of rows contradict each other.")
    size = 0.0
    for group in groups:
        for i in range(group.num_columns):
            column = group.column(i)
            if column.num_values < group.num_rows:
                raise InputError(
                    f"{path} is not a readable Parquet file; column {column.path_in_schema!r} has "
                    f"{column.num_values:,} values for {group.num_rows:,} rows."
                )
            size += max(column.num_values, 0) * _WIDTH.get(column.physical_type, 8)
    if size > memory():
        raise InputError(
            f"{path} says that it holds {size / 2**30:,.0f} GiB of values, more than the memory there is."
        )
