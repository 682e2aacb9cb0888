"""Rows with their scores: the table that `sdgad score` writes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad.detectors.base import Detector
from sdgad.errors import InputError
from sdgad.events.stream import ColumnNames
from sdgad.events.unused import OUTPUTS

logger = logging.getLogger("sdgad.experiments")

*ADDED, WHY = OUTPUTS  # the last one with explanations


def need_names_for_scores(columns: ColumnNames, source: str, *, explained: bool = False) -> None:
    """Columns that the model reads are not to be replaced by scores: asked before a fit, and again of models of other makers."""
    read = {columns.src, columns.dst, columns.time, columns.label, *columns.features}
    taken = next((name for name in _added(explained) if name in read), None)
    if taken is not None:
        raise InputError(
            f"{source}: the model reads column {taken!r}, a name that `sdgad score` needs for its own; "
            "rename the column before you fit."
        )


def names_with_scores(table: pa.Table, *, explained: bool = False) -> list[str]:
    """What the columns of `with_scores` are called."""
    added = _added(explained)
    return [*(name for name in table.column_names if name not in added), *added]


def with_scores(
    table: pa.Table,
    detector: Detector,
    scores: np.ndarray[Any, Any],
    source: str,
    why: Sequence[str | None] | None = None,
) -> pa.Table:
    """The rows with `score`, `anomaly` (1 where the score reaches the threshold) and `p_value`.

    With `why`, a sentence per row or None, there is a column of that name as well. A row without a score (NaN: it
    came too late for the detector) has none of them. Columns of these names that are already there are replaced, and
    it is said of `source`.
    """
    unscored = np.isnan(scores)
    p_value = np.full(len(scores), np.nan)
    p_value[~unscored] = detector.p_value(scores[~unscored])
    values = (scores, (scores >= detector.threshold_).astype(np.int8), p_value)
    added = _added(why is not None)
    replaced = [name for name in added if name in table.column_names]
    if replaced:
        logger.warning(
            "%s: replaced in the output: %s.", source, ", ".join(f"column {n!r}" for n in replaced)
        )
        table = table.select([i for i, name in enumerate(table.column_names) if name not in added])
    for name, column in zip(ADDED, values, strict=True):
        table = table.append_column(name, pa.array(column, mask=unscored))
    return table if why is None else table.append_column(WHY, pa.array(why, pa.string()))


def listed_rows(
    scores: np.ndarray[Any, Any], threshold: float, *, top: int | None = None, alerts_only: bool = False
) -> np.ndarray[Any, Any]:
    """Which rows to write: all in their order; those that reach the threshold; the `top` highest scores, highest first and
    equals in their order, of either. What has no score is in no selection."""
    rows: np.ndarray[Any, Any] = np.arange(len(scores))
    if alerts_only:
        rows = rows[scores >= threshold]
    if top is None:
        return rows
    rows = rows[~np.isnan(scores[rows])]
    highest: np.ndarray[Any, Any] = rows[np.argsort(-scores[rows], kind="stable")][:top]
    return highest


def _added(explained: bool) -> tuple[str, ...]:
    return OUTPUTS if explained else tuple(ADDED)
