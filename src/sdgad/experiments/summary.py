"""Results of several seeds in one line of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sdgad.errors import InputError
from sdgad.experiments.result import Result
from sdgad.metrics.intervals import Interval
from sdgad.metrics.over_seeds import MeanStd, interval_over_seeds, over_seeds

PAPERS_THRESHOLD = 0.5


@dataclass(frozen=True)
class Summary:
    """Mean ± std over seeds; `interval` is that of the mean AUROC and AP, events and seeds both taken into account.

    `f1` is at the calibrated threshold, `f1_at_half` at 0.5 as in the paper's tables; `oracle_f1` is at the threshold that is
    best on the test labels, and stands apart.
    """

    detector: str
    setting: str
    seeds: int
    auroc: MeanStd | None
    ap: MeanStd | None
    f1: MeanStd | None
    f1_at_half: MeanStd | None
    oracle_f1: MeanStd | None
    interval: dict[str, Interval | None]
    by_type: dict[str, dict[str, MeanStd | None]]
    seconds: dict[str, float]

    @classmethod
    def of(cls, results: Sequence[Result]) -> Summary:
        if not results:
            raise InputError("There are no results to sum up.")
        first = results[0]
        if any(_origin(result) != _origin(first) for result in results):
            raise InputError("Results to sum up must come from one detector, with one protocol.")
        table = over_seeds([result.metrics for result in results])
        scored = [(result.answers.label, result.scores) for result in results]
        resamples = max(int(result.protocol.get("resamples", 1000)) for result in results)
        return cls(
            detector=first.detector,
            setting=first.setting,
            seeds=len(results),
            auroc=table["auroc"],
            ap=table["ap"],
            f1=table["f1"],
            f1_at_half=MeanStd.of(_f1_at(result, PAPERS_THRESHOLD) for result in results),
            oracle_f1=MeanStd.of(result.oracle.f1 if result.oracle else None for result in results),
            interval={
                name: interval_over_seeds(scored, name, resamples=resamples) for name in ("auroc", "ap")
            },
            by_type=table.get("by_type", {}),
            seconds={
                name: sum(result.seconds.get(name, 0.0) for result in results) / len(results)
                for name in ("fit", "score")
            },
        )

    HEADER = (
        "method",
        "setting",
        "seeds",
        "AUROC",
        "95%",
        "AP",
        "F1",
        "F1 at 0.5",
        "oracle F1",
        "AUROC by type",
    )

    def cells(self) -> list[str]:
        """The columns of `HEADER`, in percent."""
        found = self.interval["auroc"]
        types = [f"{name} {_percent(values['auroc'])}" for name, values in self.by_type.items()]
        return [
            self.detector,
            self.setting,
            str(self.seeds),
            _percent(self.auroc),
            "–" if found is None else f"{100 * found.low:.1f}…{100 * found.high:.1f}",
            _percent(self.ap),
            _percent(self.f1),
            _percent(self.f1_at_half),
            _percent(self.oracle_f1),
            ", ".join(types) or "–",
        ]

    def __str__(self) -> str:
        named = zip(self.HEADER[3:], self.cells()[3:], strict=True)
        return f"{self.detector} {self.setting}: " + "   ".join(f"{name} {cell}" for name, cell in named)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _origin(result: Result) -> tuple[Any, ...]:
    """Which row of a table a result belongs to; how often events are resampled changes nothing about that."""
    rules = {name: value for name, value in result.protocol.items() if name != "resamples"}
    return result.detector, result.setting, rules


def _percent(value: MeanStd | None) -> str:
    return "–" if value is None else value.percent()


def _f1_at(result: Result, threshold: float) -> float | None:
    rows = [row for row in result.metrics["threshold_table"] if row["threshold"] == threshold]
    return rows[0]["f1"] if rows else None
