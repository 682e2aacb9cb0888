"""What the numbers in the time column mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from sdgad.errors import InputError

SECONDS_PER_UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
EARLIEST, LATEST = -62_135_500_000.0, 253_402_200_000.0  # seconds since 1970, of the years 1 to 9999
WALL = (631_152_000, 4_102_444_800)  # seconds since 1970 that look like a wall clock: 1990 to 2100
FARTHEST = 1e12  # seconds from 1970 that a time may be: 30,000 years


@dataclass(frozen=True)
class Clock:
    """`t` counts `unit`s; on a wall clock it counts from 1970-01-01 UTC, and `timezone` is where the people live.

    `offsets` says whether dates in the source named their offset from UTC (None: they were numbers).
    """

    unit: str = "s"
    wall_clock: bool = False
    timezone: str = "UTC"
    offsets: bool | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.unit not in SECONDS_PER_UNIT:
            raise InputError(f"Time unit {self.unit!r} is not one of {', '.join(SECONDS_PER_UNIT)}.")
        if not known_zone(self.timezone):
            raise InputError(
                f"There is no time zone {self.timezone!r}; zones have names like 'Europe/Berlin'."
            )

    def need_sane(self, *times: float) -> None:
        """Times that it can show: on a wall clock they are of years that a calendar has."""
        if self.wall_clock and any(not EARLIEST <= t * self.seconds <= LATEST for t in times):
            raise ValueError("a time lies outside of the calendar")

    @property
    def seconds(self) -> float:
        """Seconds per unit of `t`."""
        return SECONDS_PER_UNIT[self.unit]

    def holds(self, t: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Which numbers are times: finite, within what an int64 holds, on a wall clock within 30,000 years.

        The smallest int64, which stands for "not a time", is none; nor is one whose distance from the others would
        not fit into an int64.
        """
        if self.wall_clock:
            return np.asarray(np.abs(t.astype(np.float64)) <= min(FARTHEST / self.seconds, 2.0**63))
        if np.issubdtype(t.dtype, np.floating):
            return np.asarray(np.abs(t) < 2.0**63)
        held = np.asarray(t > np.iinfo(np.int64).min)
        if held.any() and int(t.max()) - int(t[held].min()) >= 2**63:
            held &= np.abs(t - np.median(t[held])) <= 2.0**62
        return held

    @classmethod
    def guess(cls, t: np.ndarray) -> Clock:
        """Numeric times that look like epoch seconds, milli-, micro- or nanoseconds (1990 to 2100) are a wall clock."""
        if len(t):
            for unit in ("s", "ms", "us", "ns"):
                low, high = (second / SECONDS_PER_UNIT[unit] for second in WALL)
                if low <= t[0] and t[-1] <= high:
                    return cls(unit=unit, wall_clock=True)
        return cls()


def known_zone(name: str) -> bool:
    """Whether a time zone has this name."""
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return False
    return True
