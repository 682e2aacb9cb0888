"""A stream in the shapes that other packages work with; `read_events` brings it back from each."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sdgad.errors import InputError
from sdgad.events.layouts import ANOMALY_TYPE, to_metadata
from sdgad.events.stream import Array, EventStream, FeatureColumn
from sdgad.events.times import epoch_seconds

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from torch_geometric.data import TemporalData


def to_arrow(
    events: EventStream, lists: bool = True, where: str = "The table", *, dates: bool = True
) -> pa.Table:
    """One row per event, in stream order, under the names of `events.names`; what the columns cannot say
    (bipartite, clock, which are features) is in the metadata of the schema.

    Times that were dates are dates again, in the time zone of the clock, unless `dates` are not wanted: then all are numbers.

    Features that came from a list go back into it, nameless ones (`f0, f1, …`) into the list `msg`; without
    `lists` each number has its own column.
    """
    columns = [
        (events.names.src, events.vocabulary.raw(events.src)),
        (events.names.dst, events.vocabulary.raw(events.dst)),
        (events.names.time, _dates(events) if dates else pa.array(events.t)),
    ]
    if events.names.label is not None or events.has_labels:
        label = pa.array(events.label, from_pandas=True).cast(pa.int8())
        columns.append((events.names.label or "label", label))
    columns += _feature_columns(events, lists)
    if events.anomaly_type is not None:
        columns.append((ANOMALY_TYPE, pa.array(events.anomaly_type, pa.string())))
    names = [name for name, _ in columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{where} would have two columns of the same name, {twice!r}.")
    table = pa.table([values for _, values in columns], names=names)
    return table.replace_schema_metadata(to_metadata(events.names, events.bipartite, events.clock))


def to_pandas(events: EventStream) -> pd.DataFrame:
    """The table with a column for each number; the metadata is in `attrs`."""
    _need("pandas", "to_pandas")
    table = to_arrow(events, lists=False)
    frame = table.to_pandas()
    frame.attrs.update({key.decode(): value.decode() for key, value in table.schema.metadata.items()})
    return frame


def to_polars(events: EventStream) -> pl.DataFrame:
    """The table with a column for each number; polars keeps no metadata."""
    return _need("polars", "to_polars").from_arrow(to_arrow(events, lists=False))


def to_pyg(events: EventStream) -> TemporalData:
    """Codes, times, features and, where any is known, labels as tensors that share no memory with the stream."""
    geometric = _need("torch_geometric.data", "to_pyg")
    import torch

    label = {"y": torch.tensor(events.label)} if events.has_labels else {}
    return geometric.TemporalData(
        src=torch.tensor(events.src),
        dst=torch.tensor(events.dst),
        t=torch.tensor(events.t),
        msg=torch.tensor(_matrix(events)),
        **label,
    )


def to_tgb(events: EventStream) -> dict[str, Array]:
    """The keys of TGB's `full_data`; labels and kinds of anomaly, for which TGB has no keys, under their own."""
    data = {
        "sources": events.src.copy(),
        "destinations": events.dst.copy(),
        "timestamps": events.t.copy(),
        "edge_idxs": np.arange(len(events)),
        "edge_feat": _matrix(events),
        "w": np.ones(len(events)),
        "edge_label": np.ones(len(events)),
    }
    if events.has_labels:
        data["label"] = events.label.copy()
    if events.anomaly_type is not None:
        data[ANOMALY_TYPE] = events.anomaly_type.copy()
    return data


def _need(module: str, method: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        raise InputError(f"{method} needs {package}: pip install 'sdgad[bridges]'.") from None


# ---------------------------------------------------------------------- times
def _dates(events: EventStream) -> pa.Array:
    """Times as they were read: dates in the time zone of the clock, to the microsecond where that says all, else to the
    nanosecond; numbers stay numbers, and so do times that no calendar holds."""
    t, clock = events.t, events.clock
    if clock.offsets is None or not clock.wall_clock or clock.unit != "s":
        return pa.array(t)
    whole = np.floor(t)
    for unit, parts in (("us", 1e6), ("ns", 1e9)):
        if len(t) and np.abs(t).max() >= 2**63 / parts - 1:
            continue
        count = whole.astype(np.int64) * int(parts) + np.rint((t - whole) * parts).astype(np.int64)
        if unit == "ns" or np.array_equal(epoch_seconds(count.view(f"datetime64[{unit}]")), t):
            return pa.array(count).cast(pa.timestamp(unit, clock.timezone))
    return pa.array(t)


# ---------------------------------------------------------------------- features
def _matrix(events: EventStream) -> Array:
    """`msg`, of width 0 where there is none, so that a model can always ask for its width."""
    return np.zeros((len(events), 0), np.float32) if events.msg is None else events.msg.copy()


def _feature_columns(events: EventStream, lists: bool) -> Iterator[tuple[str, pa.Array]]:
    """Name and values of each feature column to write."""
    if events.msg is None:
        return
    for name, start, stop in _groups(events) if lists else ():
        if name is not None:
            yield name, _list_array(events.msg[:, start:stop])
        else:
            yield from _scalars(events.features[start:stop], events.msg[:, start:stop])
    if not lists:
        yield from _scalars(events.features, events.msg)


def _groups(events: EventStream) -> Iterator[tuple[str | None, int, int]]:
    """Runs of features: those of one list column under its name, the others one by one under None."""
    names = [feature.name for feature in events.features]
    numeric = not any(feature.categorical for feature in events.features)
    if numeric and names == [f"f{i}" for i in range(len(names))]:
        yield "msg", 0, len(names)
        return
    lists = [name for name in events.names.features if name not in names]
    start = 0
    while start < len(names):
        stop = start
        name = next((name for name in lists if names[start] == f"{name}0"), None)
        while (
            name
            and stop < len(names)
            and names[stop] == f"{name}{stop - start}"
            and not events.features[stop].categorical
        ):
            stop += 1
        if stop > start:
            yield name, start, stop
        else:
            stop = start + 1
            yield None, start, stop
        start = stop


def _scalars(features: tuple[FeatureColumn, ...], msg: Array) -> Iterator[tuple[str, pa.Array]]:
    for feature, values in zip(features, msg.T, strict=True):
        missing = np.isnan(values)
        if feature.categories is None:
            yield feature.name, pa.array(np.ascontiguousarray(values), mask=missing)
        else:
            codes = pa.array(np.where(missing, 0, values).astype(np.int32), mask=missing)
            yield feature.name, pa.array(feature.categories, pa.string()).take(codes)


def _list_array(values: Array) -> pa.Array:
    flat = np.ascontiguousarray(values).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat, mask=np.isnan(flat)), values.shape[1])
