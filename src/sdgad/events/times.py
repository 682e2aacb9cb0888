"""A column of times: numbers are kept as they are, dates and ISO-8601 text become epoch seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.column import NUMBER, Column, first, floats, integers, is_missing

Array = np.ndarray[Any, Any]
_ZONED = r"^\S{10}[T ]\S*(?:Z|[+-]\d\d(?::?\d\d)?)$"
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def read_times(
    column: Column, *, time_unit: str | None = None, timezone: str | None = None, clock: Clock | None = None
) -> tuple[Array, Clock]:
    """Times as int64 or float64, and what they mean.

    Numbers (or text that holds numbers) keep their value; `time_unit` says what they count, else `clock`,
    else `Clock.guess`. Dates, timestamps and ISO-8601 text become float64 seconds since 1970-01-01 UTC; where
    they name no zone, they are local times of `timezone` (UTC without it).
    """
    _check_zone(timezone)
    unit = Clock(unit=time_unit).unit if time_unit else None
    values = _from_text(column, timezone) if column.is_text else column.values
    row = first(pc.is_null(values, nan_is_null=True))
    if row is not None:
        raise column.error(row, "there is no time")
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _seconds(values, timezone), Clock("s", wall_clock=True, timezone=timezone or _zone_of(kind))
    if pa.types.is_integer(kind):
        t = values.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False)
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        t = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    else:
        raise column.error(0, f"times are numbers, dates or ISO-8601 text, not {kind}")
    if not np.isfinite(t).all():
        row = int(np.flatnonzero(~np.isfinite(t))[0])
        raise column.error(row, f"{t[row]} is not a time")
    return t, _numeric_clock(t, unit, timezone, clock)


def _numeric_clock(t: Array, unit: str | None, timezone: str | None, clock: Clock | None) -> Clock:
    ends = np.array([t.min(), t.max()]) if len(t) else t
    if unit is not None:
        in_seconds = ends * Clock(unit=unit).seconds
        clock = replace(
            Clock.guess(in_seconds), unit=unit, wall_clock=Clock.guess(in_seconds) == Clock("s", True)
        )
    elif clock is None:
        clock = Clock.guess(ends)
    return replace(clock, timezone=timezone) if timezone else clock


def _from_text(column: Column, timezone: str | None) -> pa.Array:
    """Text as numbers if all of it is numeric, else as UTC timestamps."""
    row = first(is_missing(column.values))
    if row is not None:
        raise column.error(row, "there is no time")
    text = pc.utf8_trim_whitespace(column.values)
    numbers = integers(text)
    if numbers is None:
        numbers = floats(text, pa.float64())
    if numbers is not None:
        return numbers
    try:
        return _from_iso(text, timezone)
    except pa.ArrowInvalid:
        numeric = pc.match_substring_regex(text, NUMBER)
        mostly_numbers = 2 * pc.sum(numeric).as_py() > len(text)
        row = first(pc.invert(numeric)) if mostly_numbers else _first_unreadable(text, timezone)
        raise column.error(row or 0, f"{column.values[row or 0].as_py()!r} is not a time") from None


def _from_iso(text: pa.Array, timezone: str | None) -> pa.Array:
    """ISO-8601 text as UTC timestamps; ArrowInvalid if any value is something else."""
    try:
        return _local(text.cast(pa.timestamp("us")), timezone)
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
    return pc.coalesce(utc, _local(local, timezone))


def _local(naive: pa.Array, timezone: str | None) -> pa.Array:
    """Local times of a zone as UTC; a repeated hour is the first one, a skipped one is its end."""
    aware = pc.assume_timezone(naive, timezone or "UTC", ambiguous="earliest", nonexistent="latest")
    return aware.cast(pa.timestamp(naive.type.unit, "UTC"))


def _first_unreadable(text: pa.Array, timezone: str | None) -> int:
    """The first value that is no ISO-8601 time, by bisection (one of them is there)."""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _from_iso(text[low:middle], timezone)
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _seconds(values: pa.Array, timezone: str | None) -> Array:
    """Timestamps or dates as float64 epoch seconds; whole and fractional part apart, to round only once."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s" if pa.types.is_date32(values.type) else "ms"))
    if values.type.tz is None:
        values = _local(values, timezone)
    per_second = _PER_SECOND[values.type.unit]
    whole, part = np.divmod(values.cast(pa.int64()).to_numpy(zero_copy_only=False), per_second)
    seconds: Array = whole + part / per_second
    return seconds


def _zone_of(kind: pa.DataType) -> str:
    """The named zone of a timestamp type; a bare offset says little about where people live."""
    zone = getattr(kind, "tz", None) or "UTC"
    return zone if _known_zone(zone) else "UTC"


def _check_zone(timezone: str | None) -> None:
    if timezone is not None and not _known_zone(timezone):
        raise InputError(f"There is no time zone {timezone!r}; zones have names like 'Europe/Berlin'.")


def _known_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return False
    return True
