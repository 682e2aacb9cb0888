"""Edge features as a model sees them: finite, centred, squashed, with categories as indicators."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.events.held import number, texts, truth
from sdgad.events.stream import Array, EventStream, FeatureColumn

MAX_CATEGORIES = 32
HEAVY_TAIL = 5.0
LEAST, MOST = 1e-300, 1e300  # numbers of a column, in a file
IN_CACHE = 1 << 16  # numbers that are worked on at a time
MANY_PARTS, MOST_THREADS = 16, 8  # so many parts are shared out


@dataclass(frozen=True)
class NumberEncoding:
    """asinh((y − median) / scale): linear for ordinary values, logarithmic in the tails.

    y = x, or log(x + offset) where training values are non-negative and heavy-tailed (amounts, durations,
    byte counts), so that ×10 is the same step at a cheap habit and at a dear one. Missing → 0, and a flag of
    its own where missing values occurred in training.
    """

    name: str
    median: float
    scale: float
    offset: float | None
    flag_missing: bool

    @property
    def width(self) -> int:
        return 1 + self.flag_missing

    @classmethod
    def fit(cls, name: str, values: Array) -> NumberEncoding:
        known = values[~np.isnan(values)].astype(np.float64)
        flag = len(known) < len(values)
        if len(known) == 0:
            return cls(name, 0.0, 1.0, None, flag)
        offset = _log_offset(known)
        bent = known if offset is None else np.log(known + offset)
        low, median, high = np.quantile(bent, [0.25, 0.5, 0.75])
        scale = float((high - low) / 1.349) or float(bent.std()) or 1.0
        return cls(name, float(median), scale, offset, flag)

    def raw(self, squashed: Array) -> Array:
        """The inverse of `encode_numbers`: x = median + scale · sinh(code), behind its logarithm where there is one."""
        with np.errstate(over="ignore"):
            bent = self.median + self.scale * np.sinh(np.asarray(squashed, np.float64))
            raw: Array = bent if self.offset is None else np.maximum(np.exp(bent) - self.offset, 0.0)
        return raw

    def check(self, values: Array, column: FeatureColumn) -> None:
        """Whether a column of events is what this one was in training."""
        if column.categorical and not np.isnan(values).all():
            raise InputError(
                f"Feature column {self.name!r} was numeric when the model was fitted, and is text now."
            )


def encode_numbers(numbers: Sequence[NumberEncoding], values: Array) -> tuple[Array, Array]:
    """Values `[E, n]` of n columns of numbers, squashed, float32, and which of them are missing.

    Some rows of all columns at a time, so that they stay in the processor's cache.
    """
    median, scale = (np.array([getattr(n, name) for n in numbers]) for name in ("median", "scale"))
    bent = np.array([n.offset is not None for n in numbers])
    offset = np.array([n.offset for n in numbers if n.offset is not None])
    out, missing = np.empty(values.shape, np.float32), np.isnan(values)
    rows = max(1, IN_CACHE // max(1, len(numbers)))

    def work(start: int) -> None:
        part = slice(start, start + rows)
        here = np.where(missing[part], 0.0, values[part]).astype(np.float64)
        if len(offset):
            here[:, bent] = np.log(here[:, bent].clip(min=0) + offset)
        out[part] = np.arcsinh((here - median) / scale)

    starts = range(0, len(values), rows)
    if len(starts) < MANY_PARTS:
        list(map(work, starts))
    else:
        with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as threads:
            list(threads.map(work, starts))
    out[missing] = 0.0
    return out, missing


def _span(places: list[int]) -> slice | list[int]:
    """Consecutive places as a slice, which is no copy."""
    first, last = places[0], places[-1]
    return slice(first, last + 1) if places == list(range(first, last + 1)) else places


def _log_offset(known: Array) -> float | None:
    """The offset of the logarithm, for non-negative values whose 99th percentile exceeds 5 medians."""
    positive = known[known > 0]
    if known.min() < 0 or len(positive) < len(known) / 2:
        return None
    low, median, high = np.quantile(positive, [0.01, 0.5, 0.99])
    return float(low) if high > HEAVY_TAIL * median else None


@dataclass(frozen=True)
class CategoryEncoding:
    """One indicator per frequent training category, one for any other (rare or unseen), one for missing."""

    name: str
    categories: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.categories) + 2

    @classmethod
    def fit(cls, name: str, values: Array, categories: tuple[str, ...]) -> CategoryEncoding:
        codes = values[~np.isnan(values)].astype(np.int64)
        counts = np.bincount(codes, minlength=len(categories))
        frequent = np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]
        return cls(name, tuple(categories[i] for i in frequent if counts[i] > 0))

    def encode(self, values: Array, column: FeatureColumn) -> Array:
        missing = np.isnan(values)
        if column.categories is None and not missing.all():
            raise InputError(
                f"Feature column {self.name!r} was text when the model was fitted, and is numeric now."
            )
        categories = column.categories or ()
        slot_of = {category: slot for slot, category in enumerate(self.categories)}
        codes, which = np.unique(values[~missing].astype(np.int64), return_inverse=True)
        slots = np.array([slot_of.get(categories[c], len(self.categories)) for c in codes.tolist()], np.int64)
        slot = np.full(len(values), self.width - 1)
        slot[~missing] = slots[which]
        indicators: Array = np.eye(self.width, dtype=np.float32)[slot]
        return indicators


@dataclass(frozen=True)
class FeatureEncoder:
    """Fitted on training events, applied at the border of the model; columns are matched by name."""

    columns: tuple[NumberEncoding | CategoryEncoding, ...]

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns)

    @classmethod
    def fit(cls, events: EventStream) -> FeatureEncoder:
        columns: list[NumberEncoding | CategoryEncoding] = []
        for j, column in enumerate(events.features):
            assert events.msg is not None
            values = events.msg[:, j]
            if column.categories is None:
                columns.append(NumberEncoding.fit(column.name, values))
            else:
                columns.append(CategoryEncoding.fit(column.name, values, column.categories))
        return cls(tuple(columns))

    def encode(self, events: EventStream) -> Array:
        """float32 `[E, width]`; a feature column that the model knows and the events lack is an error."""
        where = {column.name: j for j, column in enumerate(events.features)}
        missing = [column.name for column in self.columns if column.name not in where]
        if missing:
            raise InputError(f"The model needs feature column {missing[0]!r}, which these events lack.")
        out = np.zeros((len(events), self.width), np.float32)
        numbers: list[tuple[NumberEncoding, int, int]] = []  # with where they come from and go to
        start = 0
        for column in self.columns:
            assert events.msg is not None
            j = where[column.name]
            values = events.msg[:, j]
            if isinstance(column, NumberEncoding):
                column.check(values, events.features[j])
                numbers.append((column, j, start))
            else:
                out[:, start : start + column.width] = column.encode(values, events.features[j])
            start += column.width
        if numbers:
            assert events.msg is not None
            columns, sources, targets = (list(part) for part in zip(*numbers, strict=True))
            squashed, unknown = encode_numbers(columns, events.msg[:, _span(sources)])
            out[:, _span(targets)] = squashed
            flagged = [i for i, column in enumerate(columns) if column.flag_missing]
            out[:, [targets[i] + 1 for i in flagged]] = unknown[:, flagged]
        return out

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_json(cls, columns: list[dict[str, Any]]) -> FeatureEncoder:
        """The inverse of `to_json`; what no fit writes is a ValueError."""

        def column(c: dict[str, Any]) -> NumberEncoding | CategoryEncoding:
            if "categories" in c:
                return CategoryEncoding(c["name"], texts(c["categories"], f"the categories of {c['name']!r}"))
            found = NumberEncoding(**c)
            number(found.median, f"the median of {found.name!r}", low=-MOST, high=MOST)
            number(found.scale, f"the scale of {found.name!r}", low=LEAST, high=MOST)
            if found.offset is not None:
                number(found.offset, f"the offset of {found.name!r}", low=LEAST, high=MOST)
            truth(found.flag_missing, f"flag_missing of {found.name!r}")
            return found

        found = tuple(column(c) for c in columns)
        texts([each.name for each in found], "the features")
        return cls(found)
