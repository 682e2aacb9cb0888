"""Trait: one thing that a person may find unusual about an event; a number that its row in the event table holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.explaining.columns import End, TableColumns
from sdgad.events.stream import Array
from sdgad.history.habit_words import Ends

Side = Literal["new", "rare", "quick", "silent", "more", "less", "other"]
SHORT_OF: dict[End, str] = {"source": "src", "destination": "dst"}
BOTH: End = "both"


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
