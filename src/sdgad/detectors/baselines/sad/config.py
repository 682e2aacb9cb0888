"""Options of SAD."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sdgad.configuration import option
from sdgad.detectors.learned.training_config import TrainingConfig
from sdgad.detectors.ranges import TINY, Ranges
from sdgad.encoders.base import EncoderConfig
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import WindowShape

MOST_BANK = 1_000_000  # every event of a step is compared with it

PAPER: Mapping[str, Any] = {
    "context": False, "history": 20, "hop": 20, "width": 128, "time_width": 128, "heads": 2, "head": (1024, 1024, 128),
    "head_dropout": 0.2, "batch": 256, "epochs": 10, "patience": 10, "learning_rate": 5e-4, "weight_decay": 0.0, "average": 0.0,
}  # fmt: skip
"""Sizes and rates of the published code. It has no early stopping: a patience of all ten epochs is the same."""


@dataclass(frozen=True)
class SADConfig(TrainingConfig):
    """Subgraph, head, deviation, contrast and training."""

    hop: int = option(5, "events of each neighbour in a subgraph, at most as many as of an endpoint")
    reach: int = option(1 << 16, "latest events of the stream among which those of a neighbour are seen")
    width: int = option(32, "width of an endpoint's vector")
    time_width: int = option(16, "cosines that encode the time since an event")
    heads: int = option(2, "heads of the attention in a subgraph")
    head: tuple[int, ...] = option((64,), "widths of the hidden layers of the classifier")
    bank: int = option(5000, "scores and times of events that the memory bank holds")
    drawn: float = option(0.4, "share of the bank that a step compares with")
    margin: float = option(5.0, "how many standard deviations an anomaly has to lie above the bank")
    deviation: float = option(0.1, "weight of the deviation loss")
    contrast: float = option(5e-3, "weight of the contrast between pseudo-labels")
    temperature: float = option(0.5, "of the contrast")
    drop_edges: float = option(0.2, "share of a subgraph's past events that its other view leaves out")

    paper: ClassVar[Mapping[str, Any]] = PAPER
    ranges: ClassVar[Ranges] = (
        *TrainingConfig.ranges,
        (("hop", "reach", "width", "time_width", "heads"), 1, math.inf),
        (("bank",), 2, MOST_BANK),
        (("drawn", "temperature"), TINY, math.inf),
        (("margin", "deviation", "contrast"), 0, math.inf),
        (("drop_edges",), 0, 1 - TINY),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(width < 1 for width in self.head):
            raise InputError(f"Option head={self.head} must hold widths of at least 1.")
        if self.width % self.heads:
            raise InputError(f"Option width={self.width} must be a multiple of heads={self.heads}.")
        if self.hop > self.history:
            raise InputError(f"Option hop={self.hop} must be at most history={self.history}.")
        if self.drawn > 1:
            raise InputError(f"Option drawn={self.drawn} must be above 0 and at most 1.")

    @property
    def vector_width(self) -> int:
        return self.width

    def encoder_config(self) -> EncoderConfig:
        """Sizes of the encoder of subgraphs."""
        return EncoderConfig(width=self.width, time_width=self.time_width, heads=self.heads, dropout=0.0)

    def needs(self, shape: WindowShape) -> Needs:  # noqa: ARG002
        """Neighbours as they are now; the bank asks when an event happened."""
        return Needs(hop=self.hop, at="root", reach=self.reach, time=True)
