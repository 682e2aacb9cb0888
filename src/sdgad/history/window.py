"""Window: a batch of events, each with the recent past of its two endpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import torch
from torch import Tensor

NOBODY = -1  # the node of an empty slot


@dataclass(frozen=True)
class WindowShape:
    """Widths of a Window: history length L, edge-feature width d, context width C.

    The last `phases` context features say when in the day and in the week an event happened (0 without a wall clock).
    `sequels` is of how many past events habit residuals tell what came next (0: they do not).
    """

    history: int
    msg: int
    context: int
    phases: int = 0
    sequels: int = 0


class Tensors:
    """A dataclass of tensors with one leading axis, the events of a batch; a field may be another such, or absent (None)."""

    def _each(self, change: Callable[[str, Tensor], Tensor]) -> Self:
        values = [(f.name, getattr(self, f.name)) for f in fields(self)]  # type: ignore[arg-type]
        return type(self)(
            *(
                None
                if value is None
                else value._each(change)
                if isinstance(value, Tensors)
                else change(name, value)
                for name, value in values
            )
        )

    @classmethod
    def cat(cls, batches: Sequence[Self]) -> Self:
        """Several batches, with the same fields present, as one."""
        return cls(*(_cat([getattr(batch, f.name) for batch in batches]) for f in fields(batches[0])))  # type: ignore[arg-type]

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        return self._each(lambda _, value: value.to(device))

    def take(self, rows: Any) -> Self:
        """Some of the events: a slice, a mask, or numbers."""
        return self._each(lambda _, value: value[rows])

    def refill(self, other: Self) -> None:
        """Put the numbers of another batch of the same shape in place of these: the tensors stay where they are."""
        for field in fields(self):  # type: ignore[arg-type]
            here, there = getattr(self, field.name), getattr(other, field.name)
            if isinstance(here, Tensors):
                here.refill(there)
            elif here is not None:
                here.copy_(there)


def _cat(values: list[Any]) -> Any:
    if values[0] is None:
        return None
    return type(values[0]).cat(values) if isinstance(values[0], Tensors) else torch.cat(values)


@dataclass(frozen=True)
class Hop(Tensors):
    """Of each past event in a Window, the last H events of its other node: the second hop (`Needs.hop`).

    Right-aligned, newest last; an empty slot is as in a Window.
    """

    node: Tensor  # [B, 2, L, H] int64, the other endpoint of each
    gap: Tensor  # [B, 2, L, H] float32, seconds from it to the past event, or to the current one (`Needs.at`)
    msg: Tensor  # [B, 2, L, H, d] float32
    context: Tensor  # [B, 2, L, H, C] float32
    mask: Tensor  # [B, 2, L, H] bool


@dataclass(frozen=True)
class Sequels(Tensors):
    """Of the last S past events of each endpoint: when their other node had its next event, as far as that is known by now.

    Right-aligned, newest last, as in a Window; an empty slot has `mask` False and zeros.
    """

    wait: Tensor  # [B, 2, S] float32, seconds from the past event to that next one or, if it has not come, to the current event
    mask: Tensor  # [B, 2, S] bool, True where there is a past event

    def last(self, length: int) -> Self:
        """Those of the last so many events."""
        return self._each(lambda _, value: value[..., -length:])


@dataclass(frozen=True)
class Memory(Tensors):
    """What an encoder wrote about the nodes of a Window: place 0 is the endpoint, place 1 + i the other node of past event i.

    Without `Needs.neighbours` there is place 0 alone. Rows of nodes that nothing was written about are zero.
    """

    row: Tensor  # [B, 2, 1 + L, R] float32
    age: Tensor  # [B, 2, 1 + L] float32, seconds since the event with which it was written; 0 where there is none
    known: Tensor  # [B, 2, 1 + L] bool, whether there is one


@dataclass(frozen=True)
class Window(Tensors):
    """B events and, per endpoint (axis of size 2: source, destination), the last L events of its history.

    Histories are right-aligned, newest last: slot L − 1 holds the newest past event. Empty slots have `mask`
    False and zeros everywhere (`past_node` −1). The current event is not part of the L slots. The last five fields are
    there where an encoder needs them (`Needs`).
    """

    node: Tensor  # [B, 2] int64, the two endpoints
    msg: Tensor  # [B, d] float32, edge features of the current event (d may be 0)
    context: Tensor  # [B, C] float32, context features of the current event (C may be 0)
    past_node: Tensor  # [B, 2, L] int64, the other endpoint of each past event
    past_gap: Tensor  # [B, 2, L] float32, seconds from the past event to the current one, ≥ 0
    past_msg: Tensor  # [B, 2, L, d] float32
    past_context: Tensor  # [B, 2, L, C] float32
    mask: Tensor  # [B, 2, L] bool, True where there is a past event
    time: Tensor | None = None  # [B] float64, seconds since the first event of the stream
    event: Tensor | None = (
        None  # [B] int64, number of the event in the stream; of one that did not happen, of the next one
    )
    hop: Hop | None = None
    memory: Memory | None = None
    sequels: Sequels | None = None

    def __len__(self) -> int:
        return self.node.shape[0]

    @property
    def shape(self) -> WindowShape:
        """Its widths; which context features are phases only the index knows (`HistoryIndex.shape`)."""
        return WindowShape(self.mask.shape[2], self.msg.shape[1], self.context.shape[1])

    def doubled(self) -> Window:
        """The batch twice over: first half to be encoded with the event, second half without it."""
        return self.joined(self)

    def joined(self, other: Window) -> Window:
        """This batch followed by another."""
        return Window.cat([self, other])

    def padded(self, size: int) -> Window:
        """The batch followed by events of nobody, without a past, so that it has `size` rows."""
        missing = size - len(self)
        return (
            self
            if missing == 0
            else self.joined(self._each(lambda name, value: _empty(name, value, missing)))
        )


def _empty(name: str, like: Tensor, rows: int) -> Tensor:
    return like.new_full((rows, *like.shape[1:]), NOBODY if name in ("node", "past_node") else 0)
