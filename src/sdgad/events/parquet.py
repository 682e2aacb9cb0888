"""Parquet: what a file says of itself is not believed, only counted again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sdgad.errors import InputError
from sdgad.events.file_kinds import why_no_parquet
from sdgad.events.sound import need_sound
from sdgad.events.text_file import memory

_BATCH = 1 << 17  # rows that are made room for at once, whatever number of them a file announces
_NOTE = b"ARROW:schema"  # where arrow notes which types a table had


def read_parquet(path: Path) -> pa.Table:
    """All rows; a file that announces another number of them, or holds more than fits into memory, is refused."""
    try:
        table = _read(path, path)
        fields = [pa.field(field.name, field.type, field.nullable) for field in table.schema]
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError, NotImplementedError) as problem:
        if "UTF8" in str(problem):
            _name_what_is_no_text(path)
        raise InputError(f"{path} is not a readable Parquet file{why_no_parquet(path)}.") from None
    # without notes on single columns, by which our own readers tell each other
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))


def _read(source: Any, path: Path) -> pa.Table:
    """The metadata of column chunks is not asked for: there, arrow ends the process on a contradiction."""
    batches, size, most = [], 0, memory()
    with pq.ParquetFile(source, page_checksum_verification=True) as file:
        announced = {
            file.metadata.num_rows,
            sum(file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)),
        }
        for batch in file.iter_batches(batch_size=_BATCH):
            batches.append(batch)
            size += batch.nbytes
            if size > most:
                raise InputError(
                    f"{path} holds more than {most >> 30:,} GiB, which is all the memory there is."
                )
        table = pa.Table.from_batches(batches, file.schema_arrow)
    if announced != {table.num_rows}:
        count = next(rows for rows in announced if rows != table.num_rows)
        raise InputError(
            f"{path} is not a readable Parquet file; it announces {count:,} rows and has {table.num_rows:,}."
        )
    return table


def _name_what_is_no_text(path: Path) -> None:
    """Of columns that were dictionaries arrow does not say where it stopped; read as plain ones, they tell."""
    before, note, after = path.read_bytes().rpartition(_NOTE)
    try:
        table = _read(pa.BufferReader(before + bytes(len(note)) + after), path)
    except (pa.ArrowException, OSError, UnicodeDecodeError, InputError):
        return
    need_sound(table, str(path))
