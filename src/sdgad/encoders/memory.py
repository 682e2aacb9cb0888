"""MemoryEncoder: encoders that keep a memory of every node (JODIE, DyRep, TGN), but for the cell and the embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.configuration import option
from sdgad.encoders.base import Encoder, EncoderConfig
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape


@dataclass(frozen=True)
class MemoryConfig(EncoderConfig):
    """`width` is also that of the memory."""

    commit: int = option(200, "events after which the memory is written, moved on to the next change of time")
    messages: int = option(3, "latest messages of a node through which the cell learns; published: 1")


class MemoryEncoder(Encoder):
    """Memory m_x of every node x, and the last few messages that wait to be worked into it.

    The message of event (x, y, t) to x is [m_x ; m_y ; φ(t − t_x) ; edge features ; context features], t_x being the
    time of the message before; in the place of m_y stands whatever a subclass tells of the `partner`. A memory cell
    (`cell`) makes m_x ← cell(message, m_x) of it. The last M = `messages` of them wait: `now` works them in, which is where
    the cell gets its gradient, and `commit` works in the oldest one for good, without a gradient, and lets the message of
    the new event wait. What `now` gives does not depend on M but for the weights, which are those of now for messages that
    wait. With M = 1, as published, nothing teaches the cell to keep what happened before the last message; with more it
    learns through M steps of a node. A node's messages of one block replace each other: the last one is kept.

    A row of memory: m (w), then M times what is told of the partner (w), edge features, context features, gap, 1 if there is a
    message; oldest first.

    With the event: m is worked through the cell once more, with the message of the event itself, on a copy that nobody keeps.
    """

    config_type: ClassVar[type[EncoderConfig]] = MemoryConfig
    check_options: ClassVar[Mapping[str, Any]] = {"commit": 40}
    neighbours: ClassVar[bool] = False  # whether the memory of past partners is read
    cell: nn.Module  # (message [N, message_width], memory [N, width]) → memory

    def __init__(self, shape: WindowShape, config: MemoryConfig) -> None:
        super().__init__(shape, config)
        self.block, self.messages = config.commit, config.messages
        self.clock = TimeEncoding(config.time_width, config.train_time, config.log_gap)
        self.message_width = 2 * config.width + self.clock.width + shape.msg + shape.context
        self._parts = [config.width, shape.msg, shape.context, 1, 1]  # of a message that waits

    @property
    def needs(self) -> Needs:
        width = self.config.width + self.messages * sum(self._parts)
        return Needs(memory=width, neighbours=self.neighbours, commit=self.block)

    def now(self, row: Tensor) -> Tensor:
        """`[…, R]` rows → `[…, w]` memories with all waiting messages worked in."""
        own, waiting = self._split(row)
        for message in waiting:
            own = self._worked_in(own, message)
        return own

    def after(self, own: Tensor, window: Window) -> Tensor:
        """`[B, 2, w]`: memories `own` of the endpoints with the event itself worked in."""
        return self._worked_in(own, self._message(own, window))

    def partner(self, own: Tensor, window: Window) -> Tensor:  # noqa: ARG002
        """`[B, 2, w]`: what the message of the event to each endpoint tells of the other one: its memory, unless a subclass
        knows better. `own` are the memories of the endpoints before the event, `[B, 2, w]`."""
        return own.flip(1)

    def commit(self, window: Window) -> Tensor:
        assert window.memory is not None
        row = window.memory.row[:, :, 0]
        base, waiting = self._split(row)
        new = self._message(self.now(row), window)
        return torch.cat([self._worked_in(base, waiting[0]), *waiting[1:], new], -1)

    def _split(self, row: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Memory, and the messages that wait."""
        own, waiting = torch.split(row, [self.config.width, row.shape[-1] - self.config.width], -1)
        return own, waiting.chunk(self.messages, -1)

    def _message(self, own: Tensor, window: Window) -> Tensor:
        """The message of the event to both endpoints, as it waits."""
        assert window.memory is not None
        msg, context = (part[:, None].expand(-1, 2, -1) for part in (window.msg, window.context))
        gap = window.memory.age[:, :, :1]
        return torch.cat([self.partner(own, window), msg, context, gap, torch.ones_like(gap)], -1)

    def _worked_in(self, own: Tensor, message: Tensor) -> Tensor:
        """Memory after a message, where there is one."""
        partner, msg, context, gap, there = torch.split(message, self._parts, -1)
        told = torch.cat([own, partner, self.clock(gap[..., 0]), msg, context], -1)
        updated: Tensor = self.cell(told.flatten(0, -2), own.flatten(0, -2))
        return torch.where(there > 0.5, updated.view_as(own), own)
