"""TCL: a two-stream transformer over the two endpoints' histories."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.encoders.linear import Linear
from sdgad.encoders.published import by_dataset
from sdgad.encoders.tokens import TokenEncoder
from sdgad.encoders.transformer import PostNormBlock
from sdgad.history.window import WindowShape


@encoders.register("tcl")
class TCL(TokenEncoder):
    """TCL (Wang et al. 2021) with first-hop histories, as DyGLib has it.

    Sequence of an endpoint: self token, L past events, current event; token + depth[position], the position
    running from 0 to L + 1. Each layer applies one post-norm block twice: h = Block(x, x) within each stream,
    then x_u ← Block(h_u, h_v) and x_v ← Block(h_v, h_u) across them, simultaneously; the invisible events of
    the attended stream are masked. Output z = W x[position 0] + b. So z_src depends on dst's history too, and
    "without the event" means that the event is masked in both streams.

    Past events are right-aligned: the newest always has depth L. The self token is always visible, so that no
    row is empty. In the last layer only position 0 asks across, since nothing else is read.
    """

    paper: ClassVar[EncoderConfig] = EncoderConfig(
        width=172, time_width=100, layers=2, heads=2, dropout=0.1, train_time=True, log_gap=False
    )
    paper_by_dataset = by_dataset(history=20, dropout=(0.1, 0.1, 0.1, 0.1, 0.1, 0.0))

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.depth = nn.Embedding(shape.history + 2, config.width)
        self.blocks = nn.ModuleList(
            PostNormBlock(config.width, config.heads, config.dropout, lonely=False)
            for _ in range(config.layers)
        )
        self.out = Linear(config.width, config.width)

    def mix(self, tokens: Tensor, visible: Tensor) -> Tensor:
        count = len(tokens)
        own = self.tokens.self_token().expand(count, 2, 1, -1)
        x = (torch.cat([own, tokens], 2) + self.depth.weight.to(tokens.dtype)).flatten(0, 1)
        visible = torch.cat([visible.new_ones(count, 2, 1), visible], 2)
        others_visible = visible.flip(1).flatten(0, 1)
        visible = visible.flatten(0, 1)
        for i, block in enumerate(self.blocks):
            x = block(x, x, visible)
            others = x.reshape(count, 2, *x.shape[1:]).flip(1).flatten(0, 1)
            asking = x[:, :1] if i == len(self.blocks) - 1 else x
            x = block(asking, others, others_visible)
        z: Tensor = self.out(x[:, 0])
        return z.reshape(count, 2, z.shape[-1])
