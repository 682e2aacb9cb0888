"""Events from lines of JSON that come one by one, each with the meaning that it has in a file of events."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad.errors import InputError
from sdgad.events.arrays import encodes
from sdgad.events.calendar_numbers import look_like_serial_days, written_dates
from sdgad.events.clock import FARTHEST, Clock
from sdgad.events.column import EXACT, UNTYPED, Column
from sdgad.events.messages import holders
from sdgad.events.read import read_events
from sdgad.events.stream import ColumnNames, EventStream
from sdgad.events.table import rows_to_table
from sdgad.events.times import read_times

Row = dict[str, Any]  # a value, or None where there is none, for every column that the model reads

LONGEST_ID = 4096  # bytes of UTF-8, as long as a path may be: a bound on parties is one on memory, too
_SOURCE = "The line"
_PLACE = re.compile(rf"^{_SOURCE}, c(olumn .+?), row 1: ", re.DOTALL)


def parse_line(line: bytes) -> dict[str, Any]:
    """The JSON object in a line. As in a file, NaN is a missing value, and of a key that comes twice the last counts."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("The line is not UTF-8 text.") from None
    if not text.strip():
        raise InputError("The line is empty.")
    try:
        fields = json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError(f"The line is not JSON: {problem.msg} at character {problem.pos + 1}.") from None
    except ValueError:
        raise InputError("The line has a number of too many digits.") from None
    except RecursionError:
        raise InputError("The line is nested too deeply.") from None
    if not isinstance(fields, dict):
        raise InputError("The line is not a JSON object.")
    return fields


@dataclass(frozen=True)
class LineReader:
    """What a model reads in a line: its columns, under its clock.

    `features` are the model's feature columns, in which a list `msg` is spread over msg0, msg1, …; so a list that a
    line lacks is as many missing values. Labels and all other keys are not looked at.
    """

    columns: ColumnNames
    features: Sequence[str]
    clock: Clock
    bipartite: bool

    def row(self, fields: Mapping[str, Any]) -> Row:
        """The values that the model needs; a feature that is not there is a missing value."""
        row = {}
        for name in (self.columns.src, self.columns.dst, self.columns.time):
            if name not in fields:
                raise InputError(f"The line has no key {name!r}.")
            row[name] = _one_value(name, fields[name])
        for name in (self.columns.src, self.columns.dst):
            _need_id(name, row[name])
        for name in self.columns.features:
            row |= self._feature(name, fields) if name in self.features else self._spread(name, fields)
        return row

    def _feature(self, name: str, fields: Mapping[str, Any]) -> Row:
        """One value; `msg2` may also be an element of a list `msg`."""
        if name in fields:
            return {name: _one_value(name, fields[name])}
        held = holders(list(fields), name)
        values = fields[held[0]] if len(held) == 1 else None
        element = int(name[len(name.rstrip("0123456789")) :] or -1)
        if isinstance(values, list) and 0 <= element < len(values):
            return {name: _one_value(name, values[element])}
        return {name: None}

    def _spread(self, name: str, fields: Mapping[str, Any]) -> Row:
        """A list of numbers, or its elements under numbered keys."""
        members = self._members(name)
        if name in fields:
            values = [None] * len(members) if fields[name] is None else fields[name]
            if not isinstance(values, list) or not all(map(_is_number_or_none, values)):
                raise InputError(f"Column {name!r}: this is not a list of numbers.")
            if len(values) != len(members):
                raise InputError(
                    f"Column {name!r}: {len(values)} values where the model knows {len(members)}."
                )
            return {name: values}
        prefixes = (name, "f") if name == "msg" else (name,)
        keys = [[f"{prefix}{i}" for i in range(len(members))] for prefix in prefixes]
        present = next((family for family in keys if any(key in fields for key in family)), keys[0])
        return {
            member: _one_value(key, fields.get(key)) for member, key in zip(members, present, strict=True)
        }

    def _members(self, name: str) -> list[str]:
        """What the elements of a list are called in the model."""
        members: list[str] = []
        while f"{name}{len(members)}" in self.features:
            members.append(f"{name}{len(members)}")
        return members

    def when(self, rows: Sequence[Row]) -> list[float | None]:
        """The time of each row of the usual kind, NaN if it cannot be read; None for the others.

        Usual rows whose times do not go back mean together what each of them means alone: they have the keys that most
        rows have, and in no column another kind of value than most.
        """
        usual = self._usual(rows)
        times = iter(self._times([row for row, plain in zip(rows, usual, strict=True) if plain]))
        return [next(times) if plain else None for plain in usual]

    def _usual(self, rows: Sequence[Row]) -> list[bool]:
        """Which rows are like most."""
        kinds = [
            {name: self._kind(name, value) for name, value in row.items() if value is not None}
            for row in rows
        ]
        keys = Counter(tuple(row) for row in rows).most_common(1)[0][0]
        common = {
            name: Counter(found[name] for found in kinds if name in found).most_common(1) for name in keys
        }
        return [
            row.keys() == set(keys) and all(kind == common[name][0][0] for name, kind in found.items())
            for row, found in zip(rows, kinds, strict=True)
        ]

    def _times(self, rows: Sequence[Row]) -> list[float]:
        """Each as it is, since nanoseconds are no floats; NaN where there is none that can be read."""
        name = self.columns.time
        values = [None if row[name] is None else str(row[name]) for row in rows]
        column = Column(_SOURCE, name, pa.array(values, pa.large_string()), untyped=True)
        try:
            found: list[float] = read_times(
                column, timezone=self.clock.timezone, clock=self.clock, keep=True
            )[0].tolist()
            return found
        except InputError:
            half = len(rows) // 2
            return self._times(rows[:half]) + self._times(rows[half:]) if half else [math.nan]

    def _kind(self, name: str, value: Any) -> Any:
        if name == self.columns.time:
            try:
                number = np.array([float(value)])
                return Clock.guess(number), written_dates(number) is None, look_like_serial_days(number)
            except (ValueError, TypeError, OverflowError):
                return str
        exact = (self.columns.src, self.columns.dst, *self.columns.categorical)
        return float if type(value) is int and name not in exact else type(value)

    def events(self, rows: Sequence[Row]) -> EventStream:
        """A stream of rows that are alike; an error speaks of the only row there is."""
        table = rows_to_table(rows)
        fields = [  # text may stand for numbers, as it does where a file has both
            field.with_metadata(UNTYPED) if pa.types.is_string(field.type) else field
            for field in table.schema
        ]
        try:
            events = read_events(
                pa.Table.from_arrays(table.columns, schema=pa.schema(fields)),
                columns=replace(self.columns, label=None),
                clock=self.clock,
                bipartite=self.bipartite,
                bad_rows="keep",  # a line means what it means, whatever comes beside it
                name=_SOURCE,
            )
        except InputError as problem:
            raise InputError(_PLACE.sub(r"C\1: ", str(problem))) from None
        far = np.abs(events.t.astype(np.float64)) * events.clock.seconds > FARTHEST
        if far.any():
            raise InputError(
                f"Column {self.columns.time!r}: {events.t[far][0]} is too far away to be a time."
            )
        return events


def _is_number_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _need_id(name: str, value: Any) -> None:
    """No id that takes a megabyte to remember, and none that may stand for two."""
    if isinstance(value, float) and abs(value) >= EXACT:
        raise InputError(f"Column {name!r}: {value} is not an id; ids are text or integers.")
    if isinstance(value, str) and 4 * len(value) > LONGEST_ID and len(value.encode()) > LONGEST_ID:
        raise InputError(
            f"Column {name!r}: an id of {len(value.encode()):,} bytes, more than the {LONGEST_ID:,} that are allowed."
        )


def _one_value(name: str, value: Any) -> Any:
    """A text, number, truth value or None, which is all that a column may hold."""
    if isinstance(value, dict | list):
        what = "an object" if isinstance(value, dict) else "a list"
        raise InputError(f"Column {name!r}: {what} where there should be one value.")
    if isinstance(value, str) and not encodes(value):
        raise InputError(f"Column {name!r}: half of a surrogate pair is not text.")
    return value
