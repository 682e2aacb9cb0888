"""AddGraph (Zheng et al., IJCAI 2019), natively supervised where there are labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from sdgad.configuration import option
from sdgad.detectors.baselines.addgraph.margin import margin_loss, source_goes
from sdgad.detectors.baselines.addgraph.network import AddGraphNetwork
from sdgad.detectors.baselines.addgraph.state import AddGraphState
from sdgad.detectors.baselines.snapshots.config import SnapshotConfig
from sdgad.detectors.baselines.snapshots.detector import Part, SnapshotDetector
from sdgad.detectors.baselines.snapshots.negatives import Negatives
from sdgad.detectors.baselines.snapshots.replay import Replay
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.ranges import TINY, Ranges
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import MOST_LAYERS
from sdgad.events.held import ANY, held, whole
from sdgad.events.stream import Array

MOST_WINDOW = 1000


@dataclass(frozen=True)
class AddGraphConfig(SnapshotConfig):
    """Network, margin and training."""

    window: int = option(3, "w, past states of a node that are attended to")
    depth: int = option(3, "commits that gradients go back through")
    layers: int = option(1, "graph convolutions over a snapshot")
    dropout: float = option(0.2, "on the inputs of graph convolutions")
    beta: float = option(3.0, "steepness of the score")
    mu: float = option(0.5, "squared length at which the score is 0.5")
    margin: float = option(0.6, "by which negatives shall score higher")
    selective: bool = option(False, "leave out negatives that score below their edge, after a second draw")
    epochs: int = option(60, "passes over the training snapshots, at most")
    patience: int = option(20, "epochs without a better one, after which training ends")
    learning_rate: float = option(3e-3, "of AdamW")
    average: float = option(
        0.97, "decay of the running average of weights that is validated and kept; 0: none"
    )
    weight_decay: float = option(5e-7, "of AdamW, on matrices")

    ranges: ClassVar[Ranges] = (
        *SnapshotConfig.ranges,
        (("window",), 1, MOST_WINDOW),
        (("layers",), 1, MOST_LAYERS),
        (("depth",), 0, MOST_WINDOW),
        (("beta", "margin"), TINY, math.inf),
        (("mu",), 0, math.inf),
        (("dropout",), 0, 1 - TINY),
    )


@detectors.register("addgraph")
class AddGraph(SnapshotDetector):
    """Score of an event (i, j) = σ(β (‖a ∘ h_i + b ∘ h_j‖² − μ)); h are states of nodes that a graph convolution over every
    snapshot, attention over the last w states and a gated unit move on.

    Loss of a snapshot: mean of max(0, γ + f(i, j) − f(i', j')), where (i', j') has another node in the place of i, with
    probability d_i / (d_i + d_j), or else of j; degrees are those in the snapshot. Labelled anomalies are no edges to learn
    from; they are negatives of all edges of their snapshot, beside the drawn ones.

    What differs from the paper. It scores an edge by H^t, made from the whole snapshot, later edges of it included; here H^t
    of the two ends is made from the states before the snapshot and from the event alone, in training too, where negatives see
    themselves just as edges do. The loss of a snapshot goes back through the last commits (`depth`), or the convolution over
    snapshots would never learn. Its f has the weight of the edge as a factor, which is 1 for an event. λ‖Θ‖² is AdamW's decay
    of weights. One convolution and no selection of negatives are the default: with three, or where pairs that are in the
    wrong order are left out (`selective`, as published), a network that begins by chance has little to learn from, and on
    streams of communities mostly stays there. States of nodes before their first snapshot are drawn by the order in which
    nodes come, as many as training has, and are zero for later ones: who the nodes are need not be known in advance.
    """

    config_type: ClassVar[type[DetectorConfig]] = AddGraphConfig
    config: AddGraphConfig
    check_options: ClassVar[Mapping[str, Any]] = {"snapshot": 40, "epochs": 2, "width": 8}
    _network: AddGraphNetwork
    _nodes: int  # that training has

    def _prepare(self, replay: Replay) -> None:
        self._nodes = replay.trained_nodes

    def _make_network(self) -> AddGraphNetwork:
        config = self.config
        return AddGraphNetwork(
            config.width, config.layers, config.dropout, config.beta, config.mu, self._nodes
        )

    def _new_state(self) -> AddGraphState:
        return AddGraphState(self._size, self._network, self.config.window)

    def _training_state(self) -> AddGraphState:
        return AddGraphState(self._size, self._network, self.config.window, self.config.depth)

    # ------------------------------------------------------------------ learn
    def _losses(
        self, state: SnapshotState, part: Part, negatives: Negatives, generator: torch.Generator
    ) -> dict[str, Tensor]:
        assert isinstance(state, AddGraphState)
        states = state.states_again()
        edges, anomalies = part.node[~part.anomalous], part.node[part.anomalous]
        if not len(edges) or not state.nodes:  # before the first snapshot there is nothing to tell edges by
            return {"margin": 0.0 * self._network.a.sum()}
        made = self._negatives(state, states, part, edges, negatives, generator)
        real, drawn = torch.sigmoid(state.odds_by(states, torch.cat([edges, made]))).chunk(2)
        margin = self.config.margin
        parts = {"margin": margin_loss(real, drawn, margin, selective=self.config.selective)}
        if len(anomalies):
            told = torch.sigmoid(state.odds_by(states, anomalies))
            turn = torch.arange(len(edges), device=real.device) % len(anomalies)
            parts["known"] = margin_loss(real, told[turn], margin, selective=False)
        return parts

    def _negatives(
        self,
        state: AddGraphState,
        states: Tensor,
        part: Part,
        edges: Tensor,
        negatives: Negatives,
        generator: torch.Generator,
    ) -> Tensor:
        """One per edge; where it scores below its edge, another."""
        source = source_goes(part.node, edges, generator)
        made = negatives.draw(edges, part.until, source, generator)
        if not self.config.selective:
            return made
        with torch.no_grad():
            real, drawn = state.odds_by(states, torch.cat([edges, made])).chunk(2)
        return torch.where(
            (real <= drawn)[:, None], made, negatives.draw(edges, part.until, source, generator)
        )

    # ------------------------------------------------------------------ files
    def _calibration(self) -> dict[str, Any]:
        return {**super()._calibration(), "nodes": self._nodes}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        first = held(weights, "first", "f4", (ANY, self.config.width), low=-1, high=1)
        self._nodes = whole(calibration["nodes"], "nodes", low=len(first), high=len(first))
        super()._restore(weights, calibration)
