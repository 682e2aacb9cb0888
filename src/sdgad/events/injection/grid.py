"""The native granularity of times, and how round they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdgad.events.clock import Clock
from sdgad.events.stream import Array

_DECIMALS = 6  # beyond these, times are continuous
_ROUND_SECONDS = (1, 10, 60, 600, 3600, 86400)
_EXACT, _LARGE = 2**53, 2**62  # whole numbers that a float64 holds exactly, and that an int64 can count with


@dataclass(frozen=True)
class Grid:
    """Times as whole numbers, `scale` of them to a unit, that are `origin` + n · steps[0].

    `steps` is a ladder: each is a multiple of the one before, and the highest that divides a time says how round it
    is. It is empty for times without a grid. `tick` is the smallest difference that matters, in either case.

    Recipes reckon with floats, which cannot hold nanoseconds since 1970. So they count whole times from `zero`, the
    middle of the part; `count` and `restored` translate.
    """

    zero: int
    scale: int
    origin: int
    steps: tuple[int, ...]
    tick: float

    @classmethod
    def of(cls, t: Array, clock: Clock) -> Grid:
        """The coarsest grid that all times lie on: the greatest common divisor of their differences."""
        distinct = np.unique(t)
        if np.issubdtype(t.dtype, np.integer):
            zero = (int(distinct[0]) + int(distinct[-1])) // 2
            return cls._through(distinct - zero, zero, 0, clock)
        for decimals in range(_DECIMALS + 1):
            whole = np.rint(distinct * 10.0**decimals)
            if np.abs(whole).max() >= (_EXACT if decimals else _LARGE):
                break
            if np.array_equal(whole / 10**decimals, distinct):
                return cls._through(whole.astype(np.int64), 0, decimals, clock)
        gaps = np.diff(distinct)
        return cls(0, 1, 0, (), float(gaps.min()) if len(gaps) else 1.0)

    @classmethod
    def _through(cls, whole: Array, zero: int, decimals: int, clock: Clock) -> Grid:
        common = int(np.gcd.reduce(np.diff(whole))) if len(whole) > 1 else 1
        origin = (int(whole[0]) + zero) % common
        steps = _ladder(common, decimals, clock) if origin == 0 else (common,)
        return cls(zero, 10**decimals, origin, steps, common / 10**decimals)

    def count(self, t: Array) -> Array:
        """Times of a stream as recipes reckon with them."""
        return (t - self.zero if np.issubdtype(t.dtype, np.integer) else t).astype(np.float64)

    def restored(self, t: Array, real: Array) -> Array:
        """The times of a recipe as a stream has them; those of its own rows, `real`, to the bit."""
        if not np.issubdtype(real.dtype, np.integer):
            single = np.array_equal(real, real.astype(np.float32))
            return np.clip(t.astype(np.float32).astype(np.float64), real[0], real[-1]) if single else t
        counted = self.count(real)
        place = np.minimum(np.searchsorted(counted, t), len(real) - 1)
        new = np.rint(t).astype(np.int64) + self.zero
        return np.clip(np.where(counted[place] == t, real[place], new), real[0], real[-1])

    def roundness(self, t: Array) -> Array:
        """The highest rung of the ladder that divides each time; 0 without a grid."""
        rung = np.zeros(len(t), np.int64)
        if len(self.steps) > 1:
            whole = np.rint(t * self.scale).astype(np.int64)
            for height, step in enumerate(self.steps):
                rung[whole % step == -self.zero % step] = height
        return rung

    def down(self, t: Array) -> Array:
        """Times moved back to the grid; those on it stay."""
        if not self.steps:
            return t
        fine = t * self.scale
        nearest = np.rint(fine)
        off = np.abs(fine - nearest) > 1e-9 + 4 * np.finfo(np.float64).eps * np.abs(fine)
        whole = np.where(off, np.floor(fine), nearest).astype(np.int64)
        whole -= (whole - (self.origin - self.zero) % self.steps[0]) % self.steps[0]
        return np.asarray(whole / self.scale)

    def near(self, t: float, rung: int) -> float:
        """A time close to t that is as round as the rung says, and no rounder."""
        if not self.steps:
            return t
        step = self.steps[rung]
        number = (2 * (round(t * self.scale) + self.zero - self.origin) + step) // (2 * step)
        if rung + 1 < len(self.steps) and number * step % self.steps[rung + 1] == 0:
            number += 1
        return (number * step + self.origin - self.zero) / self.scale

    def step(self, rung: int) -> float:
        """The difference between times of one rung."""
        return self.steps[rung] / self.scale if self.steps else self.tick


def _ladder(common: int, decimals: int, clock: Clock) -> tuple[int, ...]:
    """Steps in whole numbers, each a multiple of the one before: the grid's own, decimal ones, then those of a clock."""
    scale = 10**decimals
    decimal = [10**place for place in range(decimals)]
    clockwise = [
        round(seconds / clock.seconds * scale) for seconds in _ROUND_SECONDS if seconds >= clock.seconds
    ]
    steps = [common]
    for step in sorted({*decimal, *clockwise}):
        if step > steps[-1] and step % steps[-1] == 0:
            steps.append(step)
    return tuple(steps)
