"""Query: events whose past is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True)
class Seen:
    """Events, and how much of the index they and their endpoints see."""

    node: Tensor  # [B, 2]
    time: Tensor  # [B] float64, seconds since the first event of the index
    event: Tensor  # [B] number of the event; `before` if it did not happen
    before: Tensor  # [B] events of the index with a smaller number are visible
    position: Tensor  # [B, 2] end of the endpoint's visible half-events


@dataclass(frozen=True)
class Query(Seen):
    """Events whose past is asked for, as positions in the index: of stored events, or found by a search."""

    pair: Tensor  # [B] number of the pair; one past the last if it never occurs
    pair_position: Tensor  # [B] end of the pair's visible events
    forward: Tensor  # [B] bool, whether the source has the smaller number

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: Tensor) -> Query:
        """Some of the events."""
        return Query(*(getattr(self, f.name)[rows] for f in fields(self)))

    @classmethod
    def cat(cls, queries: Sequence[Query]) -> Query:
        """Several queries of one index as one."""
        return cls(*(torch.cat([getattr(q, f.name) for q in queries]) for f in fields(cls)))
