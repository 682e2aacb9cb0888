"""Text as times: numbers, or ISO-8601 with or without a zone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import NUMBER, Column, first, floats, integers, is_missing

Array = np.ndarray[Any, Any]
_ZONED = r"^\S{10}[T ]\S*(?:Z|[+-]\d\d(?::?\d\d)?)$"
_SHAPE = r"^\d{4}-\d\d-\d\d(?:[T ]\d\d.*)?$"


def from_text(column: Column, timezone: str | None) -> pa.Array:
    """Text as numbers if all of it is numeric, else as UTC timestamps."""
    column.refuse(is_missing(column.values), "there is no time")
    text = pc.utf8_trim_whitespace(column.values)
    numeric = integers(text)
    if numeric is None:
        numeric = floats(text, pa.float64())
    if numeric is not None:
        return numeric
    try:
        return _from_iso(text, timezone)
    except pa.ArrowInvalid:
        digits = pc.match_substring_regex(text, NUMBER)
        mostly_numbers = 2 * pc.sum(digits).as_py() >= len(text)
        wrong = pc.invert(digits) if mostly_numbers else _unreadable(text, timezone)
        row = first(pa.array(wrong)) or 0
        column.refuse(wrong, "{value} " + _fault(text, row, digits, mostly_numbers, timezone))
        raise  # one of them is wrong


def _fault(text: pa.Array, row: int, digits: pa.Array, mostly_numbers: bool, timezone: str | None) -> str:
    """What is wrong with the value of a row: nothing but its being a date among numbers or a number among dates, maybe."""
    if mostly_numbers and not _unreadable(text[row : row + 1], timezone)[0]:
        return "is a date, where other rows have numbers; write all times alike"
    if not mostly_numbers and digits[row].as_py():
        return "is a number, where other rows have dates; write all times alike"
    advice = any(c.isdigit() for c in text[row].as_py())
    return "is not a time" + ("; write 2026-01-05T04:47, or a number" if advice else "")


def _from_iso(text: pa.Array, timezone: str | None) -> pa.Array:
    """ISO-8601 text as UTC timestamps; ArrowInvalid if any value is something else."""
    try:
        return local_times(text.cast(pa.timestamp("us")), timezone)
    except pa.ArrowInvalid:
        pass
    for pattern, plain in (
        (r"(\.\d{6})\d+", r"\1"),
        (r"\s*(?:UTC|GMT|z)$", "Z"),
        (r"\s+([+-]\d\d:?\d\d)$", r"\1"),
    ):
        text = pc.replace_substring_regex(text, pattern, plain)
    zoned = pc.match_substring_regex(text, _ZONED)
    utc = pc.if_else(zoned, text, None).cast(pa.timestamp("us", "UTC"))
    local = pc.if_else(zoned, None, text).cast(pa.timestamp("us"))
    return pc.coalesce(utc, local_times(local, timezone))


def local_times(naive: pa.Array, timezone: str | None) -> pa.Array:
    """Local times of a zone as UTC; a repeated hour is the first one, a skipped one is its end."""
    aware = pc.assume_timezone(naive, timezone or "UTC", ambiguous="earliest", nonexistent="latest")
    return aware.cast(pa.timestamp(naive.type.unit, "UTC"))


def _unreadable(text: pa.Array, timezone: str | None) -> Array:
    """Which values are no ISO-8601 times: those of another shape, and by bisection those like 2026-13-01."""
    wrong = ~pc.match_substring_regex(text, _SHAPE).to_numpy(zero_copy_only=False)
    shaped = np.flatnonzero(~wrong)
    parts = [shaped]
    while parts:
        part = parts.pop()
        try:
            _from_iso(text.take(pa.array(part)), timezone)
        except pa.ArrowInvalid:
            wrong[part] = len(part) == 1
            parts += np.array_split(part, 2) if len(part) > 1 else []
    return np.asarray(wrong)
