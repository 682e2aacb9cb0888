"""TGN: memory of every node, and attention over the recent past."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.encoders.memory import MemoryConfig, MemoryEncoder
from sdgad.encoders.published import by_dataset
from sdgad.encoders.temporal_attention import TemporalAttention
from sdgad.encoders.tokens import visible_events
from sdgad.history.window import Window, WindowShape


@encoders.register("tgn")
class TGN(MemoryEncoder):
    """TGN (Rossi et al. 2020) with one layer of temporal attention, as DyGLib has it.

    m of both endpoints and of their past partners by a GRU cell over the last message; z_x = MERGE(TATT(m_x, {m_n,
    event, φ(t − t_n)}), m_x) over the L past events and, with the event, the current one, whose partner's memory is
    that before it.
    """

    paper: ClassVar[EncoderConfig] = MemoryConfig(
        width=172, time_width=100, layers=1, heads=2, dropout=0.1, train_time=True, log_gap=False, messages=1
    )
    paper_by_dataset = by_dataset(history=10, dropout=(0.1, 0.1, 0.2, 0.3, 0.0, 0.1))
    neighbours = True

    def __init__(self, shape: WindowShape, config: MemoryConfig) -> None:
        super().__init__(shape, config)
        self.cell = nn.GRUCell(self.message_width, config.width)
        self.attend = TemporalAttention(shape, config, self.clock)

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        assert window.memory is not None
        memory = self.now(window.memory.row)
        before = memory[:, :, 0]
        visible = visible_events(window, include_event)
        own = torch.where(visible[:, :, -1:], self.after(before, window), before)

        def with_current(past: Tensor, now: Tensor) -> Tensor:
            return torch.cat([past, now[:, None, None].expand(-1, 2, 1, -1)], 2).flatten(0, 1)

        z = self.attend(
            own.flatten(0, 1),
            torch.cat([memory[:, :, 1:], before.flip(1)[:, :, None]], 2).flatten(0, 1),
            with_current(window.past_msg, window.msg),
            with_current(window.past_context, window.context),
            torch.nn.functional.pad(window.past_gap, (0, 1)).flatten(0, 1),
            visible.flatten(0, 1),
        )
        z_src, z_dst = z.unflatten(0, (len(window), 2)).unbind(1)
        return z_src, z_dst
