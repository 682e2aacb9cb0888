"""Record: what happened in a fit."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Record:
    """One entry of loss parts and validation figures per epoch, and which epoch was kept; empty where there are no epochs."""

    epochs: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of each epoch, without its validation
    best_epoch: int = 0
    interrupted: bool = False
    in_force: dict[str, Any] = field(
        default_factory=dict
    )  # device, precision, threads; whether a graph was replayed

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any] | None) -> Record:
        """The inverse of `to_json`; empty for a model of an older version."""
        return cls(**(record or {}))
