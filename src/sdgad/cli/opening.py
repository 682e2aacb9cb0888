"""A model from its folder, and events under the column names and the clock that it was fitted with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sdgad.cli.naming import naming

if TYPE_CHECKING:
    import pyarrow as pa

    from sdgad.cli.options import BadRows
    from sdgad.detectors.base import Detector
    from sdgad.events.stream import EventStream


def open_model(folder: Path) -> Detector:
    """The detector in a folder."""
    from sdgad.detectors.registry import load

    with naming(folder):
        return load(folder)


def open_events(path: Path, model: Detector, bad_rows: BadRows | None = None) -> tuple[pa.Table, EventStream]:
    """The raw rows of a file, and the stream that the model makes of those that it can use.

    A model that was fitted without a label column takes one under a common name, which `evaluate` needs.
    """
    from sdgad.events.layouts import by_alias
    from sdgad.events.read import read_events
    from sdgad.events.table import open_table

    with naming(path):
        name, table = open_table(path)
        columns = model.columns
        if columns.label is None:
            columns = replace(columns, label=by_alias("label", table.column_names))
        events = read_events(
            table,
            columns=columns,
            bipartite=model.bipartite,
            clock=model.clock,
            history=model.history_span,
            bad_rows=model.config.bad_rows if bad_rows is None else bad_rows.value,
            name=name,
        )
    return table, events
