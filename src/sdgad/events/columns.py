"""The columns of a stream: what they are called, and that each has one sound value per event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.events.times import epoch_seconds

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class FeatureColumn:
    """One column of `msg`: a number, or a code into `categories`. NaN is a missing value in either."""

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def categorical(self) -> bool:
        return self.categories is not None


@dataclass(frozen=True)
class ColumnNames:
    """What the columns of the file are called, so that scores can be read and written under the same names."""

    src: str = "src"
    dst: str = "dst"
    time: str = "t"
    label: str | None = "label"
    features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()  # features that are categories even where their text looks like numbers

    def __post_init__(self) -> None:
        for name in ("features", "categorical"):  # JSON has no tuples
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """The columns of a stream, one entry per event, in stream order (sorted by time, ties in order of arrival)."""

    src: Array
    dst: Array
    t: Array
    msg: Array | None
    label: Array
    anomaly_type: Array | None
    row: Array

    def take(self, rows: slice | Array) -> Columns:
        def pick(column: Array | None) -> Array | None:
            return None if column is None else column[rows]

        return Columns(
            self.src[rows], self.dst[rows], self.t[rows], pick(self.msg), self.label[rows],
            pick(self.anomaly_type), self.row[rows],
        )  # fmt: skip


def checked_times(t: Any) -> tuple[Array, bool]:
    """Times as int64 or float64, and whether they were dates, which are epoch seconds now."""
    times = np.asarray(t)
    if times.ndim != 1:
        raise InputError("Times must be one number per event.")
    if np.issubdtype(times.dtype, np.datetime64):
        if np.isnat(times).any():
            raise InputError(f"Row {int(np.flatnonzero(np.isnat(times))[0]) + 1} has no time.")
        return epoch_seconds(times), True
    if len(times) == 0:
        return times.astype(np.float64), False
    if np.issubdtype(times.dtype, np.integer):
        over = times > np.iinfo(np.int64).max if times.dtype == np.uint64 else times == np.iinfo(np.int64).min
        if over.any():
            raise InputError(
                f"Row {int(np.flatnonzero(over)[0]) + 1} has {times[over][0]}, which is no time."
            )
        return times.astype(np.int64), False
    if not np.issubdtype(times.dtype, np.floating):
        raise InputError(f"Times must be numbers or datetimes, not {times.dtype}.")
    times = times.astype(np.float64)
    if not np.isfinite(times).all():
        raise InputError(f"Row {int(np.flatnonzero(~np.isfinite(times))[0]) + 1} has no finite time.")
    return times, False


def checked_messages(msg: Any, count: int) -> Array | None:
    """Features as float32 `[E, d]`, finite or missing; None where there are none."""
    if msg is None:
        return None
    array = np.asarray(msg, np.float32)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or len(array) != count:
        raise InputError(
            f"msg must have one row of numbers per event: got shape {array.shape} for {count} events."
        )
    if np.isinf(array).any():
        row = int(np.flatnonzero(np.isinf(array).any(1))[0])
        raise InputError(f"Row {row + 1} has an infinite feature value.")
    return array if array.shape[1] else None


def checked_labels(label: Any, count: int) -> Array:
    """0, 1 or NaN, as float32."""
    if label is None:
        return np.full(count, np.nan, np.float32)
    array = one_each("label", np.asarray(label, np.float32), count)
    wrong = ~(np.isnan(array) | (array == 0) | (array == 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(f"Row {row + 1} has label {array[row]:g}; labels are 0, 1 or empty.")
    return array


def one_each(what: str, array: Array, count: int) -> Array:
    """The array, if it has one entry per event."""
    if array.shape != (count,):
        raise InputError(f"{what} has {array.shape[0] if array.ndim else 1} rows for {count} events.")
    return array
