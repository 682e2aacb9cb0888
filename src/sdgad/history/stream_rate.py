"""How busy the whole stream is: decayed counts of all events, and when the last one was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sdgad.history.context import RATE_SCALES
from sdgad.history.entering import Entering
from sdgad.history.recurrence import linear_recurrence
from sdgad.history.state import Array, FewValues

SCALES = np.array(RATE_SCALES)
SHORT = 64  # events for which a plain loop is faster


class StreamRate(FewValues[Entering]):
    """S_i = 1 + S_{i−1} · exp(−gap_i / scale), at an hour, a day and a week; `time` is that of the last event."""

    values: ClassVar[tuple[str, ...]] = ("time", "rate")

    def __init__(self) -> None:
        self.time = 0.0
        self.rate: Array = np.zeros(len(SCALES))

    def before(self, t: Array, seconds: Array, *, strict: bool) -> tuple[Array, Array]:
        """Time of the last event that each of the next events may see, and the rate just after it."""
        count = len(t)
        if count == 1 or (strict and t[0] == t[-1]):
            return np.full(count, self.time), np.tile(self.rate, (count, 1))
        times = np.append(self.time, seconds)
        rates = np.concatenate([self.rate[None], self._after(seconds)])
        seen = np.arange(count)
        if strict:
            seen = np.maximum.accumulate(np.where(np.append(True, t[1:] != t[:-1]), seen, 0))
        return times[seen], rates[seen]

    def enter(self, rows: Entering) -> None:
        self.rate = self._after(rows.seconds)[-1]
        self.time = float(rows.seconds[-1])

    def arrays(self) -> dict[str, Array]:
        return {"stream.rate": self.rate, "stream.time": np.array([self.time])}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.rate, self.time = arrays["stream.rate"].copy(), float(arrays["stream.time"][0])

    def _after(self, seconds: Array) -> Array:
        """`[n, 3]` the rate just after each of the next events."""
        gap = seconds - np.append(self.time, seconds[:-1])
        decay = np.exp(gap[:, None] / -SCALES)
        add: Array = np.ones_like(decay)
        add[0] += decay[0] * self.rate
        if len(gap) <= SHORT:
            for row in range(1, len(gap)):
                add[row] += decay[row] * add[row - 1]
            return add
        start = np.zeros(1, np.int64)
        columns = [linear_recurrence(decay[:, i], add[:, i], start) for i in range(len(SCALES))]
        return np.stack(columns, 1)
