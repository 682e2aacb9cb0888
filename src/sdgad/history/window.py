"""Window: a batch of events, each with the recent past of its two endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True)
class WindowShape:
    """Widths of a Window: history length L, edge-feature width d, context width C.

    The last `phases` context features say when in the day and in the week an event happened (0 without a wall clock).
    """

    history: int
    msg: int
    context: int
    phases: int = 0


@dataclass(frozen=True)
class Window:
    """B events and, per endpoint (axis of size 2: source, destination), the last L events of its history.

    Histories are right-aligned, newest last: slot L − 1 holds the newest past event. Empty slots have `mask`
    False and zeros everywhere (`past_node` −1). The current event is not part of the L slots.
    """

    node: Tensor  # [B, 2] int64, the two endpoints
    msg: Tensor  # [B, d] float32, edge features of the current event (d may be 0)
    context: Tensor  # [B, C] float32, context features of the current event (C may be 0)
    past_node: Tensor  # [B, 2, L] int64, the other endpoint of each past event
    past_gap: Tensor  # [B, 2, L] float32, seconds from the past event to the current one, ≥ 0
    past_msg: Tensor  # [B, 2, L, d] float32
    past_context: Tensor  # [B, 2, L, C] float32
    mask: Tensor  # [B, 2, L] bool, True where there is a past event

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

    @classmethod
    def cat(cls, windows: Sequence[Window]) -> Window:
        """Several batches as one."""
        return cls(*(torch.cat([getattr(window, f.name) for window in windows]) for f in fields(windows[0])))

    def to(self, device: torch.device) -> Window:
        """The same batch on another device."""
        return Window(*(getattr(self, f.name).to(device) for f in fields(self)))

    def padded(self, size: int) -> Window:
        """The batch followed by events of nobody, without a past, so that it has `size` rows."""
        missing = size - len(self)
        return (
            self
            if missing == 0
            else self.joined(Window(*(_nothing(getattr(self, f.name), missing) for f in fields(self))))
        )


def _nothing(like: Tensor, rows: int) -> Tensor:
    return like.new_zeros(rows, *like.shape[1:])
