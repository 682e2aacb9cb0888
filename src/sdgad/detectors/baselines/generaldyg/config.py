"""Options of GeneralDyG."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sdgad.configuration import option
from sdgad.detectors.config import MOST_HISTORY
from sdgad.detectors.learned.training_config import TrainingConfig
from sdgad.detectors.ranges import Ranges
from sdgad.encoders.base import MOST_LAYERS, EncoderConfig
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import WindowShape

MOST_EDGES = 1000  # every one looks at every other

PAPER: Mapping[str, Any] = {
    "context": False, "history": 26, "hop": 26, "edges": 64, "width": 128, "time_width": 100, "layers": 2, "heads": 4,
    "depth": 6, "feed": 258, "dropout": 0.4, "head": (), "head_dropout": 0.0, "batch": 128, "epochs": 200, "patience": 10,
    "learning_rate": 1e-4, "weight_decay": 0.0, "average": 0.0,
}  # fmt: skip
"""Sizes and rates of the published code, which caps neighbourhoods at 26 nodes; it has no time encoding and no bound on edges."""


@dataclass(frozen=True)
class GeneralDyGConfig(TrainingConfig):
    """Ego-graph, networks on it, head and training."""

    history: int = option(10, "L, past events per endpoint: its neighbours in an ego-graph")
    hop: int = option(10, "events of each neighbour among which those with another neighbour are found")
    reach: int = option(1 << 16, "latest events of the stream among which those of a neighbour are found")
    edges: int = option(32, "edges of an ego-graph, at most: the newest")
    width: int = option(32, "width of the vectors of nodes and edges")
    time_width: int = option(16, "cosines that encode the time since an event")
    layers: int = option(2, "layers of the graph network, each on nodes and then on edges")
    heads: int = option(4, "heads of the transformer")
    depth: int = option(6, "how often the one layer of the transformer is applied")
    feed: int = option(64, "width inside the transformer's feed-forward network")
    dropout: float = option(0.1, "share of inner values that training leaves out at random")
    head: tuple[int, ...] = option((64,), "widths of the hidden layers of the head")

    paper: ClassVar[Mapping[str, Any]] = PAPER
    ranges: ClassVar[Ranges] = (
        *TrainingConfig.ranges,
        (("reach", "width", "time_width", "heads", "feed"), 1, math.inf),
        (("hop",), 1, MOST_HISTORY),
        (("edges",), 1, MOST_EDGES),
        (("depth",), 1, MOST_LAYERS),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(width < 1 for width in self.head):
            raise InputError(f"Option head={self.head} must hold widths of at least 1.")
        if self.width % self.heads:
            raise InputError(f"Option width={self.width} must be a multiple of heads={self.heads}.")
        self.encoder_config()

    @property
    def vector_width(self) -> int:
        return self.width

    def encoder_config(self) -> EncoderConfig:
        """Sizes that it shares with any encoder."""
        return EncoderConfig(
            width=self.width,
            time_width=self.time_width,
            layers=self.layers,
            heads=self.heads,
            dropout=self.dropout,
        )

    def needs(self, shape: WindowShape) -> Needs:  # noqa: ARG002
        """Events between neighbours, as they are now."""
        return Needs(hop=self.hop, at="root", reach=self.reach)
