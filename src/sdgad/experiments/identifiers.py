"""Columns that name the rows of a file, so that a person finds an alert again where it came from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sdgad.events.column import Column
from sdgad.events.identifiers import is_identifier, named_as_identifier
from sdgad.events.layouts import ANOMALY_TYPE
from sdgad.events.messages import holders
from sdgad.events.stream import EventStream
from sdgad.events.unused import earlier_outputs
from sdgad.experiments.scored_events import TextColumn

MOST = 3  # that fit beside an alert


def identifiers(table: pa.Table, events: EventStream) -> dict[str, TextColumn]:
    """Columns of a file that no model reads and that name a row, or are called so: their text, in the order of the stream."""
    names = events.names
    used = {names.src, names.dst, names.time, names.label, ANOMALY_TYPE, *names.features}
    used.update(earlier_outputs(table.column_names))
    used.update(column for feature in names.features for column in holders(table.column_names, feature))
    found: list[tuple[bool, Column]] = []
    for name in table.column_names:
        if name in used or table.column_names.count(name) > 1:
            continue
        column = Column.if_usable(table, name, "The table")
        if column is None or not (column.is_text or pa.types.is_integer(column.values.type)):
            continue
        unique = is_identifier(column)
        if unique or named_as_identifier(name):
            found.append((unique, column))
    found.sort(key=lambda one: not one[0])  # those that name one row first
    rank = np.argsort(np.argsort(events.row, kind="stable"), kind="stable")
    place = pa.array(rank if table.num_rows == len(events) else events.row)
    return {column.name: TextColumn(column.values.take(place), _text) for _, column in found[:MOST]}


def _text(value: pa.Scalar) -> str:
    plain = value.as_py()
    return "" if plain is None else str(plain)
