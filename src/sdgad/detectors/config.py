"""Options that every detector has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sdgad.detectors.device import choose_device
from sdgad.errors import InputError
from sdgad.history.index import Ties
from sdgad.history.retention import Retention

Late = Literal["score", "drop", "error"]
AT_ONCE = {"late", "device", "max_nodes", "max_age"}  # options that ask for no new fit


@dataclass(frozen=True)
class DetectorConfig:
    """Options that every detector has."""

    seed: int = 0
    ties: Ties = "strict"
    late: Late = "score"
    device: str = "auto"
    max_nodes: int | None = None  # how much is remembered: see `Retention`
    max_age: float | None = None  # seconds

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError(f"Option seed={self.seed} must be at least 0.")
        choose_device(self.device)
        _ = self.retention

    @property
    def retention(self) -> Retention:
        return Retention(self.max_nodes, self.max_age)
