"""Traits of what an event carries: its edge features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.explaining.trait import Trait
from sdgad.events.features import CategoryEncoding, NumberEncoding
from sdgad.events.stream import Array
from sdgad.history import habit_words as words


@dataclass(frozen=True)
class Feature(Trait):
    """What the traits of an edge feature have in common."""

    place: int  # of its first encoded number

    def _usual(self, rows: Table, place: int) -> Array:
        found: Array = rows[:, self.columns.feature(place)] - rows[:, self._deviation(place)]
        return found.astype(np.float64)

    def _deviation(self, place: int) -> int:
        return self.columns.deviation(self.end, self.columns.feature(place))


@dataclass(frozen=True)
class Amount(Feature):
    """± the number, as it is encoded, minus its habit: in spreads of the end's own past, plain for the two together."""

    encoding: NumberEncoding

    @property
    def _column(self) -> int:
        place = self.columns.feature(self.place)
        return self._deviation(self.place) if self.end == "both" else self.columns.surprise(self.end, place)

    def unusual(self, rows: Table) -> Array:
        found = rows[:, self._column].astype(np.float64)
        return np.maximum(found if self.side == "more" else -found, 0.0)

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """As in the file; the habit is the number whose code is the mean of past codes."""
        now = rows[:, self.columns.feature(self.place)]
        return self.encoding.raw(now), self.encoding.raw(self._usual(rows, self.place))

    def words(self, now: float, habit: float) -> str:
        return words.amount(self.encoding.name, self.who, now, habit)


@dataclass(frozen=True)
class Missing(Feature):
    """A number that is not there."""

    encoding: NumberEncoding

    def unusual(self, rows: Table) -> Array:
        return np.maximum(rows[:, self._deviation(self.place + 1)].astype(np.float64), 0.0)

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Whether it is missing, and in what share of the past."""
        flag = rows[:, self.columns.feature(self.place + 1)].astype(np.float64)
        return flag, self._usual(rows, self.place + 1)

    def words(self, now: float, habit: float) -> str:  # noqa: ARG002
        return words.missing(self.encoding.name, self.who)


@dataclass(frozen=True)
class Category(Feature):
    """1 − the share of this category in the past of the end."""

    encoding: CategoryEncoding

    @property
    def _places(self) -> range:
        return range(self.place, self.place + self.encoding.width)

    def unusual(self, rows: Table) -> Array:
        now = rows[:, [self.columns.feature(place) for place in self._places]]
        apart = rows[:, [self._deviation(place) for place in self._places]]
        found: Array = (now * apart).sum(1).astype(np.float64)
        return found

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Which category, and which is the most frequent."""
        now = rows[:, [self.columns.feature(place) for place in self._places]]
        usual = np.stack([self._usual(rows, place) for place in self._places], 1)
        return now.argmax(1).astype(np.float64), usual.argmax(1).astype(np.float64)

    def words(self, now: float, habit: float) -> str:
        names = (*self.encoding.categories, "rare or new", "missing")
        return words.category(self.encoding.name, self.who, names[int(now)], names[int(habit)])
