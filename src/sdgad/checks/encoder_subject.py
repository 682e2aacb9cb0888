"""EncoderSubject: the encoder that is checked, ready to be built and looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.saying import seeded
from sdgad.checks.windows import Sizes, random_window, with_memory
from sdgad.configuration import build
from sdgad.encoders.base import Encoder
from sdgad.history.window import Window, WindowShape
from sdgad.registry import need_subclass


class EncoderSubject:
    """A class of encoders, with the options that it is checked under (`check_options`), on a device."""

    def __init__(self, cls: type[Encoder], *, device: str = "cpu", **options: Any) -> None:
        need_subclass(cls, Encoder)
        self.cls = cls
        self.device = torch.device(device)
        self.options: dict[str, Any] = {**cls.check_options, **options}
        self.worker: DetectorSubject | None = None  # a detector with this encoder, for checks at work

    def __str__(self) -> str:
        return f"Encoder {getattr(self.cls, 'name', self.cls.__name__)!r}"

    def build(self, shape: WindowShape, **options: Any) -> Encoder:
        """One with always the same weights, in evaluation."""
        with seeded(0):
            config = build(self.cls.config_type, {**self.options, **options})
            return self.cls(shape, config).to(self.device).eval()

    def window(self, encoder: Encoder, sizes: Sizes) -> Window:
        """A random Window with all that the encoder needs."""
        window = random_window(sizes, encoder.needs).to(self.device)
        return with_memory(window, encoder, sizes) if encoder.needs.memory else window

    def case(self, sizes: Sizes | None = None, **options: Any) -> tuple[Encoder, Window]:
        """An encoder, and a Window for it."""
        sizes = sizes or Sizes()
        encoder = self.build(sizes.shape, **options)
        return encoder, self.window(encoder, sizes)


def encoded(encoder: Encoder, window: Window, include_event: bool | Tensor) -> Tensor:
    """`[B, 2, width]`, without gradients."""
    with torch.no_grad():
        return torch.stack(encoder.encode(window, include_event), 1)


def other_event(window: Window, *, msg: float = 1.0, context: float = -2.0) -> Window:
    """The same past before an event with other features."""
    return replace(window, msg=window.msg + msg, context=window.context + context)
