"""MemoryVectorEncoder: encoders whose vector is read off the memory of the node alone (JODIE, DyRep)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from sdgad.configuration import option
from sdgad.encoders.base import EncoderConfig
from sdgad.encoders.dropout import paired_dropout
from sdgad.encoders.memory import MemoryConfig, MemoryEncoder
from sdgad.encoders.tags import EncoderTags
from sdgad.encoders.tokens import visible_events
from sdgad.history.window import Window


@dataclass(frozen=True)
class MemoryVectorConfig(MemoryConfig):
    """The clock learns, as published: on validation events of simulated payments that was worth 1 to 15 points of AUROC."""

    train_time: bool = option(True, "learn the frequencies and phases of the time encoding")


class MemoryVectorEncoder(MemoryEncoder):
    """z_x = read(m_x, time since m_x was written).

    Without the event: m_x of all messages so far, and its age. With it: m_x after the message of the event itself, on a
    copy that nobody keeps, and age 0. A node that nothing was written about has m = 0 and age 0.
    """

    config_type: ClassVar[type[EncoderConfig]] = MemoryVectorConfig
    tags: ClassVar[EncoderTags] = EncoderTags(past=False)

    @abstractmethod
    def read(self, own: Tensor, age: Tensor) -> Tensor:
        """Memories `[B, 2, w]` and seconds since they were written `[B, 2]` → vectors `[B, 2, w]`."""

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        before, age = self._before(window)
        included = visible_events(window, include_event)[:, :, -1]
        own = torch.where(included[..., None], self.after(before, window), before)
        z_src, z_dst = self.read(own, torch.where(included, 0.0, age)).unbind(1)
        return z_src, z_dst

    def both(self, window: Window) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Memory and message are worked out once for both branches."""
        count = len(window)
        before, age = self._before(window)
        own = torch.cat([self.after(before, window), before])
        with paired_dropout():
            z = self.read(own, torch.cat([torch.zeros_like(age), age]))
        src, dst = self._checked((z[:, 0], z[:, 1]), 2 * count)
        return (src[:count], dst[:count]), (src[count:], dst[count:])

    def _before(self, window: Window) -> tuple[Tensor, Tensor]:
        """Memories of the endpoints before the event, and their age."""
        assert window.memory is not None
        return self.now(window.memory.row[:, :, 0]), window.memory.age[:, :, 0]
