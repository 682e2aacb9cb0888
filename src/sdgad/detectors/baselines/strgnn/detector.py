"""StrGNN (Cai et al., CIKM 2021), natively supervised where there are labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from sdgad.configuration import option
from sdgad.detectors.baselines.snapshots.against_negatives import AgainstNegatives, LookBackConfig
from sdgad.detectors.baselines.snapshots.replay import Replay
from sdgad.detectors.baselines.strgnn.network import LEAST, StrGNNNetwork
from sdgad.detectors.baselines.strgnn.state import StrGNNState
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.ranges import Ranges
from sdgad.detectors.registry import detectors
from sdgad.events.held import whole
from sdgad.events.stream import Array

SHARE = 0.6  # of the subgraphs of training that have at most k nodes
LOOKED_AT = 2000  # events of a snapshot, at most, whose subgraphs k is taken from
MOST_NEAR = 1000


@dataclass(frozen=True)
class StrGNNConfig(LookBackConfig):
    """Subgraphs, network and training."""

    window: int = option(5, "W, past snapshots that are looked at")
    neighbours: int = option(10, "of either end in a snapshot, at most; those that were met most often")
    hidden: int = option(256, "width of the recurrent unit")
    dropout: float = option(0.5, "in the head")

    ranges: ClassVar[Ranges] = (
        *LookBackConfig.ranges,
        (("neighbours",), 1, MOST_NEAR),
        (("hidden",), 1, math.inf),
    )


@detectors.register("strgnn")
class StrGNN(AgainstNegatives):
    """Score of an event (u, v) = σ of a network that sees the subgraphs around u and v in the last W snapshots.

    A subgraph is u, v and their neighbours (h = 1) in a snapshot, the edge (u, v) being removed; a node's only feature is its
    double-radius label. Graph convolutions, the k highest nodes by the last channel, one-dimensional convolutions, a gated
    recurrent unit over the snapshots, a head; k is such that 60 % of training's subgraphs have no more nodes, at least 10.
    Loss: cross-entropy of events (0) against as many negatives (1), which have another node in the place of one end; labelled
    anomalies are negatives too.

    What differs from the paper and its code. The last of W snapshots is there the one that the edge is in, without the edge,
    later edges of it included; here it is the last one before, for training too. Snapshots are graphs of their own, not
    accumulated. Of a hub those neighbours count that it met most often. Snapshots are pooled each by itself: the code mixes
    snapshots and channels before the third convolution. k and the checkpoint are chosen without the test part. Events
    of the first snapshot, before which there is nothing, are not learned from; those of the next W − 1, which the code leaves out
    too, are, with what there is before them, as they are scored.
    """

    config_type: ClassVar[type[DetectorConfig]] = StrGNNConfig
    config: StrGNNConfig
    check_options: ClassVar[Mapping[str, Any]] = {
        "snapshot": 40, "epochs": 2, "width": 4, "hidden": 8, "window": 3, "neighbours": 4, "batch": 64,
    }  # fmt: skip
    _network: StrGNNNetwork
    _k: int

    def _prepare(self, replay: Replay) -> None:
        super()._prepare(replay)
        self._k = max(LEAST, int((self._sizes(replay).cumsum(0) < SHARE).sum()))

    def _sizes(self, replay: Replay) -> Tensor:
        """The share of subgraphs of 0, 1, 2, … nodes in training, in snapshots that there are."""
        window, device = self.config.window, replay.node.device
        state, count = self._graphs(device), torch.zeros(3 + 2 * self.config.neighbours, device=device)
        for each in replay.training:
            total = each.last - each.first
            if each.number >= replay.held_back and total > 0:
                some = torch.arange(min(LOOKED_AT, total), device=device)
                rows = each.first + some * total // len(some)
                found = state.subgraphs(replay.node[rows]).present.sum(1)
                count += torch.bincount(found[-min(each.number, window) * len(rows) :], minlength=len(count))
            state.commit_pairs(replay.node[each.start : each.last])
        return count / count.sum()

    def _make_network(self) -> StrGNNNetwork:
        return StrGNNNetwork(self.config.width, self.config.hidden, self._k, self.config.dropout)

    def _graphs(self, device: torch.device, network: StrGNNNetwork | None = None) -> StrGNNState:
        return StrGNNState(self._size, device, self.config.window, self.config.neighbours, network)

    def _new_state(self) -> StrGNNState:
        return self._graphs(self._network.first.weight.device, self._network)

    # ------------------------------------------------------------------ files
    def _calibration(self) -> dict[str, Any]:
        return {**super()._calibration(), "k": self._k}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        most = max(LEAST, 2 + 2 * self.config.neighbours)
        self._k = whole(calibration["k"], "k", low=LEAST, high=most)
        super()._restore(weights, calibration)
