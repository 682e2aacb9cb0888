"""Pseudo-anomalies: events that did not happen, made from training events, to stand in for y = 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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


RECENT = 1000  # events of the pool before an anchor that are recent
SEASON = 0.2  # share of the pool, before an anchor, that is of its season
TRIES = 4  # to find a donor with other nodes

Kind = Callable[[Tensor, Tensor], "PseudoEvents"]


class PseudoAnomalies:
    """Breaks training events in one respect each, by turns:

    - *destination*: this source, at this time, with the destination of another event; by turns of a recent one, whose nodes
      are not those of this event, and of any in training;
    - *source*: the source of a recent event, at this time, with this destination;
    - *time*: the whole event of another pair of the season, at this time;
    - *takeover* and *features* (only where there are features): this source with destination and features of a recent event;
      this event with the features of another.

    Recent donors are those of the last 1,000 training events before the anchor, those of the season the last fifth of training:
    a stranger from long ago would be told by its silence alone. The anchor's time stays, so a pseudo-anomaly sees just what was
    known then, and carries its own history and current token like any event: nothing but the break itself can tell it from a
    real one.
    """

    def __init__(self, index: HistoryIndex, pool: Tensor) -> None:
        self.index = index
        self.pool = pool.contiguous()
        season = max(1, int(SEASON * len(pool)))
        self.kinds: list[tuple[Kind, int | None]] = [  # and how far back donors lie; None: any of the pool
            (self.other_destination, RECENT),
            (self.other_time, season),
            (self.other_source, RECENT),
            (self.other_destination, None),
        ]
        if index.msg_width:
            self.kinds += [(self.takeover, RECENT), (self.other_features, None)]

    def draw(self, anchors: Tensor, generator: torch.Generator) -> PseudoEvents:
        """One pseudo-anomaly per anchor (row of the index), in their order, kinds by turns."""
        shares = len(self.kinds)
        parts = []
        for i, (kind, reach) in enumerate(self.kinds):
            some = anchors[i::shares]
            parts.append(kind(some, self._donors(some, reach, generator)))
        places = torch.arange(len(anchors), device=anchors.device)
        turns = torch.cat([places[i::shares] for i in range(shares)])
        return PseudoEvents.cat(parts).take(turns.argsort())

    def _donors(self, anchors: Tensor, most: int | None, generator: torch.Generator) -> Tensor:
        """Events of the pool: any, or of the last `most` before the anchor, whose nodes are others where such are found."""
        if most is None:
            return self.pool[(self._share(anchors, generator) * len(self.pool)).long()]
        before = torch.searchsorted(self.pool, anchors.contiguous())
        reach = before.clamp(max=most)
        own = self.index.stored(anchors).node
        donors = torch.full_like(anchors, -1)
        for _ in range(TRIES):
            back = (self._share(anchors, generator) * reach).long()
            drawn = self.pool[(before - 1 - back).clamp(min=0)]
            same = (donors < 0) | (self.index.stored(donors.clamp(min=0)).node == own).any(1)
            donors = torch.where(same, drawn, donors)
        return donors

    def _share(self, anchors: Tensor, generator: torch.Generator) -> Tensor:
        share = torch.rand(len(anchors), generator=generator, device=generator.device, dtype=torch.float64)
        return share.to(anchors.device)

    def other_destination(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        real, other = self.index.stored(anchors), self.index.stored(donors)
        query = self.index.hypothetical(real.node[:, 0], other.node[:, 1], real.time, real.before)
        return PseudoEvents(query, self.index.msg(anchors), anchors)

    def other_source(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        real, other = self.index.stored(anchors), self.index.stored(donors)
        query = self.index.hypothetical(other.node[:, 0], real.node[:, 1], real.time, real.before)
        return PseudoEvents(query, self.index.msg(anchors), anchors)

    def other_time(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        real, other = self.index.stored(anchors), self.index.stored(donors)
        query = self.index.hypothetical(other.node[:, 0], other.node[:, 1], real.time, real.before)
        return PseudoEvents(query, self.index.msg(donors), anchors)

    def takeover(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        return replace(self.other_destination(anchors, donors), msg=self.index.msg(donors))

    def other_features(self, anchors: Tensor, donors: Tensor) -> PseudoEvents:
        return PseudoEvents(self.index.stored(anchors), self.index.msg(donors), anchors)
