"""EventStream: who, with whom, when, with what features."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.columns import (
    Array,
    ColumnNames,
    Columns,
    FeatureColumn,
    checked_labels,
    checked_messages,
    checked_times,
    one_each,
)
from sdgad.events.suspicious import bulk, core
from sdgad.events.vocabulary import Ids, Vocabulary

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from torch_geometric.data import TemporalData

__all__ = ["Array", "ColumnNames", "EventStream", "FeatureColumn", "Supervision"]

Supervision = Literal["all", "few-shot", "none"]


class EventStream:
    """A stream of interaction events, sorted by time and checked once.

    `src`, `dst` are int64 codes 0 … num_nodes − 1 (bipartite: destinations after sources), `t` is float64 or int64
    (datetime64 becomes epoch seconds on a wall clock), `msg` is float32 `[E, d]` or None (missing values are NaN,
    categories are codes into `features[j].categories`), `label` is float32 with 0 = normal, 1 = anomalous, NaN =
    unknown. Rows that arrive unsorted are sorted, stably; `row[i]` is where event i stood in the input, which `row`
    says where some rows of it are not here. A part cut from a stream knows its `predecessors`.

    >>> stream = EventStream(["ann", "bob", "ann"], ["shop", "shop", "bob"], [0, 60, 90], label=[0, 0, 1])
    >>> stream.vocabulary.raw(stream.src).to_pylist()
    ['ann', 'bob', 'ann']
    """

    vocabulary: Vocabulary

    def __init__(
        self,
        src: Ids,
        dst: Ids,
        t: Any,
        msg: Any = None,
        label: Any = None,
        *,
        bipartite: bool = False,
        features: tuple[FeatureColumn, ...] | None = None,
        node_features: Any = None,
        anomaly_type: Any = None,
        clock: Clock | None = None,
        names: ColumnNames | None = None,
        row: Any = None,
    ) -> None:
        times, dated = checked_times(t)
        count = len(times)
        codes_src, codes_dst, vocabulary = Vocabulary.code(src, dst, bipartite)
        columns = Columns(
            src=one_each("src", codes_src, count),
            dst=one_each("dst", codes_dst, count),
            t=times,
            msg=checked_messages(msg, count),
            label=checked_labels(label, count),
            anomaly_type=None
            if anomaly_type is None
            else one_each("anomaly_type", np.asarray(anomaly_type, str), count),
            row=np.arange(count) if row is None else one_each("row", np.asarray(row, np.int64), count),
        )
        self.was_sorted = bool(np.all(times[1:] >= times[:-1]))
        if not self.was_sorted:
            columns = columns.take(np.argsort(times, kind="stable"))
        width = 0 if columns.msg is None else columns.msg.shape[1]
        if features is None:
            features = tuple(FeatureColumn(f"f{i}") for i in range(width))
        if len(features) != width:
            raise InputError(f"{len(features)} feature columns are described, but msg has {width}.")
        called = [feature.name for feature in features]
        if len(set(called)) < width:
            twice = next(name for name in called if called.count(name) > 1)
            raise InputError(f"Two feature columns have the name {twice!r}.")
        self._columns = columns
        self.vocabulary = vocabulary
        self.features = features
        self.node_features = None if node_features is None else np.asarray(node_features, np.float32)
        if self.node_features is not None and len(self.node_features) != len(vocabulary):
            raise InputError(f"node_features has {len(self.node_features)} rows for {len(vocabulary)} nodes.")
        self.clock = clock or _likely_clock(columns.t)
        if dated:
            self.clock = replace(self.clock, unit="s", wall_clock=True, offsets=bool(self.clock.offsets))
        lost = np.flatnonzero(~self.clock.holds(columns.t))
        if len(lost):
            raise InputError(f"Row {columns.row[lost].min() + 1} has a time that is too far away to be one.")
        self.names = names or ColumnNames(
            features=tuple(f.name for f in features),
            categorical=tuple(f.name for f in features if f.categorical),
        )
        self._parent: EventStream | None = None
        self._start = 0

    # ------------------------------------------------------------------ columns
    @property
    def src(self) -> Array:
        """Codes of the sources."""
        return self._columns.src

    @property
    def dst(self) -> Array:
        """Codes of the destinations."""
        return self._columns.dst

    @property
    def t(self) -> Array:
        """Times, in order, as the clock counts them."""
        return self._columns.t

    @property
    def msg(self) -> Array | None:
        """Features, `[E, d]` float32, or None."""
        return self._columns.msg

    @property
    def label(self) -> Array:
        """0 normal, 1 anomalous, NaN unknown."""
        return self._columns.label

    @property
    def anomaly_type(self) -> Array | None:
        """Kind of anomaly per event, `""` for ordinary events, or None where it is not known."""
        return self._columns.anomaly_type

    @property
    def row(self) -> Array:
        """Where each event stood in the input."""
        return self._columns.row

    def __len__(self) -> int:
        return len(self._columns.t)

    @property
    def num_nodes(self) -> int:
        """Nodes of the whole stream, also where this is a part."""
        return len(self.vocabulary)

    @property
    def num_features(self) -> int:
        """d, the width of `msg`."""
        return len(self.features)

    @property
    def bipartite(self) -> bool:
        """Whether sources and destinations have name spaces of their own."""
        return self.vocabulary.bipartite

    @property
    def has_labels(self) -> bool:
        """Whether any event is known to be normal or anomalous."""
        return bool(np.any(~np.isnan(self.label)))

    def __repr__(self) -> str:
        known = ~np.isnan(self.label)
        labels = (
            f"{int(np.nansum(self.label))} of {int(known.sum())} labelled anomalous"
            if known.any()
            else "no labels"
        )
        return f"EventStream({len(self):,} events, {self.num_nodes:,} nodes, {self.num_features} features, {labels})"

    # ------------------------------------------------------------------ parts
    @property
    def predecessors(self) -> EventStream | None:
        """The events of the whole stream before this part, or None at its beginning."""
        if self._parent is None or self._start == 0:
            return None
        return self._parent[: self._start]

    @property
    def whole(self) -> EventStream:
        """The stream that this part was cut from; itself, if it is none."""
        return self if self._parent is None else self._parent

    def __getitem__(self, rows: slice) -> EventStream:
        """A contiguous part, which remembers what came before it."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise InputError("A part of a stream must be contiguous: events[a:b].")
        start, stop, _ = rows.indices(len(self))
        part = self._copy(self._columns.take(slice(start, max(start, stop))))
        part._parent = self if self._parent is None else self._parent
        part._start = self._start + start
        return part

    def split(self, train: float = 0.4, val: float = 0.2) -> tuple[EventStream, EventStream, EventStream]:
        """Train, validation and test parts in time order, cut at floor(train·E) and floor((train + val)·E).

        The paper (appendix on data preprocessing) uses 40/20/40. A cut may fall inside a tie.
        """
        if not (0 < train < 1 and 0 <= val < 1 and train + val <= 1):
            raise InputError(
                f"split(train={train}, val={val}): shares must be positive and sum to at most 1."
            )
        first = int(np.floor(train * len(self) + 1e-9))
        second = int(np.floor((train + val) * len(self) + 1e-9))
        return self[:first], self[first:second], self[second:]

    def with_labels(self, supervision: Supervision, k: int = 3, seed: int = 0) -> EventStream:
        """The same events under less supervision: the paper's S1 (`all`), S2 (`few-shot`) and S3 (`none`).

        `few-shot` keeps k labelled anomalies, chosen by seed; every other event becomes unlabelled, normals included.
        """
        label = self.label
        if supervision == "few-shot":
            anomalies = np.flatnonzero(label == 1)
            if k < 1:
                raise InputError(f"k={k}: a few-shot setting keeps at least one labelled anomaly.")
            if seed < 0:
                raise InputError(f"seed={seed}: a seed is not negative.")
            if len(anomalies) < k:
                raise InputError(f"k={k} labelled anomalies were asked for, but there are {len(anomalies)}.")
            kept = np.random.default_rng(seed).permutation(anomalies)[:k]  # those of k − 1, and one more
            label = np.full_like(label, np.nan)
            label[kept] = 1.0
        elif supervision == "none":
            label = np.full_like(label, np.nan)
        elif supervision != "all":
            raise InputError(f"Supervision {supervision!r} is not one of all, few-shot, none.")
        return self.with_columns(label=label)

    def with_columns(self, *, label: Any = None, anomaly_type: Any = None) -> EventStream:
        """The same events with other labels or anomaly types."""
        columns = self._columns
        if label is not None:
            columns = replace(columns, label=checked_labels(label, len(self)))
        if anomaly_type is not None:
            columns = replace(
                columns, anomaly_type=one_each("anomaly_type", np.asarray(anomaly_type, str), len(self))
            )
        return self._copy(columns)

    def with_rows(
        self, *, src: Array, dst: Array, t: Array, msg: Array | None, label: Array, anomaly_type: Array | None
    ) -> EventStream:
        """A whole stream of other events among the same nodes (`src`, `dst` are codes), in order of time."""
        rows = Columns(src, dst, t, msg, label, anomaly_type, row=np.arange(len(t)))
        events = self._copy(rows)
        events._parent, events._start, events.was_sorted = None, 0, True
        return events

    def counted_in(self, unit: str) -> EventStream:
        """The same events on the same clock, with times that count another unit."""
        if unit == self.clock.unit:
            return self
        events = self._copy(replace(self._columns, t=self.times_in(unit)))
        events.clock = replace(self.clock, unit=unit)
        if self._parent is not None:
            events._parent = self._parent.counted_in(unit)
        return events

    def times_in(self, unit: str) -> Array:
        """`t`, counted in another unit."""
        ratio = Clock(unit).seconds / self.clock.seconds
        if ratio == 1:
            return self.t
        if (
            not Clock(unit)
            .holds(np.asarray([self.t.min(), self.t.max()]) * (1 / ratio) if len(self) else self.t)
            .all()
        ):
            raise InputError(f"The times, counted in {self.clock.unit}, reach further than {unit} can count.")
        # units divide each other, and whole factors keep ties
        return self.t / round(ratio) if ratio > 1 else self.t * round(1 / ratio)

    def in_input_order(self, values: Array) -> Array:
        """Values per event, re-ordered as the rows stood in the input (for a whole stream, not a part)."""
        ordered = np.empty_like(values)
        ordered[np.argsort(np.argsort(self.row, kind="stable"), kind="stable")] = values
        return ordered

    # ------------------------------------------------------------------ for other packages
    def to_arrow(self) -> pa.Table:
        """A pyarrow table with what `write_events` writes: raw ids, times as they were (dates in the clock's time zone, or
        numbers), what is unknown null."""
        from sdgad.events.export import to_arrow

        return to_arrow(self)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame: as `to_arrow`, but each number of a list has its own column."""
        from sdgad.events.export import to_pandas

        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame: as `to_pandas`. It cannot say what `columns=events.names, clock=events.clock,
        bipartite=events.bipartite` tell `read_events`."""
        from sdgad.events.export import to_polars

        return to_polars(self)

    def to_pyg(self) -> TemporalData:
        """A PyG `TemporalData`: `src`, `dst` are codes (`events.vocabulary.raw(codes)` has the names), `t` keeps its
        type, `msg` is `[E, d]` with categories as codes, `y` is float32 with NaN = unknown (left out if all are)."""
        from sdgad.events.export import to_pyg

        return to_pyg(self)

    def to_tgb(self) -> dict[str, Array]:
        """A dictionary with the keys of TGB's `full_data`, and values as in `to_pyg`. `edge_label` and `w` are 1, as
        TGB has them for links that exist; what is known about anomalies is in `label` and `anomaly_type`."""
        from sdgad.events.export import to_tgb

        return to_tgb(self)

    def _copy(self, columns: Columns) -> EventStream:
        part = object.__new__(EventStream)
        part.__dict__.update(self.__dict__)
        part._columns = columns
        return part


def _likely_clock(t: Array) -> Clock:
    """What sorted numbers look like; absurd ones among them have no say."""
    return Clock.guess(t[bulk(t, Clock.guess(core(t)))])
