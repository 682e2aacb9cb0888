"""Columns of 0, 1 and nothing: a label that somebody forgot to name?"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import Column, is_missing

LABELS = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "0.0": 0.0, "1.0": 1.0}
_FIRST = 1000  # rows that rule out most columns
_TOLD = re.compile(
    r"label|fraud|anomal|outlier|attack|malicious|suspicious|chargeback|abuse|scam|intrusion|target|truth",
    re.IGNORECASE,
)


def named_as_label(name: str) -> bool:
    """Whether a column is called like something that is known only afterwards."""
    return bool(_TOLD.search(name))


def is_label_like(column: Column) -> bool:
    """Nothing but 0, 1 (also as true and false) and empty, with a 1 somewhere and not everywhere."""
    if _ones(column.values[:_FIRST]) is None:
        return False
    ones = _ones(column.values)
    return ones is not None and 0 < ones < len(column.values)


def _ones(values: pa.Array) -> int | None:
    """How many there are; None where anything else is there."""
    kind = values.type
    if pa.types.is_large_string(kind):
        plain = pc.utf8_lower(pc.utf8_trim_whitespace(values))
        one, zero = (
            pc.is_in(plain, pa.array([text for text, label in LABELS.items() if label == which], kind))
            for which in (1.0, 0.0)
        )
        known = pc.or_(pc.or_(one, zero), is_missing(values))
    elif pa.types.is_boolean(kind):
        return int(pc.sum(values).as_py() or 0)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        if pa.types.is_float16(kind):  # which arrow cannot compare
            return _ones(values.cast(pa.float32()))
        one = pc.fill_null(pc.equal(values, pa.scalar(1, kind)), False)
        zero = pc.fill_null(pc.equal(values, pa.scalar(0, kind)), False)
        known = pc.or_(pc.or_(one, zero), pc.is_null(values, nan_is_null=True))
    else:
        return None
    return int(pc.sum(one).as_py() or 0) if pc.all(known).as_py() in (True, None) else None
