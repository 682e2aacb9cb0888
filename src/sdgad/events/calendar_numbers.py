"""Numbers that are dates in disguise: 20260105, and the days that spreadsheets count."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MOST = 0.9  # of the numbers, to take a column for dates; of few, all
YEARS = (1900, 2100)
SERIAL = (36_526, 51_136)  # days of a spreadsheet: 2000 to 2040
SERIAL_EPOCH = 25_569  # its number for 1970-01-01


def written_dates(t: Array) -> tuple[Array, Array] | None:
    """Numbers like 20260105, 202601050447 or 20260105044712 as datetime64[s], and which of them are such dates.

    None unless nearly all are: a number in one of three short ranges is a date by chance in one of thirty cases.
    """
    if not len(t):
        return None
    whole = t.astype(np.float64)
    low, high = YEARS[0] * 10**4, (YEARS[1] + 1) * 10**4
    digits = np.where(whole < high, 8, np.where(whole < high * 10**4, 12, 14))
    scale = 10.0 ** (14 - digits)
    likely = (whole == np.floor(whole)) & (whole * scale >= low * 10**6) & (whole * scale < high * 10**6)
    if np.mean(likely) < MOST:
        return None
    number = np.where(likely, whole * scale, low * 10**6 + 101_000_000).astype(np.int64)
    day, clock = np.divmod(number, 10**6)
    year, month, date = day // 10_000, day // 100 % 100, day % 100
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    possible = (month >= 1) & (month <= 12) & (date >= 1) & (hour < 24) & (minute < 60) & (second < 60)
    month, date = np.where(possible, month, 1), np.where(possible, date, 1)
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (date - 1)
    valid = likely & possible & (days.astype("datetime64[M]") == months)
    if not (valid.all() or (len(t) >= 10 and np.mean(valid) >= MOST)):
        return None
    return days.astype("datetime64[s]") + (hour * 3600 + minute * 60 + second), valid


def look_like_serial_days(ends: Array) -> bool:
    """Whether the bulk of some numbers lies where spreadsheets have the days of 2000 to 2040 (46027.5)."""
    return len(ends) > 0 and bool(SERIAL[0] <= ends[0] and ends[-1] < SERIAL[1])


def serial_moment(day: float) -> str:
    """What a spreadsheet shows for a number of days."""
    second = round((float(day) - SERIAL_EPOCH) * 86_400)
    return str(np.datetime64(second, "s")).replace("T", " ")
