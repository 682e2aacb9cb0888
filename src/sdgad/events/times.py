"""A column of times: numbers are kept as they are, dates and ISO-8601 text become epoch seconds."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.errors import row_numbers
from sdgad.events.calendar_numbers import look_like_serial_days, serial_moment, written_dates
from sdgad.events.clock import Clock, known_zone
from sdgad.events.column import Column
from sdgad.events.iso_text import from_text, local_times
from sdgad.events.suspicious import Span, core, far_from

logger = logging.getLogger("sdgad.events")

Array = np.ndarray[Any, Any]
_SOME_ZONE = re.compile(r"\S{10}[T ].*(?:[zZ]|UTC|GMT|[+-]\d\d(?::?\d\d)?)\s*")
_LAST_YEAR, _SECONDS_PER_YEAR = 2100, 31_556_952


def read_times(
    column: Column,
    *,
    time_unit: str | None = None,
    timezone: str | None = None,
    clock: Clock | None = None,
    history: Span | None = None,
    keep: bool = False,
) -> tuple[Array, Clock]:
    """Times as int64 or float64, and what they mean.

    Numbers (or text that holds numbers) keep their value; `time_unit` says what they count, else `clock` (unless
    that is a wall clock and they look like one in another unit), else `Clock.guess`. Dates, timestamps,
    ISO-8601 text and, where neither unit nor clock says otherwise, numbers like 20260105 become float64 seconds since
    1970-01-01 UTC; where they name no zone, they are local times of `timezone` (UTC without it). Days as spreadsheets
    count them are refused.

    Rows without a time, with one that the clock cannot hold and, unless they are to be kept, with one that is absurd beside
    the others and a model's `history` (see `bulk`; in units of `clock`) are an error, `BadRows`.
    """
    Clock(time_unit or "s", timezone=timezone or "UTC")  # refuses what does not exist
    values = from_text(column, timezone) if column.is_text else column.values
    column.refuse(pc.is_null(values, nan_is_null=True), "there is no time")
    kind = values.type
    seconds = None if history is None or clock is None else tuple(end * clock.seconds for end in history)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        offsets = _has_offsets(column)
        t = _seconds(column, values, timezone)
        dated = Clock("s", wall_clock=True, timezone=timezone or _zone_of(kind), offsets=offsets)
        _need_times(t, dated, column, seconds, keep)
        _tell_missing_offsets(column, timezone)
        _tell_other_offsets(column, offsets, clock)
        _tell_far_future(t, dated, column)
        return t, dated
    t = numbers(column, values)
    middle = core(np.sort(t))
    open_to_dates = time_unit is None and (clock is None or clock.wall_clock)
    if open_to_dates and (written := written_dates(t)) is not None:
        t, dated = _from_digits(column, *written, timezone)
        _need_times(t, dated, column, seconds, keep)
        if clock is None:
            logger.warning(
                "%s, column %r: read as dates: %s is %s UTC.",
                column.source,
                column.name,
                column.value(0),
                moment(t[0], dated),
            )
        return t, dated
    if (open_to_dates or time_unit == "d") and look_like_serial_days(middle):
        advice = "" if clock else ", or name what it counts, s, min or h, with time_unit="
        day = f"{column.value(0)} looks like a day of a spreadsheet, {serial_moment(t[0])}"
        raise column.error(0, f"{day}; write that{advice}")
    inner = _numeric_clock(middle, time_unit, clock)
    _need_times(t, inner, column, seconds, keep)
    ends = np.array([t.min(), t.max()]) if len(t) else t
    numeric = inner if clock is not None else _numeric_clock(ends, time_unit, None)
    _need_held(t, numeric, column)
    _tell_other_unit(numeric, clock if time_unit is None else None, column)
    if clock is None or clock.wall_clock:
        _tell_far_future(ends, numeric, column)
    return t, replace(numeric, timezone=timezone) if timezone else numeric


def numbers(column: Column, values: pa.Array) -> Array:
    """Numbers as int64 or float64; those that int64 cannot hold, and the one that it has for "not a time", are none."""
    kind = values.type
    if pa.types.is_integer(kind):
        if pa.types.is_uint64(kind):
            column.refuse(
                pc.greater(values, pa.scalar(2**63 - 1, pa.uint64())), "{value} is too far away to be a time"
            )
        t: Array = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
        _need_near_zero(column, t, t > np.iinfo(np.int64).min)
        return t
    if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise column.error(0, f"times are numbers, dates or ISO-8601 text, not {kind}")
    t = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    column.refuse(~np.isfinite(t), "{value} is not a time")
    _need_near_zero(column, t, np.abs(t) < 2.0**63)
    return t


def moment(t: Any, clock: Clock) -> str:
    """A time for a message: on a wall clock the date, unless that is what it is anyway."""
    if not clock.wall_clock:
        return str(t)
    return str(np.datetime64(round(float(t) * clock.seconds), "s")).replace("T", " ")


def epoch_seconds(moments: Array) -> Array:
    """datetime64 of any unit as float64 epoch seconds; whole and fractional part apart, to round only once."""
    whole = moments.astype("datetime64[s]")
    seconds: Array = whole.astype(np.int64) + (moments - whole) / np.timedelta64(1, "s")
    return seconds


# ---------------------------------------------------------------------- which times can be used
def _need_times(t: Array, clock: Clock, column: Column, history: Any, keep: bool) -> None:
    """Times that the clock can hold and that are not absurd beside each other; `history` is in seconds."""
    _need_held(t, clock, column)
    if keep:
        return
    past = None if history is None else (history[0] / clock.seconds, history[1] / clock.seconds)
    far = far_from(t, clock, past)
    if far.any():
        shown = column.value(int(np.flatnonzero(far)[0]))
        date = "" if column.is_text or not clock.wall_clock else f" ({moment(t[far][0], clock)})"
        column.refuse(far, f"{shown}{date} is too far from {_others(t[~far], clock, past)}")


def _others(t: Array, clock: Clock, history: Span | None) -> str:
    low, high = (t.min(), t.max()) if len(t) else history or (0, 0)
    what = "the other rows" if len(t) else "the model's history"
    return f"{what}, {moment(low, clock)} to {moment(high, clock)}"


def _need_held(t: Array, clock: Clock, column: Column) -> None:
    lost = ~clock.holds(t)
    if 2 * lost.sum() > len(t) > 1:
        row = int(np.flatnonzero(lost)[0])
        raise column.error(
            row,
            f"counted in {clock.unit}, {t[row]} is too far away to be a time; name what it counts with time_unit=",
        )
    _need_near_zero(column, t, ~lost)


def _need_near_zero(column: Column, t: Array, near: Array) -> None:
    if not near.all():
        column.refuse(~near, f"{t[~near][0]} is too far away to be a time")


# ---------------------------------------------------------------------- what numbers mean
def _numeric_clock(ends: Array, unit: str | None, clock: Clock | None) -> Clock:
    """The unit that is named, or the clock that is expected unless the numbers show the same wall clock in another unit."""
    if unit is not None:
        guess = Clock.guess(ends * Clock(unit).seconds)
        return Clock(unit, wall_clock=guess == Clock("s", wall_clock=True))
    guess = Clock.guess(ends)
    if clock is None:
        return guess
    return replace(clock, unit=guess.unit) if clock.wall_clock and guess.wall_clock else clock


def _tell_other_unit(found: Clock, expected: Clock | None, column: Column) -> None:
    if expected is not None and found.unit != expected.unit:
        logger.warning(
            "%s, column %r: read as %s since 1970, which the numbers look like, not as %s.",
            column.source, column.name, found.unit, expected.unit,
        )  # fmt: skip


def _from_digits(column: Column, dates: Array, valid: Array, timezone: str | None) -> tuple[Array, Clock]:
    column.refuse(~valid, "{value} is not a date like the others")
    seconds = epoch_seconds(local_times(pa.array(dates), timezone).to_numpy(zero_copy_only=False))
    return seconds, Clock("s", wall_clock=True, timezone=timezone or "UTC", offsets=False)


# ---------------------------------------------------------------------- what is told
def _has_offsets(column: Column) -> bool:
    """Whether dated times say how far they are from UTC; the first one speaks for the column."""
    if column.is_text:
        return _SOME_ZONE.fullmatch(str(column.values[0])) is not None if len(column.values) else False
    return getattr(column.values.type, "tz", None) is not None


def _tell_missing_offsets(column: Column, timezone: str | None) -> None:
    """Of text, some times with an offset from UTC and some without."""
    if not column.is_text or (timezone or "UTC") != "UTC":
        return
    zoned = pc.match_substring_regex(column.values, f"^\\s*(?:{_SOME_ZONE.pattern})$")
    missing = np.flatnonzero(~zoned.to_numpy(zero_copy_only=False))
    if 0 < len(missing) < len(zoned):
        logger.warning(
            "%s, column %r: %s of %s times name no zone and are taken as UTC, while the others have one (%s).",
            column.source, column.name, f"{len(missing):,}", f"{len(zoned):,}", row_numbers((missing + 1).tolist()),
        )  # fmt: skip


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


def _seconds(column: Column, values: pa.Array, timezone: str | None) -> Array:
    """Timestamps or dates as float64 epoch seconds."""
    if values.type.bit_width == 64:  # numpy's and pandas' way to say that there is none
        column.refuse(pc.equal(values.cast(pa.int64()), -(2**63)), "there is no time")
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s" if pa.types.is_date32(values.type) else "ms"))
    if values.type.tz is None:
        values = local_times(values, timezone)
    return epoch_seconds(values.to_numpy(zero_copy_only=False))


def _zone_of(kind: pa.DataType) -> str:
    """The named zone of a timestamp type; a bare offset says little about where people live."""
    zone = getattr(kind, "tz", None) or "UTC"
    return zone if known_zone(zone) else "UTC"
