"""Events from a file or a table."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.errors import InputError, NoEventsError
from sdgad.events.clock import Clock
from sdgad.events.column import Column, integers, listed, shown
from sdgad.events.labels import read_labels
from sdgad.events.layouts import (
    ALIASES,
    ANOMALY_TYPE,
    VAGUE_LABELS,
    Layout,
    by_alias,
    from_metadata,
    recognise,
)
from sdgad.events.messages import holders, read_messages
from sdgad.events.set_aside import Aside, Policy
from sdgad.events.stream import ColumnNames, EventStream, FeatureColumn
from sdgad.events.table import open_table
from sdgad.events.times import read_times
from sdgad.events.unused import asks_for_all, every_feature, tell_unused
from sdgad.events.vocabulary import whole_numbers

logger = logging.getLogger("sdgad.events")

_ROLES = {"src": "source", "dst": "destination", "time": "time"}
_MANY = 100  # events that show whether a category comes back


def read_events(
    source: Any,
    *,
    src: str | None = None,
    dst: str | None = None,
    time: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    categories: Sequence[str] = (),
    bipartite: bool | None = None,
    time_unit: str | None = None,
    timezone: str | None = None,
    columns: ColumnNames | None = None,
    clock: Clock | None = None,
    history: tuple[float, float] | None = None,
    bad_rows: Policy = "error",
    labels_needed: bool = True,
    name: str | None = None,
) -> EventStream:
    """Events from a file, a table, a PyG `TemporalData` or a dictionary of columns.

    Files are Parquet, CSV, TSV or JSON lines; tables are those of pyarrow, pandas and polars (also lazy) and what else
    speaks the arrow C interface; of a `TemporalData` the attributes with one row per event are columns; a
    dictionary has one list, array or tensor per column, as TGB's `dataset.full_data` does.

    Columns that are not named are found by convention (`src, dst, t, label, msg`; JODIE, DyGLib, TGB; common
    names). Features are numbers (missing: NaN), text (codes into its sorted distinct values) or lists of
    numbers; beyond the conventional ones only those that are named are taken, or with "all" every column that has no other role,
    names no row and does not look like a label. Labels are 0, 1, true, false or empty; any other is an error or, if none
    is needed (`labels_needed=False`), unknown, and it is said. `categories` are features too, and are no numbers whatever
    they look like (a port, a merchant code). A column that is merely called `y` or `edge_label` is the label, unless named,
    only where it holds labels and not 1 for every event: with that TGB says that a link exists, not that it is anomalous.

    For times see `read_times`. `columns` are the names of an earlier stream: all its features must be there, its
    label may be missing. `clock` is the clock of an earlier stream: its zone and, unless the numbers clearly look
    like a wall clock in another one, its unit are meant here too.
    `history` is the first and last time that a model has seen, in units of that clock (`detector.history_span`).
    `name` is what messages call a table.

    A row is bad if it has no id or no time, a time that no clock holds, an infinite feature, or a time that is absurd
    beside those of the other rows and the `history` (1970 among rows of 2026: `events.suspicious.bulk` has the rule).
    `bad_rows="error"` refuses the file; `"skip"` reads the others as if bad rows were not there, and says which are
    set aside (`row` tells where the others stood); `"keep"` takes absurd times as they are, and refuses the rest.
    """
    where, table = open_table(source, name)
    if table.num_rows == 0:
        raise NoEventsError(f"{where} holds no events.")
    layout = recognise(table.column_names, from_metadata(table.schema))
    for given in (src, dst, time, label):
        if given is not None:
            Column.of(table, given, where)  # who names a column wants to hear of that one first
    features = [features] if isinstance(features, str) else features
    categories = [categories] if isinstance(categories, str) else categories
    if features is None and columns is not None:
        features = columns.features
    if categories:
        found = _feature_names(table, layout) if features is None else features
        features = [*found, *(category for category in categories if category not in found)]
    names = ColumnNames(
        src=_required(table, "src", src or (columns.src if columns else None), layout, where),
        dst=_required(table, "dst", dst or (columns.dst if columns else None), layout, where),
        time=_required(table, "time", time or (columns.time if columns else None), layout, where),
        label=_label_name(table, label, columns, layout, where),
        features=_feature_names(table, layout) if features is None else tuple(features),
    )
    if columns is None and asks_for_all(names.features, table.column_names):
        known = _feature_names(table, layout)
        names = replace(names, features=every_feature(table, known, names, layout, where))
    _need_one_role_each(names, where)
    if columns is None:
        tell_unused(table, names, layout, where, features_named=features is not None)
    for feature in names.features:
        if not holders(table.column_names, feature):
            Column.of(table, feature, where)  # which columns there are comes before what they hold
    aside = Aside(where, bad_rows, table.num_rows)
    categorical = {*categories, *(columns.categorical if columns else ())}

    def times(rows: pa.Table) -> tuple[np.ndarray[Any, Any], Clock]:
        return read_times(
            Column.of(rows, names.time, where),
            time_unit=time_unit,
            timezone=timezone or (clock.timezone if clock else None),
            clock=clock or (layout.clock if layout and layout.time == names.time else None),
            history=history,
            keep=bad_rows == "keep",
        )

    if bad_rows == "skip":  # first what does not depend on other rows
        table, _ = aside.read(table, lambda rows: _ids(Column.of(rows, names.src, where)))
        table, _ = aside.read(table, lambda rows: _ids(Column.of(rows, names.dst, where)))
        table, _ = aside.read(table, lambda rows: read_messages(rows, names.features, where, categorical))
    table, (t, read_clock) = aside.read(table, times)
    aside.tell()
    conventional = layout if layout and (layout.src, layout.dst) == (names.src, names.dst) else None
    with aside.numbering():
        described, msg = read_messages(table, names.features, where, categorical)
        named = replace(
            names, categorical=tuple(feature.name for feature in described if feature.categorical)
        )
        if columns is None:
            _tell_unique(described, table.num_rows, where)
        events = EventStream(
            _ids(Column.of(table, names.src, where)),
            _ids(Column.of(table, names.dst, where)),
            t,
            msg,
            None
            if names.label is None
            else read_labels(Column.of(table, names.label, where), needed=labels_needed, rows=aside.kept),
            bipartite=bool(conventional and conventional.bipartite) if bipartite is None else bipartite,
            features=described,
            anomaly_type=_anomaly_types(table, where),
            clock=read_clock,
            names=named,
            row=aside.kept,
        )
    if not events.was_sorted:
        late = int(np.sum(t < np.maximum.accumulate(t)))
        logger.warning("%s: %d of %d rows were not in time order and were sorted.", where, late, len(t))
    return events


# ---------------------------------------------------------------------- which column is what
def _required(table: pa.Table, role: str, given: str | None, layout: Layout | None, where: str) -> str:
    if given is not None:
        return given
    found = getattr(layout, role) if layout else by_alias(role, table.column_names)
    if found is None:
        tried = ", ".join(ALIASES[role][:4])
        raise InputError(
            f"{where} has no column for the {_ROLES[role]} of an event ({tried}, …); "
            f"name it with {role}=; its columns are {listed(table.column_names)}."
        )
    return str(found)


def _label_name(
    table: pa.Table, given: str | None, columns: ColumnNames | None, layout: Layout | None, where: str
) -> str | None:
    """A label column that was named must be there; one that is only expected may be missing."""
    if given is not None:
        return given
    expected = columns.label if columns else layout.label if layout else None
    if expected in table.column_names:
        return expected
    if columns:
        return None
    return find_label(table, where)


def find_label(table: pa.Table, where: str, *, needed: bool = True) -> str | None:
    """The column that is called like a label. Where none is `needed`, one that holds other things is left out, not refused."""
    names = list(table.column_names)
    while (found := by_alias("label", names)) is not None and not _may_be_label(table, found, where, needed):
        names.remove(found)
    return found


def _may_be_label(table: pa.Table, name: str, where: str, needed: bool) -> bool:
    """A column with a vague name must look like labels, and not call every event anomalous."""
    vague = name.strip().lower() in VAGUE_LABELS
    if needed and not vague:
        return True
    try:
        labels = read_labels(Column.of(table, name, where))
        problem = "is 1 for every event" if np.all(labels == 1) and vague else None
    except InputError:
        problem = "holds other values than 0, 1 and empty"
    if problem:
        logger.warning(
            "%s: column %r %s and is not taken for the label; name it as the label if it is.",
            where, name, problem,
        )  # fmt: skip
    return problem is None


def _feature_names(table: pa.Table, layout: Layout | None) -> tuple[str, ...]:
    return tuple(
        feature
        for feature in (layout.features if layout else ("msg",))
        if holders(table.column_names, feature)
    )


def _need_one_role_each(names: ColumnNames, where: str) -> None:
    roles = [
        ("the source", names.src),
        ("the destination", names.dst),
        ("the time", names.time),
        *([] if names.label is None else [("the label", names.label)]),
        *(("a feature", feature) for feature in names.features),
    ]
    taken: dict[str, str] = {}
    for role, column in roles:
        other = taken.setdefault(column, role)
        if other != role:
            raise InputError(f"{where}: column {column!r} cannot be both {other} and {role}.")
    if len(taken) < len(roles):
        twice = next(feature for feature in names.features if names.features.count(feature) > 1)
        raise InputError(f"{where}: feature {twice!r} is named twice.")


def _tell_unique(features: Sequence[FeatureColumn], rows: int, where: str) -> None:
    """A category that hardly ever comes back, such as a transaction number, is no feature."""
    for feature in features:
        if rows >= _MANY and feature.categories is not None and 2 * len(feature.categories) > rows:
            logger.warning(
                "%s: %r has %s different values in %s events, which say nothing about new ones.",
                where, feature.name, f"{len(feature.categories):,}", f"{rows:,}",
            )  # fmt: skip


# ---------------------------------------------------------------------- what a column says
def _ids(column: Column) -> pa.Array:
    """Ids as int64 or text. Text without types becomes int64 only if it is canonical: "007" is not 7."""
    values = column.values
    column.refuse(pc.is_null(values, nan_is_null=True), "there is no id")
    if column.is_text:
        column.refuse(pc.equal(values, ""), "there is no id")
        if column.no_id is not None:
            value = shown(values[column.no_id].as_py())
            raise column.error(column.no_id, f"{value} is not an id; ids are text or integers")
        numbers = integers(values) if column.untyped else None
        return values if numbers is None else numbers
    numbers = whole_numbers(values)
    if numbers is None:
        raise column.no("ids are text or integers")
    if isinstance(numbers, int):
        value = values[numbers].as_py()
        lost = ", and so large a float has lost digits" if value == np.floor(value) else ""
        raise column.error(numbers, f"{value} is not an id; ids are text or integers{lost}")
    return numbers


def _anomaly_types(table: pa.Table, where: str) -> np.ndarray[Any, Any] | None:
    """The kind of each anomaly, `""` for ordinary events, where the table says so."""
    if ANOMALY_TYPE not in table.column_names:
        return None
    values = Column.of(table, ANOMALY_TYPE, where).text("the type of an anomaly is text")
    return np.asarray(pc.fill_null(values, "").to_numpy(zero_copy_only=False), str)
