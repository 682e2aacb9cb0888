"""Columns that name a row, such as a payment number: worth carrying along, of no use to a model."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import Column, floats, integers

MANY = 100  # rows that show whether a value comes back
_NAMED = re.compile(r"(?:^|[_\-. ])(?:id|uuid|guid|key|ref|reference|number|nr|no)$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z](?:Id|ID)$")


def named_as_identifier(name: str) -> bool:
    """Whether a column is called like one: `payment_id`, `paymentId`, `reference`."""
    plain = name.strip()
    return bool(_NAMED.search(plain) or _CAMEL.search(plain))


def is_identifier(column: Column) -> bool:
    """Text of which most values, or whole numbers of which all, are different; under the name of an id, most will do."""
    values, count = column.values, len(column.values)
    whole = pa.types.is_integer(values.type)
    if column.is_text and column.untyped:
        whole = integers(values) is not None
        if not whole and floats(values, pa.float64()) is not None:
            return False
    if not (whole or column.is_text):
        return False
    named = named_as_identifier(column.name)
    if count < MANY and not named:
        return False
    distinct = int(pc.count_distinct(values).as_py())
    return distinct == count if whole and not named else 2 * distinct > count
