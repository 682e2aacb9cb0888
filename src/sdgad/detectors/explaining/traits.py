"""Traits: what a person may find unusual about an event; each is a number that its row in the event table holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.explaining.columns import SEQUEL, End, TableColumns, feature_theme
from sdgad.events.features import CategoryEncoding, NumberEncoding
from sdgad.events.stream import Array
from sdgad.history import habit_words as words
from sdgad.history.context import DAY, HOUR, WEEK
from sdgad.history.habit_words import Ends
from sdgad.history.habits import MEAN_WAIT

Side = Literal["new", "rare", "quick", "silent", "more", "less", "other"]
SHORT_OF: dict[End, str] = {"source": "src", "destination": "dst"}
BOTH: End = "both"
FEW = 5  # events, from which on shares of them mean something
YEAR = 365.25 * DAY
PRIOR = 0.5  # of a category that was never seen


@dataclass(frozen=True)
class Trait(ABC):
    """Theme: what it is about; of the traits of one theme only the most unusual is told. Side: which way it is unusual.

    `column` is the habit residual that tells it.
    """

    columns: TableColumns
    ends: Ends
    end: End
    theme: str
    side: Side
    column: str

    @abstractmethod
    def unusual(self, rows: Table) -> Array:
        """`[B]`, the higher the more unusual; 0 where there is no habit to compare with."""

    @abstractmethod
    def facts(self, rows: Table) -> tuple[Array, Array]:
        """`[B]` each: the number now, and the habit, in units that people know."""

    @abstractmethod
    def words(self, now: float, habit: float) -> str:
        """Both in words."""

    @property
    def who(self) -> str:
        return self.ends.of(self.end)

    def _context(self, rows: Table, name: str) -> Array:
        found: Array = rows[:, self.columns.level(name)].astype(np.float64)
        return found

    def _count(self, rows: Table, what: str) -> Array:
        found: Array = np.expm1(self._context(rows, f"log {what}"))
        return found


@dataclass(frozen=True)
class NewPair(Trait):
    """The first event of two who are both known."""

    def unusual(self, rows: Table) -> Array:
        known = (self._context(rows, "new src") == 0) & (self._context(rows, "new dst") == 0)
        found: Array = self._context(rows, "new pair") * known
        return found

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Events of the two, and of the source in all."""
        return self._count(rows, "count pair"), self._count(rows, "count src")

    def words(self, now: float, habit: float) -> str:  # noqa: ARG002
        return words.never_met(self.ends)


@dataclass(frozen=True)
class RarePair(NewPair):
    """−log of the pair's share in the events of the source."""

    def unusual(self, rows: Table) -> Array:
        share = self._context(rows, "pair share of src")
        told = (share > 0) & (self._count(rows, "count src") >= FEW)
        found: Array = np.where(told, -np.log(np.maximum(share, 1e-9)), 0.0)
        return found

    def words(self, now: float, habit: float) -> str:
        return words.rarely_met(self.ends, now, habit)


@dataclass(frozen=True)
class NewNode(Trait):
    """The first event of somebody."""

    def unusual(self, rows: Table) -> Array:
        return self._context(rows, f"new {SHORT_OF[self.end]}")

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Events so far, twice: there is no habit."""
        count = self._count(rows, f"count {SHORT_OF[self.end]}")
        return count, count

    def words(self, now: float, habit: float) -> str:  # noqa: ARG002
        return words.never_seen(self.who)


@dataclass(frozen=True)
class Gap(Trait):
    """±log of the time since the end's last event over its mean time between events."""

    def unusual(self, rows: Table) -> Array:
        gap, usual = self.facts(rows)
        ratio = np.log1p(gap) - np.log1p(usual)
        known = self._count(rows, f"count {SHORT_OF[self.end]}") > 1.5
        found: Array = np.where(known, ratio if self.side == "silent" else -ratio, 0.0)
        return np.maximum(found, 0.0)

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Both in seconds; the events so far lie between the first one and the last."""
        short = SHORT_OF[self.end]
        gap, age = self._count(rows, f"gap {short}"), self._count(rows, f"age {short}")
        between = np.maximum(self._count(rows, f"count {short}") - 1, 1)
        return gap, np.maximum(age - gap, 0.0) / between

    def words(self, now: float, habit: float) -> str:
        return (
            words.silent(self.who, now, habit)
            if self.side == "silent"
            else words.quicker(self.who, now, habit)
        )


@dataclass(frozen=True)
class Busy(Trait):
    """log of the count within an hour or a day, this event included, over what the rest of the week leads to expect (+ 0.5)."""

    within: Literal["hour", "day"]

    def unusual(self, rows: Table) -> Array:
        now, usual = self.facts(rows)
        found: Array = np.log(now / (usual + PRIOR))
        return np.maximum(found, 0.0)

    def facts(self, rows: Table) -> tuple[Array, Array]:
        return self._rates(rows, SHORT_OF[self.end])

    def _rates(self, rows: Table, whose: str) -> tuple[Array, Array]:
        now, week = (self._count(rows, f"rate {whose} {span}") for span in (self.within, "week"))
        length = HOUR if self.within == "hour" else DAY
        return now + 1.0, np.maximum(week - now, 0.0) * (length / WEEK)

    def words(self, now: float, habit: float) -> str:
        return words.busier(self.who, now, habit, "an hour" if self.within == "hour" else "a day")


@dataclass(frozen=True)
class BusyStream(Busy):
    """The same of all together."""

    def facts(self, rows: Table) -> tuple[Array, Array]:
        return self._rates(rows, "stream")

    def words(self, now: float, habit: float) -> str:
        return words.stream_busier(now, habit)


@dataclass(frozen=True)
class ManyPartners(Trait):
    """Different partners per event."""

    def unusual(self, rows: Table) -> Array:
        partners, count = self.facts(rows)
        return np.where(count >= FEW, partners / np.maximum(count, 1.0), 0.0)

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Partners, and events."""
        short = SHORT_OF[self.end]
        return self._count(rows, f"partners {short}"), self._count(rows, f"count {short}")

    def words(self, now: float, habit: float) -> str:
        return words.many_partners(self.who, now, habit)


@dataclass(frozen=True)
class SoonAfter(Trait):
    """−log of the wait, the mean of logarithms, until those whom the source met lately had their next event, in years."""

    def unusual(self, rows: Table) -> Array:
        wait, _ = self.facts(rows)
        found: Array = np.where(self._count(rows, "count src") >= FEW, -np.log((wait + 1.0) / YEAR), 0.0)
        return np.maximum(found, 0.0)

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """In seconds, twice: there is no habit."""
        wait: Array = np.expm1(rows[:, self.columns.sequel(self.column)].astype(np.float64))
        return wait, wait

    def words(self, now: float, habit: float) -> str:  # noqa: ARG002
        return words.went_on(self.ends, now)


@dataclass(frozen=True)
class Phase(Trait):
    """√(z² of sine + z² of cosine) of the hour of the day or of the day of the week, in spreads of the end's own past."""

    theme: str  # hour or weekday

    @property
    def _places(self) -> tuple[int, int]:
        sine, cosine = (self.columns.level(f"{wave} {self.theme}") for wave in ("sin", "cos"))
        return sine, cosine

    def unusual(self, rows: Table) -> Array:
        places = [self.columns.surprise(self.end, place) for place in self._places]
        found: Array = np.hypot(*rows[:, places].astype(np.float64).T)
        return found

    def facts(self, rows: Table) -> tuple[Array, Array]:
        """Hours since midnight, or days since Monday began."""
        now = rows[:, list(self._places)].astype(np.float64)
        usual = now - rows[:, [self.columns.deviation(self.end, place) for place in self._places]]
        return self._turned(now), self._turned(usual)

    def _turned(self, waves: Array) -> Array:
        turn: Array = np.arctan2(waves[:, 0], waves[:, 1]) / (2 * np.pi) % 1.0
        # the week of 1970 began on a Thursday
        return turn * 24.0 if self.theme == "hour" else (turn * 7.0 + 3.0) % 7.0

    def words(self, now: float, habit: float) -> str:
        say = words.at_hour if self.theme == "hour" else words.on_weekday
        return say(self.who, now, habit)


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


def traits_of(columns: TableColumns, ends: Ends) -> list[Trait]:
    """All that can be told of an event of such a table."""
    found: list[Trait] = [
        NewPair(columns, ends, "both", "pair", "new", "new pair"),
        RarePair(columns, ends, "both", "pair", "rare", "pair share of src"),
        BusyStream(columns, ends, "both", "stream", "more", "rate stream, hour against week", "hour"),
    ]
    if columns.shape.sequels:
        found.append(SoonAfter(columns, ends, "source", SEQUEL, "quick", MEAN_WAIT))
    for end in SHORT_OF:
        found += _of_end(columns, ends, end)
    place = 0
    for encoding in columns.features.columns:
        for end in (*SHORT_OF, BOTH):
            found += _of_feature(columns, ends, end, place, encoding)
        place += encoding.width
    return found


def _of_end(columns: TableColumns, ends: Ends, end: End) -> list[Trait]:
    short, pace = SHORT_OF[end], f"{end} pace"
    gap = f"gap {short} against its spacing"
    found: list[Trait] = [
        NewNode(columns, ends, end, f"new {end}", "new", f"new {short}"),
        Gap(columns, ends, end, pace, "quick", gap),
        Gap(columns, ends, end, pace, "silent", gap),
        Busy(columns, ends, end, pace, "quick", f"rate {short}, hour against week", "hour"),
        Busy(columns, ends, end, pace, "quick", f"rate {short}, day against week", "day"),
        ManyPartners(columns, ends, end, f"{end} partners", "more", f"partners per event {short}"),
    ]
    for theme in ("hour", "weekday") if columns.shape.phases else ():
        column = columns.names[columns.surprise(end, columns.level(f"sin {theme}"))]
        found.append(Phase(columns, ends, end, theme, "other", column))
    return found


def _of_feature(
    columns: TableColumns, ends: Ends, end: End, place: int, encoding: NumberEncoding | CategoryEncoding
) -> list[Trait]:
    theme = feature_theme(encoding.name)
    first = columns.feature(place)
    apart = columns.names[columns.deviation(end, first)]
    if isinstance(encoding, CategoryEncoding):
        return [Category(columns, ends, end, theme, "other", apart, place, encoding)]
    number = apart if end == BOTH else columns.names[columns.surprise(end, first)]
    sides: tuple[Side, Side] = ("more", "less")
    found: list[Trait] = [Amount(columns, ends, end, theme, side, number, place, encoding) for side in sides]
    if encoding.flag_missing:
        flag = columns.names[columns.deviation(end, first + 1)]
        found.append(Missing(columns, ends, end, theme, "other", flag, place, encoding))
    return found
