"""A model from its folder, and events under the column names and the clock that it was fitted with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sdgad.cli.naming import naming
from sdgad.errors import ModelFolderError

if TYPE_CHECKING:
    import pyarrow as pa

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

    need_folder(folder)
    with model_lock(folder, WAIT if wait is None else wait):
        yield open_model(folder)


def open_events(path: Path, model: Detector) -> tuple[pa.Table, EventStream]:
    """The raw rows of a file, and the stream that the model makes of them.

    A model that was fitted without a label column takes one under a common name, which `evaluate` needs.
    """
    from sdgad.events.layouts import by_alias
    from sdgad.events.read import read_events
    from sdgad.events.strangers import tell_strangers
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
            name=name,
        )
    if model.known_ids:
        tell_strangers(events, model.known_ids, name)
    return table, events
