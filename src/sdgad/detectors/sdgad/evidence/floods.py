"""Floods: counts beyond what people do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch

from sdgad.detectors.event_table import Table
from sdgad.detectors.sdgad.evidence.base import Group, Kind, Lesson, kinds
from sdgad.events.stream import Array
from sdgad.history.context import HOUR, NAMES, WEEK

PEOPLE = 1000.0  # nats of surprise that busy people reach: 300 to 1,000 in one of a thousand events
SHARE = 0.02  # of what is beyond, which counts
_AT = [[NAMES.index(f"log rate {end} {span}") for end in ("src", "dst")] for span in ("hour", "week")]


@kinds.register("floods")
class Floods(Kind):
    """max(0, Σ_ends −log P(Poisson(λ) ≥ k) − 1000) / 50, with k = 1 + the hour's decayed count of an endpoint and λ what the
    rest of its week leads to expect of an hour, + 0.5.

    One-sided and absolute: where most events are part of an attack, nothing that is rare is anomalous. Silent where people are
    merely busy.
    """

    group: ClassVar[Group] = "floods"
    absolute: ClassVar[bool] = True

    def fit(self, lesson: Lesson) -> None:
        """There is nothing to learn."""

    def raw(self, rows: Table) -> Array:
        hour, week = (np.expm1(rows[:, places].astype(np.float64)) for places in _AT)
        expected = np.maximum(week - hour, 0.0) * (HOUR / WEEK) + 0.5
        beyond = poisson_surprise(hour + 1.0, expected).sum(1) - PEOPLE
        found: Array = SHARE * np.maximum(beyond, 0.0)
        return found

    def arrays(self) -> dict[str, Array]:
        return {}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """There is nothing to load."""


def poisson_surprise(count: Array, expected: Array) -> Array:
    """−log P(Poisson(λ) ≥ k) for real k ≥ 0: of the regularised lower incomplete gamma function P(k, λ), and far out, where that
    is 0, its leading terms e^{−λ} λ^k / Γ(k + 1) · 1 / (1 − λ / (k + 1))."""
    k, rate = torch.from_numpy(count), torch.from_numpy(expected)
    share = torch.special.gammainc(k, rate)
    far = rate - k * rate.log() + torch.lgamma(k + 1) + torch.log1p(-(rate / (k + 1)).clamp(max=0.9))
    found: Array = torch.where(share > 1e-200, -share.clamp(min=1e-300).log(), far).numpy()
    return found
