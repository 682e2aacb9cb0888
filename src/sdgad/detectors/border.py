"""Border: raw events become what a model works on; and what happens to those that come too late."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sdgad.detectors.config import Late
from sdgad.errors import InputError, row_numbers
from sdgad.events.clock import Clock
from sdgad.events.features import CategoryEncoding, FeatureEncoder
from sdgad.events.held import text, texts, truth, whole
from sdgad.events.set_aside import Policy
from sdgad.events.stream import Array, ColumnNames, EventStream
from sdgad.events.suspicious import Span, bulk

logger = logging.getLogger("sdgad.detectors")


@dataclass(frozen=True, eq=False)
class Border:
    """What the training events were like: column names, clock, features, whether sources and destinations are named apart."""

    names: ColumnNames
    clock: Clock
    features: FeatureEncoder
    sides: int

    @classmethod
    def fit(cls, train: EventStream, *, features: bool = True) -> Border:
        """What these events are like; without `features` their feature columns are not asked for again."""
        names, sides = train.names, len(train.vocabulary.names)
        if not features:
            return cls(replace(names, features=()), train.clock, FeatureEncoder(()), sides)
        return cls(names, train.clock, FeatureEncoder.fit(train), sides)

    def read(self, events: EventStream) -> tuple[Array, Array]:
        """Times in the model's unit, and features as it has them."""
        need_stream(events)
        return events.times_in(self.clock.unit), self.features.encode(events)

    def seconds(self, t: Array, origin: Any) -> Array:
        """Times as seconds since an origin; a difference of the times themselves, so that it is exact."""
        return np.asarray((t - origin) * self.clock.seconds, np.float64)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features, one by one: a list column `msg` is msg0, msg1, …"""
        return tuple(column.name for column in self.features.columns)

    @property
    def feature_categories(self) -> dict[str, int | None]:
        """The features, and how many categories are told apart in each; None for numbers."""
        return {
            column.name: len(column.categories) if isinstance(column, CategoryEncoding) else None
            for column in self.features.columns
        }

    @property
    def known_categories(self) -> dict[str, tuple[str, ...]]:
        """The categories that are told apart, of each feature that has such."""
        return {
            column.name: column.categories
            for column in self.features.columns
            if isinstance(column, CategoryEncoding)
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": asdict(self.names),
            "clock": asdict(self.clock),
            "features": self.features.to_json(),
            "sides": self.sides,
        }

    @classmethod
    def from_json(cls, config: dict[str, Any]) -> Border:
        """The inverse of `to_json`; what no fit writes is a ValueError."""
        names, clock = ColumnNames(**config["columns"]), Clock(**config["clock"])
        for name in ("src", "dst", "time"):
            text(getattr(names, name), f"the column {name}")
        for name in ("features", "categorical"):
            texts(config["columns"].get(name, ()), f"the columns {name}")
        if names.label is not None:
            text(names.label, "the column label")
        truth(clock.wall_clock, "wall_clock")
        text(clock.timezone, "timezone")
        if clock.offsets is not None:
            truth(clock.offsets, "offsets")
        sides = whole(config["sides"], "sides", low=1, high=2)
        features = FeatureEncoder.from_json(config["features"])
        for column in features.columns:
            if not any(
                _part_of(text(column.name, "a feature"), whole_column) for whole_column in names.features
            ):
                raise ValueError(f"the feature {column.name!r} comes from no column")
        return cls(names, clock, features, sides)


def _part_of(feature: str, column: str) -> bool:
    """Whether a feature is a column, or a number of a column of lists."""
    rest = feature.removeprefix(column)
    return feature.startswith(column) and (not rest or rest.isdigit())


def in_time(t: Array, newest: Any, policy: Late, events: EventStream, end: str) -> Array:
    """Rows to keep under the policy for events older than the `newest` time, which an error calls `end`."""
    if newest is None or policy == "score":
        return np.arange(len(t))
    late = t < newest
    if policy == "error" and late.any():
        row = int(events.row[np.flatnonzero(late)[0]])
        raise InputError(f"Row {row + 1} is older than {end} (late='error').")
    return np.flatnonzero(~late)


def in_reach(t: Array, row: Array, clock: Clock, policy: Policy, history: Span | None = None) -> slice:
    """Events to keep, of those in time order, under the policy for times that are absurd beside each other and a history."""
    every = slice(0, len(t))
    kept = every if policy == "keep" else bulk(t, clock, history)
    if kept == every:
        return every
    rows = sorted((np.delete(row, np.r_[kept]) + 1).tolist())
    beside = "the others" if history is None else "the others and the model's history"
    found = f"{row_numbers(rows).capitalize()}: the time is too far from {beside}"
    if policy == "error":
        raise InputError(f"{found} (bad_rows='error').")
    logger.warning("%s; set aside.", found)
    return kept


def need_stream(events: Any) -> None:
    if not isinstance(events, EventStream):
        kind = type(events).__name__
        raise InputError(
            f"A detector takes an EventStream, not a {kind}: sdgad.read_events makes one of a table or file."
        )
