"""Feature columns of a table → `msg`: numbers as they are, categories as codes, lists spread over columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import (
    DECIMAL_COMMA,
    DRESSED,
    EXACT,
    NUMBER,
    Column,
    first,
    floats,
    is_list,
    is_missing,
)
from sdgad.events.layouts import family
from sdgad.events.stream import FeatureColumn

Array = np.ndarray[Any, Any]
Block = tuple[tuple[FeatureColumn, ...], Array]  # float32 [E, w] and what its columns are


def read_messages(
    table: pa.Table, names: Sequence[str], source: str, categorical: Collection[str] = ()
) -> tuple[tuple[FeatureColumn, ...], Array | None]:
    """Features by name, in the order asked for; those in `categorical` are categories whatever they hold.

    A name is a column; or the numbered columns `name0, name1, …`; or, if it ends in a number, an element of a
    list column (`msg2`). So `msg` finds the same numbers in Parquet (a list) and in CSV (columns).
    """
    spread = cache(lambda holder: _spread(Column.of(table, holder, source)))
    blocks = [_block(table, name, source, categorical, spread) for name in names]
    features = tuple(feature for described, _ in blocks for feature in described)
    if not features:
        return (), None
    return features, blocks[0][1] if len(blocks) == 1 else np.concatenate([b for _, b in blocks], axis=1)


def holders(columns: Sequence[str], name: str) -> list[str]:
    """The columns of a table that hold the features of that name; none if it has no such features."""
    if name in columns:
        return [name]
    prefix = name.rstrip("0123456789")
    whole = "msg" if prefix == "f" and "f" not in columns else prefix
    return family(columns, name) or ([whole] if prefix != name and whole in columns else [])


def _block(
    table: pa.Table, name: str, source: str, categorical: Collection[str], spread: Callable[[str], Array]
) -> Block:
    held = holders(table.column_names, name)
    if held != [name] and held == family(table.column_names, name) != []:
        scalars = [
            _scalar(Column.of(table, column, source), f"{name}{i}", categorical)
            for i, column in enumerate(held)
        ]
        return tuple(feature for feature, _ in scalars), np.stack([values for _, values in scalars], axis=1)
    if held and held != [name] and _holds_lists(table, held[0]):
        element, values = int(name[len(name.rstrip("0123456789")) :]), spread(held[0])
        if element < values.shape[1]:
            return (FeatureColumn(name),), values[:, element : element + 1]
    column = Column.of(table, name, source)
    if column.is_list:
        values = spread(name)
        return tuple(FeatureColumn(f"{name}{i}") for i in range(values.shape[1])), values
    feature, values = _scalar(column, name, categorical)
    return (feature,), values[:, None]


def _holds_lists(table: pa.Table, name: str) -> bool:
    """By its type alone, since a wide list is not to be read once per element."""
    return is_list(table.schema.field(table.column_names.index(name)).type)


def _scalar(column: Column, name: str, categorical: Collection[str]) -> tuple[FeatureColumn, Array]:
    """One number or code per event."""
    kind = column.values.type
    if pa.types.is_boolean(kind) or name in categorical:
        return _categorical(_words(column), name)
    if column.is_text:
        numbers = floats(column.values, pa.float32()) if column.untyped else None
        if numbers is None:
            _refuse_wrong_numbers(column)
            return _categorical(column.values, name)
        return FeatureColumn(name), _finite(column, column.values, numbers)
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise column.no("a feature is a number, a text or a list of numbers")
    return FeatureColumn(name), _finite(column, column.values, _narrow(column.values))


def _words(column: Column) -> pa.Array:
    """Codes as text; whole floats, which integers become beside missing values, are written as integers."""
    values = column.values
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float32()) if pa.types.is_float16(values.type) else values
        values = pc.if_else(pc.is_nan(values), None, values)
        whole = first(pc.not_equal(values, pc.floor(values))) is None
        largest = pc.max(pc.abs(values)).as_py() or 0
        values = values.cast(pa.int64()) if whole and largest < EXACT else values
    return replace(column, values=values).text("a category is text or a number")


def _narrow(values: pa.Array) -> pa.Array:
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    return values.cast(pa.float32(), safe=False)


def _finite(column: Column, original: pa.Array, numbers: pa.Array, rows: Array | None = None) -> Array:
    """float32 with NaN for missing; what does not fit into a finite float32 is an error. `rows`: where each stands."""
    values: Array = numbers.to_numpy(zero_copy_only=False)
    infinite = np.isinf(values)
    if infinite.any():
        place = int(np.flatnonzero(infinite)[0])
        wrong = np.zeros(len(column.values), bool)
        wrong[np.flatnonzero(infinite) if rows is None else rows[infinite]] = True
        column.refuse(wrong, f"{original[place].as_py()} is infinite or too large for a feature")
    return values


def _refuse_wrong_numbers(column: Column) -> None:
    """Untyped text that is mostly numeric, if only as people write amounts, was meant to be: exceptions are mistakes."""
    if not column.untyped:
        return
    present = pc.invert(is_missing(column.values))
    text = pc.if_else(present, pc.utf8_trim_whitespace(column.values), "0")
    numeric, comma, dressed = (
        pc.match_substring_regex(text, pattern) for pattern in (NUMBER, DECIMAL_COMMA, DRESSED)
    )
    other = pc.invert(pc.or_(pc.or_(numeric, comma), dressed))
    if 2 * int(pc.sum(other).as_py()) > int(pc.sum(present).as_py()):
        return
    for mistaken, advice in (
        (pc.and_not(dressed, pc.or_(numeric, comma)),
         "; write amounts plainly, like 4448.00 (if these are codes, name the column with categories= at fit)"),
        (comma, ", which needs a decimal point, not a comma"),
        (other, ", as most of the column is; leave it empty if it is unknown"),
    ):  # fmt: skip
        row = first(mistaken)
        if row is not None:
            raise column.error(row, f"{column.values[row].as_py()!r} is not a number{advice}")


def _categorical(text: pa.Array, name: str) -> tuple[FeatureColumn, Array]:
    """Codes into the sorted distinct texts; an empty text is a missing value."""
    text = pc.if_else(pc.equal(text, ""), None, text)
    encoded = text.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.full(len(order) + 1, np.nan, np.float32)  # the last one is for missing values, code −1
    rank[order] = np.arange(len(order))
    categories = tuple(encoded.dictionary.take(pa.array(order)).to_pylist())
    return FeatureColumn(name, categories), rank[
        pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    ]


def _spread(column: Column) -> Array:
    """A list column as float32 [E, w]; a missing list is a row of NaN, a shorter or longer one an error."""
    values, count = column.values, len(column.values)
    kind = values.type.value_type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise column.no("a list of features holds numbers")
    lengths = pc.list_value_length(values).drop_null()
    width = lengths[0].as_py() if len(lengths) else 0
    ragged = first(pc.fill_null(pc.not_equal(pc.list_value_length(values), width), False))
    if ragged is not None:
        found = len(values[ragged].as_py())
        raise column.error(ragged, f"{found} values where the rows before have {width}")
    flat = values.drop_null().flatten()
    rows = np.repeat(np.flatnonzero(pc.is_valid(values).to_numpy(zero_copy_only=False)), width)
    numbers = _finite(column, flat, _narrow(flat), rows).reshape(len(lengths), width)
    if len(lengths) == count:
        return numbers
    spread = np.full((count, width), np.nan, np.float32)
    spread[pc.is_valid(values).to_numpy(zero_copy_only=False)] = numbers
    return spread
