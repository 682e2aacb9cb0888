"""Record: what happened in a fit."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sdgad.events.held import number, truth, whole


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
        found = cls(**({} if record is None else record))
        for epoch in found.epochs:
            for name, value in epoch.items():
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise ValueError(f"{name!r} of an epoch is {value!r}")
        for seconds in found.seconds:
            number(seconds, "the seconds of an epoch", low=0)
        whole(found.best_epoch, "best_epoch")
        truth(found.interrupted, "interrupted")
        if not isinstance(found.in_force, dict):
            raise ValueError("in_force is no object")
        return found
