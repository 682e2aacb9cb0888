"""FreeDyG: an MLP-mixer behind a filter of frequencies, with counts of who met whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from sdgad.configuration import option
from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.encoders.cooccurrence import interaction_frequency
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.frequency_filter import FrequencyFilter
from sdgad.encoders.linear import Linear
from sdgad.encoders.mixer import MixerBlock
from sdgad.encoders.published import by_dataset
from sdgad.encoders.tokens import TokenEncoder
from sdgad.history.window import Window, WindowShape


@dataclass(frozen=True)
class FreeDyGConfig(EncoderConfig):
    """`channel` numbers encode a count. Two layers validated better than one."""

    layers: int = option(2, "layers, one upon the other")
    channel: int = option(16, "numbers that encode how often a node occurs")


@encoders.register("freedyg")
class FreeDyG(TokenEncoder):
    """FreeDyG (Tian, Qi, Guo 2024).

    x = tokens of the L past events and the current one, no self token, each with its node interaction frequency:
    W_count · Σ ReLU(a · count + b) over its node's count in the own and in the other list. Per layer, g = x + dropout(filter(x)),
    y = x + FFN_tokens(LN(g)ᵀ)ᵀ, x ← y + FFN_channels(LN(y)): the residual adds the unfiltered x, as published.
    z = Σ_visible (p · x + q) x, a scalar weight per token, without softmax or output layer. The endpoints see each other in the
    counts only. With the event, both lists have one more entry, the counterpart, so that the direct count is one more; without
    it, the counts are those of the past, and an empty history gives 0. The published φ is frozen.

    Intended instead of the published code's: invisible tokens are zero where tokens are filtered and mixed, and out of the sum;
    there padding is a node 0 that is counted, biases fire in it and it is summed. Norms run over channels, as in `MixerBlock`.
    Linear maps that follow each other (channel, concatenation) are one. Node features, all zero in the published runs, are left
    out.
    """

    config_type: ClassVar[type[EncoderConfig]] = FreeDyGConfig
    paper: ClassVar[EncoderConfig] = FreeDyGConfig(
        width=172, time_width=100, layers=2, dropout=0.1, train_time=False, log_gap=False, channel=50
    )
    paper_by_dataset = by_dataset(history=31)  # with the current event: 32; the defaults of its code

    def __init__(self, shape: WindowShape, config: FreeDyGConfig) -> None:
        super().__init__(shape, config)
        tokens = shape.history + 1
        self.count = nn.Sequential(Linear(1, config.channel), nn.ReLU())
        self.counted = Linear(config.channel, config.width, bias=False)
        self.filters = nn.ModuleList(FrequencyFilter(tokens, config.width) for _ in range(config.layers))
        self.dropout = Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            MixerBlock(tokens, config.width, config.dropout) for _ in range(config.layers)
        )
        self.weigh = Linear(config.width, 1)

    def of_branch(self, tokens: Tensor, window: Window, visible: Tensor) -> Tensor:
        other = window.node.flip(1)
        nodes = torch.cat([window.past_node, other[..., None]], 2)
        counts = interaction_frequency(nodes, visible, other)
        encoded: Tensor = self.counted(self.count(counts[..., None]).sum(-2))
        return tokens + encoded

    def mix(self, tokens: Tensor, visible: Tensor) -> Tensor:
        x, empty = tokens.flatten(0, 1), ~visible.flatten(0, 1)[..., None]
        x = x.masked_fill(empty, 0.0)
        for spectral, block in zip(self.filters, self.blocks, strict=True):
            x = block(x, ~empty[..., 0], read=x + self.dropout(spectral(x))).masked_fill(empty, 0.0)
        z: Tensor = (self.weigh(x) * x).sum(1)  # the weight of an invisible token meets a zero
        return z.reshape(len(tokens), 2, z.shape[-1])
