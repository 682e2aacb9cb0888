"""Query: events whose past is asked for."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor

from sdgad.history.window import Tensors


@dataclass(frozen=True)
class Seen(Tensors):
    """Events, and how much of the index they and their endpoints see."""

    node: Tensor  # [B, 2]
    time: Tensor  # [B] float64, seconds since the first event of the index
    event: Tensor  # [B] number of the event; `before` if it did not happen
    before: Tensor  # [B] events of the index with a smaller number are visible
    position: Tensor  # [B, 2] end of the endpoint's visible half-events

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Query(Seen):
    """Events whose past is asked for, as positions in the index: of stored events, or found by a search."""

    pair: Tensor  # [B] number of the pair; one past the last if it never occurs
    pair_position: Tensor  # [B] end of the pair's visible events
    forward: Tensor  # [B] bool, whether the source has the smaller number

    @property
    def seen(self) -> Seen:
        """Without what is asked for pairs."""
        return Seen(*(getattr(self, field.name) for field in fields(Seen)))


@dataclass(frozen=True)
class Asked(Tensors):
    """All of an event that its Window does not look up: what it sees, its edge and its context features."""

    seen: Seen
    msg: Tensor  # [B, d]
    context: Tensor  # [B, C]
