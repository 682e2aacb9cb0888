"""The native granularity of times, and how round they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdgad.events.clock import Clock
from sdgad.events.stream import Array

_DECIMALS = 6  # beyond these, times are continuous
_ROUND_SECONDS = (1, 10, 60, 600, 3600, 86400)
_EXACT = 2**53  # whole numbers that a float64 can hold


@dataclass(frozen=True)
class Grid:
    """Times are `origin + n · step`; a ladder of coarser steps, each a multiple of the one before, says how round one is.

    `step` is None for times without a grid; `tick` is the smallest difference that matters, in either case.
    """

    step: float | None
    origin: float
    tick: float
    ladder: tuple[float, ...]
    decimals: int

    @classmethod
    def of(cls, t: Array, clock: Clock) -> Grid:
        """The coarsest grid that all times lie on: the greatest common divisor of their differences."""
        distinct = np.unique(t)
        for decimals in range(_DECIMALS + 1):
            scale = 10.0**decimals
            whole = np.rint(distinct * scale)
            if np.abs(whole).max(initial=0) >= _EXACT:
                break
            if np.array_equal(whole / scale, distinct):
                common = int(np.gcd.reduce(np.diff(whole).astype(np.int64))) if len(whole) > 1 else 1
                origin = int(whole[0]) % common
                ladder = _ladder(common, decimals, clock) if origin == 0 else (common / scale,)
                return cls(common / scale, origin / scale, common / scale, ladder, decimals)
        gaps = np.diff(distinct)
        return cls(None, 0.0, float(gaps.min()) if len(gaps) else 1.0, (), _DECIMALS)

    def roundness(self, t: Array) -> Array:
        """The highest rung of the ladder that divides each time; 0 without a grid."""
        rung = np.zeros(len(t), np.int64)
        for height, step in enumerate(self.ladder):
            ratio = t / step
            rung[np.abs(ratio - np.rint(ratio)) < 1e-6] = height
        return rung

    def down(self, t: Array) -> Array:
        """Times moved back to the grid."""
        if self.step is None:
            return t
        return self._exact(np.floor((t - self.origin) / self.step + 1e-9) * self.step + self.origin)

    def near(self, t: float, rung: int) -> float:
        """A time close to t that is as round as the rung says, and no rounder."""
        if self.step is None:
            return t
        step = self.ladder[rung] if rung < len(self.ladder) else self.step
        count = round((t - self.origin) / step)
        if rung + 1 < len(self.ladder) and count % round(self.ladder[rung + 1] / step) == 0:
            count += 1
        return float(self._exact(np.array(count * step + self.origin)))

    def _exact(self, t: Array) -> Array:
        """Without the last bits that a product leaves behind."""
        return np.round(t, self.decimals)


def _ladder(common: int, decimals: int, clock: Clock) -> tuple[float, ...]:
    """Steps in units of `t`, each a multiple of the one before: the grid's own, decimal ones, then those of a clock."""
    scale = 10**decimals
    decimal = [10**place for place in range(decimals)]
    clockwise = [
        round(seconds / clock.seconds * scale) for seconds in _ROUND_SECONDS if seconds >= clock.seconds
    ]
    steps = [common]
    for step in sorted({*decimal, *clockwise}):
        if step > steps[-1] and step % steps[-1] == 0:
            steps.append(step)
    return tuple(step / scale for step in steps)
