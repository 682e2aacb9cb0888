"""Features for injected events: those of another event, more or less far from what is usual here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from sdgad.events.stream import Array, FeatureColumn

CANDIDATES = 10  # of which the published recipe takes the farthest
_DECIMALS = 6
_NEIGHBOURS, _ATTEMPTS = 20, 10  # for features that must not be a copy
_WIDTHS = (
    1,
    1,
    2,
    4,
    8,
    16,
    32,
    64,
)  # neighbours to either side between which a number that nobody has is looked for

Distance = Callable[[Array, Array], Array]  # own [n, 1, d] and others [n, c, d] → [n, c]


def exchanged(
    msg: Array, anchors: Array, salience: float, distance: Distance, rng: np.random.Generator
) -> Array:
    """Features in place of the anchors' own: of ten other events the farthest one's; with less salience, a closer one's.

    At salience s the ⌈10 s⌉-th closest; at 1 that is the farthest.
    """
    count = min(CANDIDATES, len(msg))
    others = _distinct(len(msg), len(anchors), count, rng)
    far = distance(msg[anchors][:, None], msg[others])
    rank = max(int(np.ceil(salience * count - 1e-9)) - 1, 0)
    chosen = np.argsort(far, axis=1, kind="stable")[:, rank]
    return msg[others[np.arange(len(anchors)), chosen]]


def cosine(own: Array, others: Array) -> Array:
    """1 − cos(own, other), as published; 1 where one of them is zero, 0 where both are. Missing values count as zero."""
    a, b = np.nan_to_num(own.astype(np.float64)), np.nan_to_num(others.astype(np.float64))
    length = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    both = (np.linalg.norm(a, axis=-1) == 0) & (np.linalg.norm(b, axis=-1) == 0)
    product = (a * b).sum(-1)
    return np.where(both, 0.0, 1 - np.divide(product, length, out=np.zeros_like(length), where=length > 0))


def gower(msg: Array, features: tuple[FeatureColumn, ...]) -> Distance:
    """Mean difference per column: of ranks for numbers, 0 or 1 for categories and where a value is missing.

    The cosine of amounts in one unit and codes of categories would mean nothing.
    """
    ordered = [None if feature.categorical else np.sort(msg[:, j]) for j, feature in enumerate(features)]

    def distance(own: Array, others: Array) -> Array:
        total = np.zeros(others.shape[:2])
        for j, column in enumerate(ordered):
            a, b = own[..., j], others[..., j]
            unlike = (a != b) & ~(np.isnan(a) & np.isnan(b))
            if column is None:
                total += unlike
            else:
                ranks = np.abs(_rank(column, a) - _rank(column, b))
                total += np.where(np.isnan(a) | np.isnan(b), unlike, ranks)
        return total / len(ordered)

    return distance


def unrepeated(
    made: Array, msg: Array, features: tuple[FeatureColumn, ...], rng: np.random.Generator
) -> Array:
    """What no two real events share is not shared by an injected one either.

    A number that occurs once becomes another one between its neighbours among the real ones, with as many decimals as
    the column has. Features that occur once as a whole, though each of them is common, get a neighbouring real value in one
    column. Values that real events repeat stay, and so do categories.
    """
    numbers = [j for j, feature in enumerate(features) if not feature.categorical]
    columns = {j: np.unique(msg[:, j][~np.isnan(msg[:, j])], return_counts=True) for j in numbers}
    there = Counter(_keys(msg))
    alone = np.array([there[key] == 1 for key in _keys(made)], bool)
    made = made.copy()
    for j, (values, count) in columns.items():
        if not len(values):
            continue
        place = np.minimum(np.searchsorted(values, made[:, j]), len(values) - 1)
        single = (values[place] == made[:, j]) & (count[place] == 1)
        made[single, j] = _between(values, place[single], rng)
    varied = sorted((j for j in columns if len(columns[j][0]) > 1), key=lambda j: -len(columns[j][0]))
    for j in varied:
        values = columns[j][0]
        for _ in range(_ATTEMPTS):
            copied = np.flatnonzero(alone & ~np.isnan(made[:, j]))
            copied = copied[[key in there for key in _keys(made[copied])]]
            if not len(copied):
                return made
            other = made[copied].copy()
            step = rng.integers(1, _NEIGHBOURS + 1, len(other)) * rng.choice([-1, 1], len(other))
            other[:, j] = values[(np.searchsorted(values, other[:, j]) + step) % len(values)]
            fresh = [key not in there for key in _keys(other)]
            made[copied[fresh]] = other[fresh]
    return made


def _between(values: Array, place: Array, rng: np.random.Generator) -> Array:
    """Numbers near those at these places that are none of them, from as close by as there are any left."""
    drawn, todo, decimals = values[place], np.arange(len(place)), _decimals(values)
    for width in _WIDTHS:
        low = values[np.maximum(place[todo] - width, 0)]
        high = values[np.minimum(place[todo] + width, len(values) - 1)]
        drawn[todo] = np.round(low + (high - low) * rng.random(len(todo)), decimals)
        todo = todo[np.isin(drawn[todo], values)]
        if not len(todo):
            break
    return drawn


def _keys(msg: Array) -> list[bytes]:
    """Each row as bytes that are equal where the features are; missing values are equal, and there is one zero."""
    rows = np.ascontiguousarray(msg + np.float32(0))
    rows[np.isnan(rows)] = np.nan
    return [row.tobytes() for row in rows]


def _decimals(values: Array) -> int:
    """The decimals that a float32 column is written with; many for measured numbers."""
    for decimals in range(_DECIMALS):
        if np.array_equal(np.round(values.astype(np.float64), decimals).astype(np.float32), values):
            return decimals
    return _DECIMALS


def _rank(ordered: Array, value: Array) -> Array:
    """Share of a column's values below, ties counting one half."""
    return (np.searchsorted(ordered, value, "left") + np.searchsorted(ordered, value, "right")) / (
        2 * len(ordered)
    )


def _distinct(size: int, rows: int, count: int, rng: np.random.Generator) -> Array:
    """In each row, `count` distinct numbers below `size`."""
    drawn = rng.integers(size, size=(rows, count))
    for _ in range(100):
        ordered = np.sort(drawn, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(1))
        if not len(again):
            return drawn
        drawn[again] = rng.integers(size, size=(len(again), count))
    drawn[again] = np.stack([rng.permutation(size)[:count] for _ in again])
    return drawn
