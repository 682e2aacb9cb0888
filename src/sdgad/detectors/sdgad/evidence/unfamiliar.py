"""Unfamiliar: events of somebody who is hardly known or suddenly there, and between two who hardly know each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.events.stream import Array
from sdgad.history.context import NAMES

MOST = 2.0  # nats: strangers come every day, so this moves what else is told of an event, and alone raises no alarm
_SOURCE, _STREAM, _PAIR, _HOUR = (
    NAMES.index(name)
    for name in ("log rate src week", "log rate stream week", "log count pair", "log rate src hour")
)


class Unfamiliar(Kind):
    """One-sided, where densities ask on both sides: what is known very well is as rare as what is not known at all.

    Habits need a past. Of a source without one all residuals are small, and it is there that trouble begins more often than
    elsewhere: accounts that are made for it, sources that never did this before.
    """

    group: ClassVar[Group] = "unfamiliar"
    most: ClassVar[float] = MOST

    def fit(self, lesson: Lesson) -> None:
        """There is nothing to learn."""

    def arrays(self) -> dict[str, Array]:
        return {}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """There is nothing to load."""


@kinds.register("newcomer")
class Newcomer(Unfamiliar):
    """−log p(src) = −log((r_src + 1) / (r + 1)), by counts of the source and of the stream that fade within a week."""

    def raw(self, rows: Table) -> Array:
        found: Array = rows[:, _STREAM].astype(np.float64) - rows[:, _SOURCE]
        return found


@kinds.register("strangers")
class Strangers(Unfamiliar):
    """−log(1 + n), of n events between the two so far."""

    def raw(self, rows: Table) -> Array:
        found: Array = -rows[:, _PAIR].astype(np.float64)
        return found


@kinds.register("sudden")
class Sudden(Unfamiliar):
    """−log((r_week + 1) / (r_hour + 1)), by counts of the source that fade within a week and within an hour.

    0, which is the most, where all that it did within the week it did just now: somebody new, somebody who was away, or a burst.
    """

    def raw(self, rows: Table) -> Array:
        found: Array = rows[:, _HOUR].astype(np.float64) - rows[:, _SOURCE]
        return found
