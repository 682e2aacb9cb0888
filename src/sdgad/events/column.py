"""One column of a named source: its values, what its text means, and how to say where something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.errors import AtRow, BadRows, InputError

UNTYPED = {
    b"sdgad.untyped": b"1"
}  # field metadata: text of a format without types (CSV), to be interpreted by us
UNUSABLE = b"sdgad.unusable"  # field metadata: the row of a list, an object or bytes among single values
NO_ID = b"sdgad.no_id"  # field metadata: the row of a truth value, a fraction or an inexact float that became text
EXACT = 2**53  # whole numbers from here on are not exact in float64
LONG = 200  # characters of a name or a value that a message has room for
NUMBER = r"^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:nan|inf|infinity))$"
DECIMAL_COMMA = r"^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d*),\d+(?:[eE][+-]?\d+)?$"
_CURRENCY = r"(?:[\p{Sc}%]|AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|RON|SEK|SGD|TRY|USD|ZAR)"
DRESSED = (  # an amount for people: thousands apart, or beside its currency
    rf"^[+-]?(?:{_CURRENCY}\s*)?[+-]?(?:\d{{1,3}}(?:[,'’\s\x{{A0}}\x{{202F}}]\d{{3}})+|\d{{1,3}}(?:\.\d{{3}})+|\d+)"
    rf"(?:[.,]\d*)?(?:[\s\x{{A0}}\x{{202F}}]*{_CURRENCY})?$"
)
_MISSING = pa.array(
    ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "Null", "null", "None"], pa.large_string()
)


@dataclass(frozen=True)
class Column:
    """A column of `source` (a file name, or "The table"); `untyped` text may stand for numbers."""

    source: str
    name: str
    values: pa.Array
    untyped: bool = False
    no_id: int | None = None  # the first row whose value was no id before it became text

    @classmethod
    def of(cls, table: pa.Table, name: str, source: str) -> Column:
        """The column of that name; an unknown name is an error that lists the columns there are."""
        where = table.schema.get_all_field_indices(name)
        if not where:
            close = get_close_matches(name, table.column_names, n=1)
            hint = f" (did you mean {shown(close[0])}?)" if close else ""
            raise InputError(
                f"{source} has no column {shown(name)}{hint}; its columns are {listed(table.column_names)}."
            )
        if len(where) > 1:
            raise InputError(f"{source} has {len(where)} columns named {shown(name)}.")
        marks = table.schema.field(where[0]).metadata or {}
        no_id = int(marks[NO_ID]) if NO_ID in marks else None
        column = cls(source, name, _plain(table.column(where[0])), marks.keys() >= UNTYPED.keys(), no_id)
        if UNUSABLE in marks:
            row = int(marks[UNUSABLE])
            raise column.error(
                row, f"{shown(column.values[row].as_py())} is not one value, as other rows have"
            )
        return column

    @classmethod
    def if_usable(cls, table: pa.Table, name: str, source: str) -> Column | None:
        """The same of a column that nobody asked for: None where it holds what is no single value."""
        try:
            return cls.of(table, name, source)
        except InputError:
            return None

    @property
    def is_text(self) -> bool:
        return bool(pa.types.is_large_string(self.values.type))

    @property
    def is_list(self) -> bool:
        return is_list(self.values.type)

    def text(self, expected: str) -> pa.Array:
        """The values as text; an error says what was `expected` of a column that has none."""
        try:
            return self.values.cast(pa.large_string())
        except pa.ArrowException:
            raise self.no(expected) from None

    def error(self, row: int, problem: str) -> InputError:
        """`problem` at a row counted from 0; people count data rows from 1."""
        if len(problem) > 3 * LONG:  # it tells a value that nobody reads to the end
            problem = f"{problem[: 2 * LONG]} … {problem[-LONG:]}"
        return AtRow.of(self.place, row, problem)

    def no(self, expected: str) -> InputError:
        """The column has a type that holds nothing of what is `expected`: told by its first value."""
        row = first(pc.is_valid(self.values)) or 0
        kind = str(self.values.type)
        kind = kind if len(kind) <= LONG else f"{kind[:LONG]} …"
        try:
            value = f" like {shown(self.values[row].as_py())}"
        except (ValueError, OverflowError, IndexError, pa.ArrowException):  # nothing that Python can show
            value = ""
        return self.error(row, f"{expected}, not {kind}{value}")

    def refuse(self, mask: pa.Array | np.ndarray[Any, Any], problem: str) -> None:
        """Rows that may be set aside: an error if there are any. `problem` may speak of the first one's `{value}`."""
        rows = np.flatnonzero(np.asarray(mask))
        if len(rows):
            value = self.value(int(rows[0])) if "{value}" in problem else ""
            raise BadRows.of(self.place, rows.tolist(), problem.replace("{value}", value))

    @property
    def place(self) -> str:
        """File and column, for a message."""
        return f"{self.source}, column {shown(self.name)}"

    def value(self, row: int) -> str:
        """A value for a message."""
        try:
            return shown(self.values[row].as_py())
        except (ValueError, OverflowError):  # a timestamp that Python's years do not reach
            return str(self.values[row])


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """One array without dictionary; every kind of text is large_string, which 2 GiB do not overflow."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds a list per row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def listed(names: list[str], most: int = 20) -> str:
    """Column names for a message, not too many of them."""
    told = ", ".join(map(shown, names[:most])) or "none"
    return told if len(names) <= most else f"{told} and {len(names) - most} more"


def shown(value: object) -> str:
    """A name or a value for a message, and not all of a long one."""
    text = repr(value)
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def first(mask: pa.Array) -> int | None:
    """The first row where a mask is true."""
    row = int(pc.index(mask, True).as_py())
    return None if row < 0 else row


def is_missing(text: pa.Array) -> pa.Array:
    """Rows that are null, empty or a common way to write that there is no value."""
    return pc.or_(pc.is_null(text), pc.is_in(pc.utf8_trim_whitespace(text), value_set=_MISSING))


def integers(text: pa.Array) -> pa.Array | None:
    """Text as int64 if every value is a canonical integer, so that nothing is lost ("007" is not 7)."""
    try:
        numbers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if numbers.cast(text.type).equals(text) else None


def floats(text: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Text as numbers of a floating type, missing values null; None if any value is not a number."""
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        text = pc.if_else(is_missing(text), None, pc.utf8_trim_whitespace(text))
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        return None


def typed(text: pa.Array) -> pa.Array:
    """Untyped text for a format with types: integers, else numbers, else as it is; "007" stays text."""
    whole = integers(text)
    if whole is not None:
        return whole
    numbers = floats(text, pa.float64())
    padded = pc.any(pc.match_substring_regex(text, r"^[+-]?0\d")).as_py()
    return text if numbers is None or padded else numbers
