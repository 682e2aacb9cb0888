"""Options that every detector has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sdgad.configuration import option
from sdgad.detectors.device import choose_device
from sdgad.errors import InputError
from sdgad.events.set_aside import Policy
from sdgad.history.positions import Ties
from sdgad.history.retention import Retention

MOST_HISTORY = 10_000  # past events per endpoint: a batch of Windows holds that many for every event
Late = Literal["score", "drop", "error"]
AT_ONCE = {
    "late",
    "bad_rows",
    "device",
    "max_nodes",
    "max_age",
    "precision",
    "graphs",
}  # options that ask for no new fit


@dataclass(frozen=True)
class DetectorConfig:
    """Options that every detector has."""

    seed: int = option(0, "the same seed, options and events give the same model")
    ties: Ties = option(
        "strict", "events of one time do not see each other, or see those that arrived before"
    )
    late: Late = option(
        "score",
        "events older than the end of the history: score, drop or refuse them; may change after a fit",
    )
    bad_rows: Policy = option(
        "error",
        "events whose time is absurd beside the others and the history: refuse, skip or keep them; may change after a fit",
    )
    device: str = option(
        "auto", "cpu, cuda, or auto, which takes a GPU where there is one; may change after a fit"
    )
    max_nodes: int | None = option(
        None, "nodes to remember, about: the latest ones, or all; may change after a fit"
    )
    max_age: float | None = option(
        None, "seconds of silence after which a node is forgotten, if ever; may change after a fit"
    )

    before: ClassVar[Mapping[str, Any]] = {}
    """What holds in a folder of an older version, which does not name the option."""

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError(f"Option seed={self.seed} must be at least 0.")
        choose_device(self.device)
        _ = self.retention

    @property
    def retention(self) -> Retention:
        return Retention(self.max_nodes, self.max_age)
