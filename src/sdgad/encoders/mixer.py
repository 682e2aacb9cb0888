"""MLP-mixer block (GraphMixer, FreeDyG)."""

from __future__ import annotations

from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.norm import LayerNorm


class MixerBlock(nn.Module):
    """y = x + FFN_tokens(LN(x)ᵀ)ᵀ, z = y + FFN_channels(LN(y)); FFN: Linear, GELU, dropout, Linear, dropout.

    Hidden sizes are half the tokens and four times the channels. Both norms run over channels, as in
    GraphMixer's paper: DyGLib's first one runs over tokens, whose statistics then depend on how much of the
    history is padding. Token mixing reads zeros at invisible positions; what it writes there is never read.
    """

    def __init__(self, tokens: int, width: int, dropout: float) -> None:
        super().__init__()
        self.norm_tokens = LayerNorm(width)
        self.mix_tokens = _feed_forward(tokens, max(1, tokens // 2), dropout)
        self.norm_channels = LayerNorm(width)
        self.mix_channels = _feed_forward(width, 4 * width, dropout)

    def forward(self, x: Tensor, visible: Tensor, read: Tensor | None = None) -> Tensor:
        """x `[N, T, w]`, visible `[N, T]` (bool) → `[N, T, w]`; token mixing reads LN(`read`), where given, and not LN(x)."""
        h = self.norm_tokens(x if read is None else read).masked_fill(~visible[..., None], 0.0)
        x = x + self.mix_tokens(h.transpose(1, 2)).transpose(1, 2)
        update: Tensor = self.mix_channels(self.norm_channels(x))
        return x + update


def _feed_forward(width: int, hidden: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        Linear(width, hidden), nn.GELU(), Dropout(dropout), Linear(hidden, width), Dropout(dropout)
    )
