"""Pseudo-anomalies: events that did not happen, made from training events, to stand in for y = 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.history.index import HistoryIndex
from sdgad.history.query import Query
from sdgad.history.window import Tensors

FEW_LABELS = 20  # below this many labelled anomalies, pseudo-anomalies join in


@dataclass(frozen=True)
class PseudoEvents(Tensors):
    """Hypothetical events, their edge features, and the events (rows of the index) at whose place in the stream they stand."""

    query: Query
    msg: Tensor
    anchor: Tensor

    def __len__(self) -> int:
        return len(self.query)


class PseudoAnomalies:
    """Breaks training events in one respect each, by turns:

    - *destination*: this source, at this time, with the destination of another training event;
    - *time*: the whole event of another pair, at this time;
    - *features*: this event with the features of another (only where there are features).

    The anchor's time stays, so a pseudo-anomaly sees just what was known then, and carries its own history and current
    token like any event: nothing but the break itself can tell it from a real one.
    """

    def __init__(self, index: HistoryIndex, pool: Tensor) -> None:
        self.index = index
        self.pool = pool
        kinds: list[Callable[[Tensor, Tensor], PseudoEvents]] = [self.other_destination, self.other_time]
        if index.msg_width:
            kinds.append(self.other_features)
        self.kinds = kinds

    def draw(self, anchors: Tensor, generator: torch.Generator) -> PseudoEvents:
        """One pseudo-anomaly per anchor (row of the index), in their order, kinds by turns."""
        drawn = torch.randint(len(self.pool), (len(anchors),), generator=generator, device=generator.device)
        donors = self.pool[drawn.to(self.pool.device)]
        shares = len(self.kinds)
        parts = [kind(anchors[i::shares], donors[i::shares]) for i, kind in enumerate(self.kinds)]
        places = torch.arange(len(anchors), device=anchors.device)
        turns = torch.cat([places[i::shares] for i in range(shares)])
        return PseudoEvents.cat(parts).take(turns.argsort())

    def other_destination(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        real, other = self.index.stored(anchors), self.index.stored(donors)
        query = self.index.hypothetical(real.node[:, 0], other.node[:, 1], real.time, real.before)
        return PseudoEvents(query, self.index.msg(anchors), anchors)

    def other_time(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        real, other = self.index.stored(anchors), self.index.stored(donors)
        query = self.index.hypothetical(other.node[:, 0], other.node[:, 1], real.time, real.before)
        return PseudoEvents(query, self.index.msg(donors), anchors)

    def other_features(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        return PseudoEvents(self.index.stored(anchors), self.index.msg(donors), anchors)
