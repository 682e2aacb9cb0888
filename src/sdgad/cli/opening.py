"""A model from its folder, and events under the column names and the clock that it was fitted with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sdgad.cli.naming import naming
from sdgad.errors import ModelFolderError, NoEventsError

if TYPE_CHECKING:
    import pyarrow as pa

    from sdgad.cli.options import BadRows
    from sdgad.detectors.base import Detector
    from sdgad.events.stream import EventStream


def open_model(folder: Path) -> Detector:
    """The detector in a folder."""
    from sdgad.detectors.registry import load

    need_no_events(folder)
    with naming(folder):
        return load(folder)


def need_no_events(folder: Path) -> None:
    """A file of events in the place of the model: the two are easily swapped."""
    from sdgad.events.table import READERS

    name = folder.name.lower().removesuffix(".gz")
    if folder.is_file() and any(name.endswith(f".{suffix}") for suffix in READERS):
        raise ModelFolderError(
            f"The model folder {folder} is a file of events by its name; the model comes first, then the events."
        )


@contextmanager
def open_to_change(folder: Path, wait: float | None) -> Iterator[Detector]:
    """The same, and nobody else writes the folder until this one was saved."""
    from sdgad.detectors.model_lock import WAIT, model_lock
    from sdgad.detectors.opened_folder import need_folder

    need_no_events(folder)
    need_folder(folder)
    with model_lock(folder, WAIT if wait is None else wait):
        yield open_model(folder)


def open_events(
    path: Path, model: Detector, bad_rows: BadRows | None = None, *, labels_needed: bool = False
) -> tuple[pa.Table, EventStream]:
    """The raw rows of a file, and the stream that the model makes of those that it can use.

    A model that was fitted without a label column takes one under a common name. `evaluate` needs labels; for other commands
    neither a column that is merely called like a label nor a label that is none is a reason to refuse a file.
    """
    from sdgad.events.read import find_label, read_events
    from sdgad.events.strangers import tell_new_categories, tell_strangers
    from sdgad.events.table import open_table

    with naming(path):
        name, table = open_table(path)
        columns = model.columns
        if columns.label is None and table.num_rows:
            columns = replace(columns, label=find_label(table, name, needed=labels_needed))
        events = read_events(
            table,
            columns=columns,
            bipartite=model.bipartite,
            clock=model.clock,
            history=model.history_span,
            bad_rows=model.config.bad_rows if bad_rows is None else bad_rows.value,
            labels_needed=labels_needed,
            name=name,
        )
    if model.known_ids:
        tell_strangers(events, model.known_ids, name)
    tell_new_categories(events, model.border.known_categories, name)
    return table, events


def no_rows(path: Path, model: Detector) -> pa.Table:
    """The header of a file without events; that of the model's own columns, where there is not even one."""
    import pyarrow as pa

    from sdgad.events.table import open_table

    try:
        return open_table(path)[1].slice(0, 0)
    except NoEventsError:
        columns = model.columns
        label = () if columns.label is None else (columns.label,)
        names = (columns.src, columns.dst, columns.time, *columns.features, *label)
        return pa.table({name: pa.array([], pa.string()) for name in names})
