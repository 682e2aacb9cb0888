"""Events and a detector's scores, as the report looks at them: raw ids, features as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from sdgad.detectors.base import Detector
from sdgad.detectors.explaining.findings import Findings
from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream, FeatureColumn
from sdgad.experiments.scored import ScoredStream

LISTED = 6  # features that fit beside an alert
TOO_MANY = 24  # of so many, a few would tell nothing: they are numbers of a text or an image
LEARNED_BOUNDARY = 0.5


@dataclass(frozen=True)
class TextColumn(Sequence[str]):
    """A column in which only the rows that are looked at become text."""

    values: Any
    text: Callable[[Any], str]

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Array) -> TextColumn:
        """Some rows of it."""
        return TextColumn(self.values.take(rows), self.text)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        values = self.values[row]
        return TextColumn(values, self.text) if isinstance(row, slice) else self.text(values)


def scored_events(
    events: EventStream,
    scores: Array,
    detector: Detector,
    findings: Findings | None = None,
    ids: Mapping[str, TextColumn] | None = None,
) -> ScoredStream:
    """The events that have a score; those without one (NaN) came too late for the detector.

    `findings` tell why, for those rows that are looked at; `ids` name them, in the order of the stream.
    """
    kept = np.flatnonzero(~np.isnan(scores))
    if len(events) and not len(kept):
        raise InputError(
            f"All {len(events)} rows are older than the model's history, so none has a score to report."
        )
    score = scores[kept]
    # only SDGAD's own score has its boundary at one half; other detectors have other scales
    calibrated = getattr(detector.config, "score", None) == "calibrated"
    return ScoredStream(
        t=events.t[kept],
        clock=events.clock,
        source=TextColumn(events.vocabulary.raw(events.src[kept]), str),
        destination=TextColumn(events.vocabulary.raw(events.dst[kept]), str),
        score=score,
        threshold=detector.threshold_,
        threshold_rule=detector.threshold_rule_,
        boundary=LEARNED_BOUNDARY if calibrated else None,
        label=events.label[kept],
        anomaly_type=None if events.anomaly_type is None else events.anomaly_type[kept],
        p_value=detector.p_value(score),
        details=_details(events, kept),
        ids={name: column.take(kept) for name, column in (ids or {}).items()},
        row=events.row[kept],
        why=None if findings is None else TextColumn(kept, lambda row: str(findings.explanations([row])[0])),
    )


def listed_features(events: EventStream) -> tuple[FeatureColumn, ...]:
    """The features that are listed with an alert: the first few, or none of very many."""
    return () if len(events.features) > TOO_MANY else events.features[:LISTED]


def feature_text(feature: FeatureColumn, values: Array) -> TextColumn:
    """Categories by their names, numbers with as many decimals as the whole column needs; a missing value is empty."""
    categories = feature.categories
    if categories is not None:
        return TextColumn(values, lambda code: "" if np.isnan(code) else categories[int(code)])
    style = _number_style(values[np.isfinite(values)])
    return TextColumn(values, lambda value: "" if np.isnan(value) else format(float(value), style))


def _details(events: EventStream, rows: Array) -> dict[str, TextColumn]:
    if events.msg is None:
        return {}
    shown = enumerate(listed_features(events))
    return {feature.name: feature_text(feature, events.msg[rows, j]) for j, feature in shown}


def _number_style(values: Array) -> str:
    """Fixed decimals where at most three say all that float32 knows, else four digits."""
    exact = values.astype(np.float64)
    if len(exact) and np.abs(exact).max() < 1e7:
        for decimals in range(4):
            if np.array_equal(np.round(exact, decimals).astype(np.float32), values):
                return f".{decimals}f"
    return ".4g"
