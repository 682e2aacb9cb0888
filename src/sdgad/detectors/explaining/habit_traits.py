"""Traits of who met whom, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.explaining.trait import SHORT_OF, Trait
from sdgad.events.stream import Array
from sdgad.history import habit_words as words
from sdgad.history.context import DAY, HOUR, WEEK

FEW = 5  # events, from which on shares of them mean something
PRIOR = 0.5  # events, of a party that had none within the week
YEAR = 365.25 * DAY


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
