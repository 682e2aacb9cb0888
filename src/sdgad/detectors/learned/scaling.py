"""Inputs on one scale, by training events."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.history.window import Window, WindowShape

LIMIT = 8.0


class Standardise(nn.Module):
    """(v − mean) / std per column; clipped, so that a value far beyond training stays finite."""

    mean: Tensor
    scale: Tensor
    bounds: ClassVar[dict[str, dict[str, Any]]] = {"scale": {"low": 1e-9, "high": 1e9}}

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))

    def fit(self, values: Tensor) -> None:
        if values.shape[1] == 0:
            return
        self.mean.copy_(values.double().mean(0))
        spread = values.double().std(0, unbiased=False)
        self.scale.copy_(torch.where(spread > 1e-6, spread, 1.0))

    def forward(self, values: Tensor) -> Tensor:
        return values.sub(self.mean).div_(self.scale).clamp_(-LIMIT, LIMIT)


class WindowScale(nn.Module):
    """Standardises context and edge features of a Window, past and current alike, and of second hops."""

    def __init__(self, shape: WindowShape) -> None:
        super().__init__()
        self.context = Standardise(shape.context)
        self.msg = Standardise(shape.msg)

    def fit(self, context: Tensor, msg: Tensor) -> None:
        self.context.fit(context)
        self.msg.fit(msg)

    def forward(self, window: Window) -> Window:
        hop = window.hop
        if hop is not None:
            hop = dataclasses.replace(hop, context=self.context(hop.context), msg=self.msg(hop.msg))
        return dataclasses.replace(
            window,
            hop=hop,
            context=self.context(window.context),
            msg=self.msg(window.msg),
            past_context=self.context(window.past_context),
            past_msg=self.msg(window.past_msg),
        )
