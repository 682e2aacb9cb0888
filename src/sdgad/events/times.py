"""A column of times: numbers are kept as they are, dates and ISO-8601 text become epoch seconds."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.clock import Clock, known_zone
from sdgad.events.column import NUMBER, Column, first, floats, integers, is_missing

logger = logging.getLogger("sdgad.events")

Array = np.ndarray[Any, Any]
_SOME_ZONE = re.compile(r"\S{10}[T ].*(?:[zZ]|UTC|GMT|[+-]\d\d(?::?\d\d)?)\s*")
_LAST_YEAR, _SECONDS_PER_YEAR = 2100, 31_556_952
_ZONED = r"^\S{10}[T ]\S*(?:Z|[+-]\d\d(?::?\d\d)?)$"


def read_times(
    column: Column, *, time_unit: str | None = None, timezone: str | None = None, clock: Clock | None = None
) -> tuple[Array, Clock]:
    """Times as int64 or float64, and what they mean.

    Numbers (or text that holds numbers) keep their value; `time_unit` says what they count, else `clock` (unless
    that is a wall clock and they look like one in another unit), else `Clock.guess`. Dates, timestamps and
    ISO-8601 text become float64 seconds since 1970-01-01 UTC; where they name no zone, they are local times of
    `timezone` (UTC without it).
    """
    Clock(time_unit or "s", timezone=timezone or "UTC")  # refuses what does not exist
    values = _from_text(column, timezone) if column.is_text else column.values
    row = first(pc.is_null(values, nan_is_null=True))
    if row is not None:
        raise column.error(row, "there is no time")
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        offsets = _has_offsets(column)
        _tell_other_offsets(column, offsets, clock)
        zone = timezone or _zone_of(kind)
        t, dated = _seconds(values, timezone), Clock("s", wall_clock=True, timezone=zone, offsets=offsets)
        _tell_far_future(t, dated, column)
        return t, dated
    if pa.types.is_integer(kind):
        t = values.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False)
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        t = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    else:
        raise column.error(0, f"times are numbers, dates or ISO-8601 text, not {kind}")
    if not np.isfinite(t).all():
        row = int(np.flatnonzero(~np.isfinite(t))[0])
        raise column.error(row, f"{t[row]} is not a time")
    ends = np.array([t.min(), t.max()]) if len(t) else t
    numeric = _named_clock(ends, time_unit) if time_unit else _likely_clock(ends, clock, column)
    if clock is None or clock.wall_clock:
        _tell_far_future(ends, numeric, column)
    return t, replace(numeric, timezone=timezone) if timezone else numeric


def epoch_seconds(moments: Array) -> Array:
    """datetime64 of any unit as float64 epoch seconds; whole and fractional part apart, to round only once."""
    whole = moments.astype("datetime64[s]")
    seconds: Array = whole.astype(np.int64) + (moments - whole) / np.timedelta64(1, "s")
    return seconds


def _named_clock(ends: Array, unit: str) -> Clock:
    guess = Clock.guess(ends * Clock(unit).seconds)
    return Clock(unit, wall_clock=guess == Clock("s", wall_clock=True))


def _likely_clock(ends: Array, clock: Clock | None, column: Column) -> Clock:
    """The clock that is expected, unless the numbers show the same wall clock in another unit."""
    guess = Clock.guess(ends)
    if clock is None:
        return guess
    if not (clock.wall_clock and guess.wall_clock) or clock.unit == guess.unit:
        return clock
    logger.warning(
        "%s, column %r: read as %s since 1970, which the numbers look like, not as %s.",
        column.source, column.name, guess.unit, clock.unit,
    )  # fmt: skip
    return replace(clock, unit=guess.unit)


def _has_offsets(column: Column) -> bool:
    """Whether dated times say how far they are from UTC; the first one speaks for the column."""
    if column.is_text:
        return _SOME_ZONE.fullmatch(str(column.values[0])) is not None if len(column.values) else False
    return getattr(column.values.type, "tz", None) is not None


def _tell_other_offsets(column: Column, offsets: bool, clock: Clock | None) -> None:
    """A zone that was named at fit says what times without an offset mean; UTC is a mere assumption."""
    if clock is None or clock.offsets in (None, offsets) or clock.timezone != "UTC":
        return
    logger.warning(
        "%s, column %r: the times have %s; a time zone named at fit says what times without one mean.",
        column.source,
        column.name,
        "offsets, while the model was fitted on times without, taken as UTC"
        if offsets
        else "no offset and are taken as UTC, while the model was fitted on times with offsets",
    )


def _tell_far_future(t: Array, clock: Clock, column: Column) -> None:
    last = 1970 + float(t.max()) * clock.seconds / _SECONDS_PER_YEAR if len(t) else 0.0
    if last >= _LAST_YEAR:
        logger.warning(
            "%s, column %r: counted in %s since 1970, the times reach the year %.0f; is the unit right?",
            column.source, column.name, clock.unit, last,
        )  # fmt: skip


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
        found = column.values[row or 0].as_py()
        advice = "; write 2026-01-05T04:47, or a number" if any(c.isdigit() for c in found) else ""
        raise column.error(row or 0, f"{found!r} is not a time{advice}") from None


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
    """Timestamps or dates as float64 epoch seconds."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s" if pa.types.is_date32(values.type) else "ms"))
    if values.type.tz is None:
        values = _local(values, timezone)
    return epoch_seconds(values.to_numpy(zero_copy_only=False))


def _zone_of(kind: pa.DataType) -> str:
    """The named zone of a timestamp type; a bare offset says little about where people live."""
    zone = getattr(kind, "tz", None) or "UTC"
    return zone if known_zone(zone) else "UTC"
