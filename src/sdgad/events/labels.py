"""A column of labels: 0 and 1, also as true and false or as text, and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import Column, first, is_missing, shown
from sdgad.events.label_like import LABELS

Array = np.ndarray[Any, Any]


def read_labels(column: Column) -> Array:
    """float32 labels: 0 and 1, also as true and false or as text; missing ones are NaN."""
    values, kind = column.values, column.values.type
    if column.is_text:
        plain = pc.utf8_lower(pc.utf8_trim_whitespace(values))
        index = pc.index_in(plain, value_set=pa.array(list(LABELS), pa.large_string()))
        wrong = first(pc.and_(pc.is_null(index), pc.invert(is_missing(values))))
        meaning = np.array(
            [*LABELS.values(), np.nan], np.float32
        )  # the last one is for missing labels, code −1
        labels: Array = meaning[pc.fill_null(index, -1).to_numpy(zero_copy_only=False)]
    elif (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_null(kind)
    ):
        exact = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        wrong = first(pa.array(~(np.isnan(exact) | (exact == 0) | (exact == 1))))
        labels = exact.astype(np.float32)
    else:
        raise column.no("labels are 0, 1 or empty")
    if wrong is not None:
        raise column.error(wrong, f"label {shown(values[wrong].as_py())} is not 0, 1 or empty")
    return labels
