"""Rows that agree, by number: composite keys as int64 codes, counted and ranked without a sort over columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sdgad.events.stream import Array


def codes(column: Array) -> Array:
    """Numbers 0, 1, … in order of first appearance; NaN equals NaN, −0 equals 0."""
    if np.issubdtype(column.dtype, np.floating):
        column = np.where(np.isnan(column), np.nan, column + 0.0)
        column = column.view(np.int32 if column.itemsize == 4 else np.int64)
    encoded = pa.array(np.ascontiguousarray(column)).dictionary_encode()
    return np.asarray(encoded.indices.to_numpy(), np.int64)


def joint(*columns: Array) -> Array:
    """Codes of rows that agree in every column; two codes below E make one int64."""
    together = codes(columns[0])
    for column in columns[1:]:
        other = codes(column)
        together = codes(together * (int(other.max(initial=0)) + 1) + other)
    return together


def instants(t: Array) -> Array:
    """Codes of times that are sorted."""
    numbers = np.zeros(len(t), np.int64)
    np.cumsum(t[1:] != t[:-1], out=numbers[1:])
    return numbers


def others(code: Array) -> Array:
    """How many other rows have the code of each."""
    return np.bincount(code)[code] - 1.0


def place(code: Array) -> Array:
    """Where each row stands among those of its code, in stream order: 0 first, 1 last, 0.5 alone."""
    size = np.bincount(code)
    order = np.argsort(code, kind="stable")
    rank = np.empty(len(code))
    rank[order] = np.arange(len(code)) - np.repeat(np.cumsum(size) - size, size)
    last = size[code] - 1
    return np.where(last > 0, rank / np.maximum(last, 1), 0.5)
