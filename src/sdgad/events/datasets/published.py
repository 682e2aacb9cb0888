"""A dataset from a file: as it was published, or as anyone who has it may have written it."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.column import UNTYPED
from sdgad.events.datasets.dataset import Dataset
from sdgad.events.datasets.unpacking import unpacked
from sdgad.events.layouts import by_alias, recognise
from sdgad.events.read import read_events
from sdgad.events.stream import Array, EventStream
from sdgad.events.table import file_format, read_table

logger = logging.getLogger("sdgad.events")

_FIRST_LINE = 1 << 16  # bytes
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_TYPED = ("parquet", "pq", "jsonl", "ndjson", "json")


def read_dataset(path: Path, dataset: type[Dataset], where: str | None = None) -> EventStream:
    """The events of a dataset from any file that holds them; `where` is what messages call it.

    Whichever file it was, the stream is the same: nodes are numbered from 0 (users before items; numbers keep their
    order, other names go by first appearance), times are float64 seconds since the first event, features are
    nameless, a dataset without labels has label 0, one without attributes no features.
    """
    where = where or str(path)
    with unpacked(path, dataset.files, where) as plain:
        try:
            table = _rows(plain, dataset)
        except InputError as problem:
            raise InputError(str(problem).replace(str(plain), where)) from None
    return _uniform(read_events(table, bipartite=dataset.bipartite, name=where), dataset, where)


def _rows(path: Path, dataset: type[Dataset]) -> pa.Table:
    if not dataset.fields or _has_header(path):
        return read_table(path)
    try:
        table = pa.csv.read_csv(
            path,
            pa.csv.ReadOptions(column_names=dataset.fields, use_threads=False),  # threads cannot name a row
            pa.csv.ParseOptions(delimiter=dataset.delimiter),
            pa.csv.ConvertOptions(column_types=dict.fromkeys(dataset.fields, pa.string())),
        )
    except (pa.ArrowException, OSError) as problem:
        ragged = _RAGGED.search(str(problem))
        where = f", row {ragged[1]}: {ragged[3]} fields where there should be {ragged[2]}" if ragged else ""
        raise InputError(f"{path} is not the published {dataset.name}{where or ': it is no text'}.") from None
    untyped = pa.schema([pa.field(name, pa.string(), metadata=UNTYPED) for name in dataset.fields])
    return dataset.prepare(pa.Table.from_arrays(table.columns, schema=untyped))


def _has_header(path: Path) -> bool:
    """Whether a file says itself what its columns are."""
    try:
        if file_format(path) in _TYPED:
            return True
    except InputError:
        pass  # a suffix that nobody else uses
    with path.open("rb") as file:
        line = file.readline(_FIRST_LINE).decode("utf-8", "replace").strip()
    names = next((line.split(mark) for mark in ",\t; " if mark in line), [line])
    return recognise(names) is not None or all(by_alias(role, names) for role in ("src", "dst", "time"))


# ---------------------------------------------------------------------- one form
def _uniform(events: EventStream, dataset: type[Dataset], where: str) -> EventStream:
    src, dst = _numbered(events)
    t = events.times_in("s").astype(np.float64)
    label = events.label
    if not dataset.labelled:
        if np.any(label == 1):
            logger.warning("%s: its labels are not used, since %s has none.", where, dataset.name)
        label = np.zeros_like(label)
    return EventStream(
        src,
        dst,
        t - t[0],
        events.msg if dataset.attributed else None,
        label,
        bipartite=dataset.bipartite,
        clock=Clock(),
    )


def _numbered(events: EventStream) -> tuple[Array, Array]:
    """Nodes as numbers from 0, sources before destinations where these are apart."""
    names = events.vocabulary.names
    if all(pa.types.is_integer(part.type) for part in names):
        return events.src, events.dst
    both = np.stack([events.src, events.dst], axis=1).reshape(-1)
    codes, seen = np.unique(both, return_index=True)
    side = codes >= len(names[0])
    number = np.empty(events.num_nodes, np.int64)
    number[codes[np.lexsort((seen, side))]] = np.arange(len(codes))
    return number[events.src], number[events.dst]
