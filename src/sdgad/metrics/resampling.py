"""Metrics of thousands of resampled streams, from counts: what is sorted once is never sorted again.

A resample draws anomalies from the anomalies and normals from the normals, so that their numbers stay what they are: with
22 anomalies among 24 000 events, drawing from all events together would change their number by a fifth each time, and
average precision and F1 move with it. What is said is then about this rate of anomalies, which the stream has or which
injection has set.

Between two neighbouring anomalies the order of normals changes no metric. So a stream is cut into cells, from the highest
score down: every score that an anomaly has is one, every run of normals between them is one, and a threshold ends one. A
resample is a count of anomalies and of normals per cell; this is exact, and small where anomalies are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import InputError
from sdgad.metrics.labelled import Labelled

Counts = NDArray[np.int64]  # [resamples, cells]
Values = NDArray[np.float64]  # one per resample

HELD = 1 << 18  # counts at a time: few enough for the cache
ROWS_PER_COUNT = 16  # rows that are drawn in the time that one binomial count takes


@dataclass(frozen=True, eq=False)
class Cells:
    """The cell of every row, numbered from the highest score down; the first `flagged` cells reach the threshold."""

    of: NDArray[np.int64]
    count: int
    flagged: int | None

    @classmethod
    def cut(cls, rows: Labelled, threshold: float | None = None) -> Cells:
        if not len(rows):
            return cls(np.zeros(0, np.int64), 0, None if threshold is None else 0)
        order = np.argsort(-rows.score, kind="stable")
        score = rows.score[order]
        starts = np.flatnonzero(np.append(True, score[1:] != score[:-1]))  # of each distinct score
        anomalous = np.add.reduceat(rows.anomaly[order], starts, dtype=np.int64) > 0
        first = anomalous | np.append(True, anomalous[:-1])
        if threshold is not None:
            reached = score[starts] >= threshold
            first |= np.append(False, reached[1:] != reached[:-1])
        begins = np.zeros(len(score), np.int64)
        begins[starts[first]] = 1
        number = np.cumsum(begins) - 1
        of = np.empty_like(number)
        of[order] = number
        flagged = None if threshold is None else int(np.sum(begins[score >= threshold]))
        return cls(of, int(number[-1]) + 1, flagged)


@dataclass(frozen=True, eq=False)
class Tally:
    """Per resample: anomalies and normals of each cell, and the true and false alarms of a threshold at its end."""

    anomalies: Counts
    normals: Counts
    true: Counts
    false: Counts
    flagged: int | None

    @classmethod
    def of(cls, anomalies: Counts, normals: Counts, flagged: int | None) -> Tally:
        return cls(anomalies, normals, np.cumsum(anomalies, 1), np.cumsum(normals, 1), flagged)

    @property
    def totals(self) -> tuple[int, int]:
        """All anomalies and all normals, which no resample changes."""
        return int(self.true[0, -1]), int(self.false[0, -1])

    def alarms(self) -> tuple[Values, Values]:
        """True and false alarms at the threshold."""
        if not self.flagged:
            return np.zeros(len(self.true)), np.zeros(len(self.true))
        last = self.flagged - 1
        return self.true[:, last].astype(np.float64), self.false[:, last].astype(np.float64)


def _auroc(tally: Tally) -> Values:
    anomalies, normals = tally.totals
    doubled: Counts = np.sum(tally.normals * (2 * tally.true - tally.anomalies), 1)
    return doubled / (2 * anomalies * normals)


def _average_precision(tally: Tally) -> Values:
    reached = tally.true + tally.false
    # a cell that nothing was drawn from before has no precision, and gains nothing
    precision = tally.true / np.maximum(reached, 1)
    total: Values = np.sum(tally.anomalies * precision, 1)
    return total / tally.totals[0]


def _best_f1(tally: Tally) -> Values:
    best: Values = np.max(2 * tally.true / (tally.totals[0] + tally.true + tally.false), 1)
    return best


def _f1(true: Values, false: Values, anomalies: int, normals: int) -> Values:  # noqa: ARG001
    return 2 * true / (anomalies + true + false)


def _precision(true: Values, false: Values, anomalies: int, normals: int) -> Values:  # noqa: ARG001
    alarms = true + false
    return np.divide(true, alarms, out=np.zeros_like(alarms), where=alarms > 0)


def _recall(true: Values, false: Values, anomalies: int, normals: int) -> Values:  # noqa: ARG001
    return true / anomalies


def _false_positive_rate(true: Values, false: Values, anomalies: int, normals: int) -> Values:  # noqa: ARG001
    return false / normals


RANKING_METRICS: dict[str, Callable[[Tally], Values]] = {
    "auroc": _auroc,
    "ap": _average_precision,
    "best_f1": _best_f1,  # at the threshold that is best on these very labels
}
AT_CHANCE = {"auroc": 0.5}  # what a metric is worth on anomalies that are not found; 0 for all others
DECISION_METRICS: dict[
    str, Callable[[Values, Values, int, int], Values]
] = {  # of true alarms, false alarms and totals
    "f1": _f1,
    "precision": _precision,
    "recall": _recall,
    "fpr": _false_positive_rate,
}


def need_metric(name: str, threshold: float | None) -> None:
    """The metric is known and, where it needs a threshold, there is one."""
    if name not in RANKING_METRICS and name not in DECISION_METRICS:
        known = ", ".join([*RANKING_METRICS, *DECISION_METRICS])
        raise InputError(f"Metric {name!r} is not one of {known}.")
    if name in DECISION_METRICS and threshold is None:
        raise InputError(f"Metric {name!r} needs a threshold.")


def measured(name: str, tally: Tally) -> Values:
    """A metric of every resample."""
    if name in RANKING_METRICS:
        return RANKING_METRICS[name](tally)
    return DECISION_METRICS[name](*tally.alarms(), *tally.totals)


def observed(anomaly: NDArray[np.bool_], cells: Cells) -> Tally:
    """The stream itself, as a resample in which every row was drawn once."""
    anomalies, normals = (
        np.bincount(cells.of[which], minlength=cells.count)[None] for which in (anomaly, ~anomaly)
    )
    return Tally.of(anomalies, normals, cells.flagged)


def resampled(
    anomaly: NDArray[np.bool_], cuts: Sequence[Cells], resamples: int, seed: int | tuple[int, ...]
) -> Iterator[list[Tally]]:
    """Chunks of resamples; within one, each cut of the same rows counts the same drawn rows."""
    if resamples < 1:
        raise InputError(f"resamples={resamples} must be at least 1.")
    rng = np.random.default_rng(seed)
    classes = [_Draw.of(np.flatnonzero(which), cuts) for which in (anomaly, ~anomaly)]
    at_once = max(1, HELD // max(draw.held for draw in classes))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        anomalies, normals = (draw(size, rng) for draw in classes)
        yield [Tally.of(a, n, cells.flagged) for a, n, cells in zip(anomalies, normals, cuts, strict=True)]


@dataclass(frozen=True, eq=False)
class _Draw:
    """Resampling of one class: rows that share their cell in every cut are counted together."""

    together: NDArray[np.int64]  # group of each row
    sizes: NDArray[np.int64]
    folds: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]]

    @classmethod
    def of(cls, rows: NDArray[np.int64], cuts: Sequence[Cells]) -> _Draw:
        together = np.zeros(len(rows), np.int64)
        for cells in cuts:
            _, together = np.unique(together * cells.count + cells.of[rows], return_inverse=True)
        sizes = np.bincount(together)
        folds = []
        for cells in cuts:
            where = np.empty(len(sizes), np.int64)
            where[together] = cells.of[rows]
            order = np.argsort(where, kind="stable")
            filled, starts = np.unique(where[order], return_index=True)
            folds.append((order, starts, filled, cells.count))
        return cls(together, sizes, folds)

    @property
    def _few_groups(self) -> bool:
        return len(self.sizes) * ROWS_PER_COUNT < len(self.together)

    @property
    def held(self) -> int:
        """Numbers that one resample takes."""
        return max(
            len(self.sizes) if self._few_groups else len(self.together),
            *(count for *_, count in self.folds),
        )

    def __call__(self, size: int, rng: np.random.Generator) -> list[Counts]:
        """Counts per cell of each cut."""
        rows, groups = len(self.together), len(self.sizes)
        if self._few_groups:
            counts = rng.multinomial(rows, self.sizes / rows, size)
        else:
            drawn = self.together[rng.integers(0, rows, (size, rows), dtype=np.int32)]
            drawn += np.arange(size)[:, None] * groups
            counts = np.bincount(drawn.ravel(), minlength=size * groups).reshape(size, groups)
        return [self._folded(counts, *fold) for fold in self.folds]

    @staticmethod
    def _folded(
        counts: Counts,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        filled: NDArray[np.int64],
        cells: int,
    ) -> Counts:
        folded = np.zeros((len(counts), cells), np.int64)
        folded[:, filled] = np.add.reduceat(counts[:, order], starts, axis=1)
        return folded
