"""TADDY (Liu et al., TKDE 2021), natively supervised where there are labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sdgad.configuration import option
from sdgad.detectors.baselines.snapshots.against_negatives import AgainstNegatives, LookBackConfig
from sdgad.detectors.baselines.taddy.network import TaddyNetwork
from sdgad.detectors.baselines.taddy.state import Spreads, TaddyState
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.ranges import TINY, Ranges
from sdgad.detectors.registry import detectors
from sdgad.detectors.task import Task
from sdgad.encoders.base import MOST_LAYERS
from sdgad.errors import InputError

Distance = Literal["both", "nearest"]
MOST_NODES, MOST_LISTED = 1000, 10_000


@dataclass(frozen=True)
class TaddyConfig(LookBackConfig):
    """Substructures, network and training."""

    window: int = option(2, "w, past snapshots that are looked at")
    nodes: int = option(5, "k, nodes around an edge in a snapshot")
    listed: int = option(32, "largest diffusion shares of a node in a snapshot that are kept")
    distance: Distance = option("both", "of a node to both ends of the edge, or to the nearest, as published")
    layers: int = option(2, "of the transformer")
    heads: int = option(2, "of the transformer's attention")
    dropout: float = option(0.5, "on encodings and in the transformer")
    attention_dropout: float = option(0.3, "on attention weights")
    weight_decay: float = option(5e-4, "of AdamW, on matrices")

    ranges: ClassVar[Ranges] = (
        *LookBackConfig.ranges,
        (("nodes",), 1, MOST_NODES),
        (("listed",), 1, MOST_LISTED),
        (("layers",), 1, MOST_LAYERS),
        (("heads",), 1, math.inf),
        (("attention_dropout",), 0, 1 - TINY),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % self.heads:
            raise InputError(f"Option heads={self.heads} must divide the width {self.width}.")


@detectors.register("taddy")
class Taddy(AgainstNegatives):
    """Score of an event (u, v) = σ of a transformer over the nodes around u and v in the last w snapshots.

    In each snapshot the tokens are u, v and the k other nodes x with the largest diffusion S[u, x] + S[v, x]; a token is the sum
    of what its rank, its distance and its snapshot's age stand for, each in a table of its own; no node has an identity. The mean
    of the transformer's outputs gives the log-odds. Loss: cross-entropy of events, with their labels, against as many
    negatives, which have another node in the place of one end and are drawn anew in every epoch.

    What differs from the paper and its code. The last of w snapshots is there the one that the edge is in, later edges of it
    included; here it is the last one before, for training too, and for negatives just as for edges (the code measures their
    distances in a graph of negatives). The event's own edge would change no distance to the nearest end. By that distance
    alone, once it is measured alike for all, two strangers look as two friends do, since each has neighbours: `distance="both"`
    says how far a token is from either end, and so how far the ends were apart. The diffusion is a series over the symmetric
    snapshot, kept as a short list for each node; a rank without diffusion is nobody and is masked; time has a table of its
    own; the mean is over all tokens that are somebody. Events of the first snapshot, before which there is nothing, are not
    learned from.
    """

    config_type: ClassVar[type[DetectorConfig]] = TaddyConfig
    config: TaddyConfig
    check_options: ClassVar[Mapping[str, Any]] = {"snapshot": 40, "epochs": 2, "width": 8, "batch": 64}
    _network: TaddyNetwork
    _known: Spreads | None = None  # while it learns

    def _train(self, task: Task) -> None:
        self._known = {}
        try:
            super()._train(task)
        finally:
            self._known = None

    def _make_network(self) -> TaddyNetwork:
        config = self.config
        return TaddyNetwork(
            config.width,
            config.nodes,
            config.window,
            both=config.distance == "both",
            layers=config.layers,
            heads=config.heads,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
        )

    def _new_state(self) -> TaddyState:
        config = self.config
        return TaddyState(
            self._size, self._network, config.window, config.nodes, config.listed, known=self._known
        )
