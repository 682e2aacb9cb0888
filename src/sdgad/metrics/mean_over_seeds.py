"""A mean over several seeds or streams, and how sure it is: events vary, and so do seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdgad.metrics.intervals import student
from sdgad.metrics.labelled import Labelled
from sdgad.metrics.resampling import Cells, Tally, Values, observed, resampled

Measure = Callable[[Sequence[Tally]], Values]  # of the tallies of a stream's scores


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The labelled rows of a stream, cut by each of its scores."""

    rows: Labelled
    cuts: tuple[Cells, ...]

    @property
    def rarer(self) -> int:
        """Events of the rarer class."""
        return min(self.rows.anomalies, self.rows.normals)

    def value(self, measure: Measure) -> float:
        """What is measured on the rows as they are."""
        return float(measure([observed(self.rows.anomaly, cells) for cells in self.cuts])[0])


@dataclass(frozen=True)
class Mean:
    """A mean, and half the width of its interval."""

    value: float
    half: float


def mean_over_seeds(
    streams: Sequence[ScoredRows], measure: Measure, nothing: float, resamples: int, level: float, seed: int
) -> Mean:
    """The mean of what is measured on each stream, ± √(t²W + u²B).

    W is the variance of the mean under resampling of events. Streams with the same labels are the same events and are
    resampled together: five seeds on one test part do not make it five test parts. B = max(0, S² − S²_W)/streams is what the
    spread S² of the streams' values has beyond what resampling makes of it. Student's quantiles are t for as many anomalies
    and u for as many streams as there are; the interval is never narrower than u √(S²/streams), Student's own: of two or three
    seeds that differ it is wide, as it must be. One stream says nothing of other seeds.

    W counts one imagined anomaly more, which contributes `nothing`: otherwise two anomalies that agree would be proof.
    """
    values = np.array([stream.value(measure) for stream in streams])
    mean = float(np.mean(values))
    drawn = np.empty((resamples, len(streams)))
    rarer = 0
    for number, group in enumerate(_same_events(streams)):
        rarer += streams[group[0]].rarer
        drawn[:, group] = _resampled([streams[i] for i in group], measure, resamples, (seed, number))
    within = float(np.var(np.mean(drawn, 1))) * rarer / (rarer + 1) + ((mean - nothing) / (rarer + 1)) ** 2
    half = student(level, rarer) * math.sqrt(within)
    if len(streams) > 1:
        spread = float(np.var(values, ddof=1))
        beyond = max(0.0, spread - float(np.mean(np.var(drawn - values, 1, ddof=1))))
        u = student(level, len(streams) - 1) / math.sqrt(len(streams))
        half = max(math.hypot(half, u * math.sqrt(beyond)), u * math.sqrt(spread))
    return Mean(mean, half)


def _same_events(streams: Sequence[ScoredRows]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for i, stream in enumerate(streams):
        groups.setdefault(stream.rows.anomaly.tobytes(), []).append(i)
    return list(groups.values())


def _resampled(
    streams: Sequence[ScoredRows], measure: Measure, resamples: int, seed: tuple[int, int]
) -> NDArray[np.float64]:
    """`[resamples, streams]` for streams that share their events."""
    cuts = [cells for stream in streams for cells in stream.cuts]
    each = len(streams[0].cuts)
    chunks = [
        np.stack([measure(tallies[i : i + each]) for i in range(0, len(tallies), each)], 1)
        for tallies in resampled(streams[0].rows.anomaly, cuts, resamples, seed)
    ]
    return np.concatenate(chunks)
