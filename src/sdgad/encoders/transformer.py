"""Transformer blocks: post-norm (TCL, CAWN) and pre-norm (DyGFormer)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.attention import MultiHeadAttention
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.norm import LayerNorm


class PostNormBlock(nn.Module):
    """y = LN(x + Att(x, m)), z = LN(y + FFN(y)), FFN: w → 4w, ReLU, dropout, → w.

    With memory m = x it is self-attention, with another sequence it is cross-attention under the same
    weights. Dropout acts on the attention weights, inside the FFN and on both updates. `lonely`: whether a row may see nothing.
    """

    def __init__(self, width: int, heads: int, dropout: float, *, lonely: bool = True) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads, dropout, lonely=lonely)
        self.feed = FeedForward(width, nn.ReLU(), dropout)
        self.norm_attention = LayerNorm(width)
        self.norm_feed = LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, visible: Tensor) -> Tensor:
        """x `[N, Q, w]`, memory `[N, K, w]`, visible `[N, K]` (bool, or how often) → `[N, Q, w]`."""
        x = self.norm_attention(x + self.dropout(self.attention(x, memory, visible)))
        z: Tensor = self.norm_feed(x + self.dropout(self.feed(x)))
        return z


class PreNormBlock(nn.Module):
    """y = x + Att(LN(x)), z = y + FFN(LN(y)), FFN: w → 4w, GELU, dropout, → w; dropout as above."""

    def __init__(self, width: int, heads: int, dropout: float, *, lonely: bool = True) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads, dropout, lonely=lonely)
        self.feed = FeedForward(width, nn.GELU(), dropout)
        self.norm_attention = LayerNorm(width)
        self.norm_feed = LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """x `[N, T, w]`, visible `[N, T]` → `[N, T, w]`."""
        h = self.norm_attention(x)
        x = x + self.dropout(self.attention(h, h, visible))
        update: Tensor = self.dropout(self.feed(self.norm_feed(x)))
        return x + update


class FeedForward(nn.Sequential):
    """w → 4w, activation, dropout, → w. On a GPU that scores, the first product leaves negative numbers out by itself."""

    def __init__(self, width: int, activation: nn.Module, dropout: float) -> None:
        super().__init__(Linear(width, 4 * width), activation, Dropout(dropout), Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        first, activation = self[0], self[1]
        if x.dtype == torch.float32 and quick_relu(x, activation):
            assert isinstance(first, Linear)
            flat = torch._addmm_activation(first.bias, x.flatten(0, -2), first.weight.T)
            scored: Tensor = self[3](flat.view(*x.shape[:-1], flat.shape[-1]))
            return scored
        learned: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
        return learned


def quick_relu(x: Tensor, activation: nn.Module) -> bool:
    """Whether product and ReLU may be one: where no gradient is asked for."""
    return x.device.type == "cuda" and isinstance(activation, nn.ReLU) and not torch.is_grad_enabled()
