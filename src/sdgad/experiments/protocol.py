"""Protocol: how a number is made. What is injected where, which labels a method may see, where the threshold comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from sdgad.calibration.threshold import DEFAULT_SHARE
from sdgad.errors import InputError
from sdgad.events.injection import inject
from sdgad.events.injection.inject import PRESETS
from sdgad.events.joining import join
from sdgad.events.stream import Array, EventStream
from sdgad.experiments.answers import Answers
from sdgad.experiments.settings import SETTINGS
from sdgad.experiments.trial import Trial

Parts = tuple[EventStream, EventStream, EventStream]
Rates = Mapping[str, Mapping[str, float]]

PARTS = ("train", "val", "test")
PAPER_RATES: Rates = MappingProxyType(
    {"train": {"T": 0.001}, "val": {"T": 0.001}, "test": {"T": 0.0005, "S": 0.0005}}
)
"""The paper's (appendix on data preprocessing): S is met in the test part for the first time."""


@dataclass(frozen=True)
class Protocol:
    """The paper's evaluation: 40/20/40 in order of time, setting S1, S2 or S3, anomalies injected where there are none.

    `rates` says, per part (train, val, test) and kind, which share of its events is injected. None means the paper's
    rates for a stream without an anomaly of its own, and no injection for any other; `{}` means no injection at all. `preset`
    and `salience` are those of `inject`. In S2, `k` training anomalies keep their label. In S3, and where validation has no
    anomaly, the threshold is the score that a `share` of the validation events reach. `resamples` is for intervals.
    """

    setting: Literal["S1", "S2", "S3"] = "S1"
    k: int = 3
    train: float = 0.4
    val: float = 0.2
    rates: Rates | None = None
    preset: Literal["clean", "paper"] = "clean"
    salience: float | Mapping[str, float] = 1.0
    share: float = DEFAULT_SHARE
    resamples: int = 1000

    def __post_init__(self) -> None:
        if self.setting not in SETTINGS:
            raise InputError(f"Setting {self.setting!r} is not one of {', '.join(SETTINGS)}.")
        if self.k < 1:
            raise InputError(f"k={self.k}: a few-shot setting keeps at least one labelled anomaly.")
        if not (self.train > 0 and self.val > 0 and self.train + self.val < 1):
            raise InputError(
                f"Shares train={self.train} and val={self.val} must be positive and leave something to the test part."
            )
        for part, kinds in (self.rates or {}).items():
            if part not in PARTS:
                raise InputError(f"There is no part {part!r} to inject into; there are: {', '.join(PARTS)}.")
            if not isinstance(kinds, Mapping):
                raise InputError(f"rates[{part!r}] is {kinds!r}; it must name kinds, like {{'T': 0.001}}.")
        if self.preset not in PRESETS:
            raise InputError(
                f"There is no preset {self.preset!r} to inject by; there are: {', '.join(PRESETS)}."
            )
        if not 0 < self.share < 1:
            raise InputError(f"share={self.share}: a share of events lies between 0 and 1.")
        if self.resamples < 1:
            raise InputError(f"resamples={self.resamples} must be at least 1.")

    @classmethod
    def paper(cls, setting: Literal["S1", "S2", "S3"] = "S1", k: int = 3) -> Protocol:
        """As published, injection included; `sdgad data audit` tells what gives such anomalies away."""
        return cls(setting, k, preset="paper")

    def parts(self, events: EventStream, seed: int = 0) -> Parts:
        """Train, validation and test part with their anomalies and all labels: for looking at, not for detectors.

        Each part is injected by itself, within its own time range and with a seed of its own, so that an injected event
        belongs to its part. As published, pairs of this training part count as observed, whatever its share. What came
        before `events`, if it is a part of a longer stream, is left out.
        """
        if seed < 0:
            raise InputError(f"seed={seed}: a seed is not negative.")
        parts = join([events]).split(self.train, self.val)
        rates = self._rates(events)
        observed = (None, parts[0], parts[0]) if self.preset == "paper" else (None, None, None)
        injected = [
            inject(
                part,
                rates.get(name, {}),
                seed=3 * seed + i,
                reference=observed[i],
                preset=self.preset,
                salience=self.salience,
            )
            if rates
            else part
            for i, (name, part) in enumerate(zip(PARTS, parts, strict=True))
        ]
        first, second = np.cumsum([len(part) for part in injected[:2]]).tolist()
        joined = join(injected)
        return joined[:first], joined[first:second], joined[second:]

    def trial(self, events: EventStream, seed: int = 0) -> Trial:
        """What a method gets to see of the events, and the answers that it does not: one injection, one choice of labels."""
        train, val, test = self.parts(events, seed)
        answers = Answers.of(test)
        for count, what in (
            (answers.anomalies, "anomaly"),
            (answers.normals, "event that is known to be normal"),
        ):
            if not count:
                raise InputError(
                    f"The test part of {len(test)} events has no {what}, so that nothing can be measured on it."
                )
        setting = SETTINGS[self.setting]
        label = np.concatenate(
            [
                train.with_labels(setting.train, self.k, seed).label,
                val.with_labels(setting.val).label,
                np.full(len(test), np.nan, np.float32),
            ]
        )
        ends = (len(train), len(train) + len(val), len(label))
        train, val, test = _masked(test.whole, label, ends)
        return Trial(self, seed, train, val, test, answers)

    def to_dict(self) -> dict[str, Any]:
        """All options, for JSON."""
        rates = None if self.rates is None else {part: dict(kinds) for part, kinds in self.rates.items()}
        salience = dict(self.salience) if isinstance(self.salience, Mapping) else self.salience
        options = {option.name: getattr(self, option.name) for option in fields(self)}
        return {**options, "rates": rates, "salience": salience}

    def _rates(self, events: EventStream) -> Rates:
        if self.rates is not None:
            return self.rates
        return {} if (events.label == 1).any() else PAPER_RATES


def _masked(whole: EventStream, label: Array, ends: Sequence[int]) -> list[EventStream]:
    """The parts that end there, with these labels and no types; none holds, or leads to, an event later than its own."""
    parts, start = [], 0
    for end in ends:
        seen = whole.with_rows(
            src=whole.src[:end].copy(),
            dst=whole.dst[:end].copy(),
            t=whole.t[:end].copy(),
            msg=None if whole.msg is None else whole.msg[:end].copy(),
            label=label[:end].copy(),
            anomaly_type=None,
        )
        parts.append(seen[start:])
        start = end
    return parts
