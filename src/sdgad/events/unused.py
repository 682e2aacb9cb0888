"""Columns that nobody named: told of, asked about where they look like labels, taken by `features="all"`."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import Column, is_list, is_missing, listed
from sdgad.events.identifiers import is_identifier
from sdgad.events.label_like import is_label_like, named_as_label
from sdgad.events.layouts import ANOMALY_TYPE, NAMELESS, VAGUE_LABELS, Layout
from sdgad.events.messages import holders
from sdgad.events.stream import ColumnNames

logger = logging.getLogger("sdgad.events")

ALL = "all"  # in place of the names of features
OUTPUTS = ("score", "anomaly", "p_value", "why")  # of a model; the last one with explanations


def earlier_outputs(columns: Collection[str]) -> tuple[str, ...]:
    """Those of them that an earlier score left: it writes three at once, and any of these alone is what the user calls so."""
    return OUTPUTS if set(OUTPUTS[:3]) <= set(columns) else ()


def asks_for_all(features: Sequence[str] | None, columns: Sequence[str]) -> bool:
    """Whether every column shall be a feature; one that is really called so is meant itself."""
    return features is not None and ALL in features and ALL not in columns


def every_feature(
    table: pa.Table,
    conventional: Sequence[str],
    names: ColumnNames,
    layout: Layout | None,
    where: str,
) -> tuple[str, ...]:
    """All columns that may describe an event: conventional ones, those that are named beside "all", and what else has no other
    role and neither names a row, nor looks like a label, nor holds dates or what else is no feature; it is said which."""
    found = [name for name in dict.fromkeys([*conventional, *names.features]) if name != ALL]
    held = {column for name in found for column in holders(table.column_names, name)}
    left: list[str] = []
    for name in _unclaimed(table, names, layout, held):
        reason = _no_feature(table, name, names.label, where)
        if reason is None:
            found.append(name)
        else:
            left.append(f"{name!r} ({reason})")
    aside = f"; left out: {', '.join(left)}" if left else ""
    logger.warning("%s: the features are %s%s.", where, listed(found) if found else "none", aside)
    return tuple(found)


def _no_feature(table: pa.Table, name: str, label: str | None, where: str) -> str | None:
    """Why a column is no feature; None for one that is."""
    if table.column_names.count(name) > 1:
        return "a name of two columns"
    if name in earlier_outputs(table.column_names):
        return "from an earlier score"
    kind = table.schema.field(name).type
    if not (is_list(kind) or _scalar(kind)):
        return f"of type {kind}"
    if is_list(kind):
        return None
    column = Column.if_usable(table, name, where)
    if column is None:
        return "more than one value in a row"
    if column.values.null_count == len(column.values) or (
        column.is_text and pc.all(is_missing(column.values)).as_py()
    ):
        return "empty"
    if _may_be_label(column, label):
        return "looks like a label"
    return "names a row" if is_identifier(column) else None


def _scalar(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return not (pa.types.is_nested(kind) or pa.types.is_temporal(kind) or pa.types.is_binary(kind))


def _may_be_label(column: Column, label: str | None) -> bool:
    """Beside a known label only what is called like one: flags that describe an event hold 0 and 1 as well."""
    return (label is None or named_as_label(column.name)) and is_label_like(column)


def tell_unused(
    table: pa.Table, names: ColumnNames, layout: Layout | None, where: str, *, features_named: bool
) -> None:
    """Say which columns are left out. One that looks like a label is asked about, and no feature is made of it."""
    held = {column for feature in names.features for column in holders(table.column_names, feature)}
    outputs = earlier_outputs(table.column_names)
    unused = [name for name in _unclaimed(table, names, layout, held) if name not in outputs]
    alike = [name for name in unused if _looks_like_label(table, name, names.label, where)]
    if alike and names.label is None:
        sentence = (
            "%s: columns %s look like labels (0, 1 or empty) and are not used; if one says which events are anomalous, "
            "name it with label=."
            if len(alike) > 1
            else "%s: column %s looks like a label (0, 1 or empty) and is not used; if it says which events are anomalous, "
            "name it with label=."
        )
        logger.warning(sentence, where, listed(alike))
    others = [name for name in unused if name not in alike]
    if others and not features_named:
        logger.warning(
            "%s: not used: %s; name those that describe an event as features.", where, listed(others)
        )


def _looks_like_label(table: pa.Table, name: str, label: str | None, where: str) -> bool:
    kind = table.schema.field(table.column_names.index(name)).type
    if table.column_names.count(name) > 1 or not _scalar(kind):
        return False
    column = Column.if_usable(table, name, where)
    return column is not None and _may_be_label(column, label)


def _unclaimed(
    table: pa.Table, names: ColumnNames, layout: Layout | None, held: Collection[str]
) -> list[str]:
    """Columns without a role."""
    used = {
        names.src,
        names.dst,
        names.time,
        names.label,
        ANOMALY_TYPE,
        *names.features,
        *held,
        *(VAGUE_LABELS if names.label is None else ()),  # already told why not
        *(layout.ignored if layout else NAMELESS),
    }
    return [column for column in table.column_names if column not in used]
