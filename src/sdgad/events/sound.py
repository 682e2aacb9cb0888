"""Whether an arrow table that somebody else made is what it says: texts are UTF-8, offsets lie inside."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sdgad.errors import InputError
from sdgad.events.column import shown


def need_sound(table: pa.Table, where: str) -> None:
    """Arrow itself does not look: what is no UTF-8 would fail, or worse, wherever it is first used."""
    for index in range(table.num_columns):
        try:
            name = table.schema.field(index).name
        except UnicodeDecodeError:
            raise InputError(f"{where}: column {index + 1} has a name that is not UTF-8 text.") from None
        try:
            table.column(index).validate(full=True)
        except (pa.ArrowException, UnicodeDecodeError):
            raise _problem(table.column(index), name, where) from None


def _problem(column: pa.ChunkedArray, name: str, where: str) -> InputError:
    start = 0
    for chunk in column.chunks:
        try:
            chunk.validate()
        except pa.ArrowException:
            return InputError(f"{where}, column {shown(name)}: the values are damaged.")
        row = _first_not_text(chunk)
        if row is not None:
            return InputError(
                f"{where}, column {shown(name)}, row {start + row + 1}: this is not UTF-8 text."
            )
        start += len(chunk)
    return InputError(f"{where}, column {shown(name)}: the values are damaged.")


def _first_not_text(chunk: pa.Array) -> int | None:
    """The first row that Python cannot decode either; by halves where arrow can look at a part alone."""
    if pa.types.is_dictionary(chunk.type):
        entry = _first_not_text(chunk.dictionary)
        row = -1 if entry is None else int(pc.index(chunk.indices, entry).as_py())
        return row if row >= 0 else None
    if not (pa.types.is_string(chunk.type) or pa.types.is_large_string(chunk.type)):
        return next((row for row in range(len(chunk)) if not _decodes(chunk[row])), None)
    low, high = 0, len(chunk)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            chunk[low:middle].validate(full=True)
            low = middle
        except pa.ArrowException:
            high = middle
    return low if high > low and not _decodes(chunk[low]) else None


def _decodes(value: pa.Scalar) -> bool:
    try:
        value.as_py()
    except UnicodeDecodeError:
        return False
    except (ValueError, OverflowError, TypeError, pa.ArrowException):  # a time that Python has no object for
        return True
    return True
