"""Columns in memory (lists, arrays, series, tensors) as an arrow table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad.errors import InputError
from sdgad.events.column import EXACT, NO_ID, UNTYPED, UNUSABLE, shown

_PYG = ("src", "dst", "t", "msg")


def build_table(columns: Iterable[tuple[str, Any]]) -> pa.Table:
    """Names and values, column by column: one with mixed types is text to be interpreted, not an error."""
    fields, arrays = [], []
    for name, values in columns:
        if not encodes(name):
            raise InputError(f"Column {shown(name)}: half of a surrogate pair is not text.")
        array, metadata = _column(name, values)
        fields.append(pa.field(name, array.type, metadata=metadata))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def mapping_table(columns: Mapping[Any, Any], source: str = "The dictionary") -> pa.Table:
    """Column name → one value, or one row of values, per event; None and rows of width 0 hold nothing."""
    held = [(str(name), _values(values)) for name, values in columns.items() if values is not None]
    for name, values in held:
        if _count(values) is None:
            raise InputError(f"{source}: {name!r} must be a list or an array, with one value per event.")
        if _count(values) != _count(held[0][1]):
            raise InputError(
                f"{source}: {name!r} has {_count(values)} values, but {held[0][0]!r} has {_count(held[0][1])}."
            )
    return build_table((name, values) for name, values in held if 0 not in getattr(values, "shape", ())[1:])


def temporal_data_table(data: Any) -> pa.Table:
    """The attributes of a PyG `TemporalData` that have one row per event; others say nothing about an event."""
    held = data.to_dict()
    count = _count(held.get("src"))
    return mapping_table(
        {name: values for name, values in held.items() if name in _PYG or _count(values) == count},
        "The TemporalData",
    )


def _values(values: Any) -> Any:
    """Tensors as numpy arrays, polars series as arrow arrays, the rest as it is."""
    if hasattr(values, "detach"):
        tensor = values.detach().cpu()
        short = tensor.is_floating_point() and tensor.element_size() < 4  # numpy has no bfloat16
        return (tensor.float() if short else tensor).numpy()
    return values.to_arrow() if hasattr(values, "to_arrow") else values


def _count(values: Any) -> int | None:
    """The number of rows; None for what is no column."""
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        return None
    return None if getattr(values, "ndim", 1) == 0 else len(values)


def _column(name: str, values: Any) -> tuple[pa.Array, dict[bytes, bytes] | None]:
    """An arrow column, and a mark where it had to become text."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values, None
    if isinstance(values, np.ndarray) and values.ndim > 1:
        try:
            return _rows(values), None
        except pa.ArrowException:
            raise InputError(f"Column {name!r} holds {values.dtype}, which is no number or text.") from None
    try:
        try:
            array = pa.array(values, from_pandas=True)
            odd = _has_become_another(values, array) or _mixes_zones(array, values)
            return _mixed(values) if odd else (array, None)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            return _mixed(values)
    except UnicodeEncodeError:
        row = next((i for i, value in enumerate(values) if not _encodes_all(value)), 0)
        raise InputError(
            f"Column {shown(name)}, row {row + 1}: half of a surrogate pair is not text."
        ) from None


def _has_become_another(values: Any, array: pa.Array) -> bool:
    """Whether floats have made others of their neighbours: a number of a truth value, 2⁵³ of 2⁵³ + 1."""
    return (
        isinstance(values, list)
        and pa.types.is_float64(array.type)
        and any(
            isinstance(value, bool) or (isinstance(value, int) and abs(value) >= EXACT) for value in values
        )
    )


def _mixed(values: Any) -> tuple[pa.Array, dict[bytes, bytes]]:
    """Values of several types as text, which may stand for numbers; what is no single value is text for the output only."""
    mark, texts = dict(UNTYPED), []
    for row, value in enumerate(values):
        if isinstance(value, list | tuple | dict | bytes | Set | np.ndarray):
            mark.setdefault(UNUSABLE, str(row).encode())
        if isinstance(value, bool | float) and not (_is_whole(value) or math.isnan(value)):
            mark.setdefault(NO_ID, str(row).encode())
        texts.append(_as_text(value))
    return pa.array(texts, pa.large_string()), mark


def _mixes_zones(array: pa.Array | pa.ChunkedArray, values: Any) -> bool:
    """Whether some datetimes name a zone and some do not, of which arrow would say nothing."""
    if not pa.types.is_timestamp(array.type) or getattr(values, "dtype", np.dtype(object)) != np.dtype(
        object
    ):
        return False
    zones = {value.tzinfo is None for value in values if getattr(value, "year", 0) > 0}
    return len(zones) > 1


def _rows(values: np.ndarray[Any, Any]) -> pa.Array:
    """An array of two or more dimensions as a list per event."""
    if values.ndim == 1:
        return pa.array(np.ascontiguousarray(values, values.dtype.newbyteorder("=")))
    flat = values.reshape(-1, *values.shape[2:])
    return pa.FixedSizeListArray.from_arrays(_rows(flat), values.shape[1])


def encodes(text: str) -> bool:
    """Whether a text is one: JSON can spell half of a surrogate pair, UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encodes_all(value: Any) -> bool:
    """The same of a value and of what is inside it."""
    if isinstance(value, Mapping):
        return all(_encodes_all(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return all(map(_encodes_all, value))
    return not isinstance(value, str) or encodes(value)


def _is_whole(value: Any) -> bool:
    """A float that is an integer, and no other one."""
    return isinstance(value, float) and value.is_integer() and abs(value) < EXACT


def _as_text(value: Any) -> str | None:
    if value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>")):
        return None
    if _is_whole(value):
        return str(int(value))  # as in a column of floats alone, 1042.0 is the id 1042
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    return str(value).lower() if isinstance(value, bool) else str(value)
