"""A column of labels: 0 and 1, also as true and false or as text, and what is missing."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import Column, is_missing
from sdgad.events.label_like import LABELS

logger = logging.getLogger("sdgad.events")

Array = np.ndarray[Any, Any]


def read_labels(column: Column, *, needed: bool = True, rows: Array | None = None) -> Array:
    """float32 labels: 0 and 1, also as true and false or as text; missing ones are NaN.

    Any other is an error; or, where no label is `needed`, missing too, and it is said. `rows`: where each stands in the file.
    """
    kind = column.values.type
    if column.is_text:
        labels, wrong = _from_text(column.values)
    elif (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_null(kind)
    ):
        labels, wrong = _from_numbers(column.values)
    elif needed:
        raise column.no("labels are 0, 1 or empty")
    else:
        wrong = pc.is_valid(column.values).to_numpy(zero_copy_only=False)
        labels = np.full(len(wrong), np.nan, np.float32)
    unusable = np.flatnonzero(wrong)
    if not len(unusable):
        return labels
    row = int(unusable[0])
    if needed:
        raise column.error(row, f"label {column.value(row)} is not 0, 1 or empty")
    logger.warning(
        "%s: %s of %s labels are not 0, 1 or empty and are taken as unknown, the first of them %s in row %d.",
        column.place, f"{len(unusable):,}", f"{len(labels):,}",
        column.value(row), (row if rows is None else int(rows[row])) + 1,
    )  # fmt: skip
    return labels


def _from_text(values: pa.Array) -> tuple[Array, Array]:
    """Labels, NaN for those that are none, and which of these are not missing either."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    index = pc.index_in(plain, value_set=pa.array(list(LABELS), pa.large_string()))
    wrong = pc.and_(pc.is_null(index), pc.invert(is_missing(values)))
    meaning = np.array([*LABELS.values(), np.nan], np.float32)  # the last one is for code −1
    labels: Array = meaning[pc.fill_null(index, -1).to_numpy(zero_copy_only=False)]
    return labels, wrong.to_numpy(zero_copy_only=False)


def _from_numbers(values: pa.Array) -> tuple[Array, Array]:
    """The same."""
    exact = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    label = (exact == 0) | (exact == 1)
    return np.where(label, exact, np.nan).astype(np.float32), ~(label | np.isnan(exact))
