"""Results of several seeds as the tables of the field have them: mean ± std, in percent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdgad.errors import InputError
from sdgad.metrics.intervals import Interval, need_level
from sdgad.metrics.labelled import labelled
from sdgad.metrics.mean_over_seeds import ScoredRows, mean_over_seeds
from sdgad.metrics.resampling import AT_CHANCE, Cells, measured, need_metric


@dataclass(frozen=True)
class MeanStd:
    """Mean and sample standard deviation (n − 1) of one metric; the std of one seed is None, for it is unknown.

    The std says how much seeds differ, and not how sure the mean is: for that, see `interval_over_seeds`.
    """

    mean: float
    std: float | None
    seeds: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> MeanStd | None:
        """Of the seeds in which the metric was defined; None where it never was."""
        known = [value for value in values if value is not None]
        if not known:
            return None
        std = float(np.std(known, ddof=1)) if len(known) > 1 else None
        return cls(float(np.mean(known)), std, len(known))

    def percent(self, decimals: int = 2) -> str:
        """`80.36 ± 0.69`."""
        mean = f"{100 * self.mean:.{decimals}f}"
        return mean if self.std is None else f"{mean} ± {100 * self.std:.{decimals}f}"


def over_seeds(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `evaluate` says for several seeds → the same keys with a `MeanStd` or None each; `by_type` keeps its types.

    Left out are what is no number (notes) and the threshold table. A type that some seeds lack counts in the others.
    """
    if not results:
        raise InputError("There are no results to take the mean of.")
    table: dict[str, Any] = {
        key: MeanStd.of(result.get(key) for result in results)
        for key in _keys(results)
        if all(_is_number(result.get(key)) for result in results)
    }
    types = [result["by_type"] for result in results if result.get("by_type") is not None]
    if types:
        table["by_type"] = {
            name: over_seeds([found[name] for found in types if name in found]) for name in _keys(types)
        }
    return table


def interval_over_seeds(
    scored: Iterable[tuple[Any, Any]],
    metric: str = "auroc",
    *,
    thresholds: Sequence[float] | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """Interval of the mean of a metric over (label, score), one per seed; None where one has a single class only."""
    need_level(level)
    pairs = [labelled(label, score) for label, score in scored]
    if not pairs:
        raise InputError("There are no results to take the mean of.")
    need_metric(metric, None if thresholds is None else thresholds[0])
    if any(not (rows.anomalies and rows.normals) for rows in pairs):
        return None
    cuts = [None] * len(pairs) if thresholds is None else list(thresholds)
    if len(cuts) != len(pairs):
        raise InputError(f"There are {len(pairs)} scores but {len(cuts)} thresholds.")
    streams = [ScoredRows(rows, (Cells.cut(rows, at),)) for rows, at in zip(pairs, cuts, strict=True)]
    nothing = AT_CHANCE.get(metric, 0.0)
    mean = mean_over_seeds(
        streams, lambda tallies: measured(metric, tallies[0]), nothing, resamples, level, seed
    )
    return Interval(max(0.0, mean.value - mean.half), min(1.0, mean.value + mean.half))


def _keys(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """All keys, in the order of their first appearance."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _is_number(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
