"""Multi-head attention that sees visible keys only."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout
from sdgad.errors import InputError


class MultiHeadAttention(nn.Module):
    """softmax(Q Kᵀ / √d_h) V per head, heads side by side, then a linear map.

    A row without a single visible key gets exact zeros: there is nothing to attend to. (A large negative
    logit, as in published codes, gives uniform attention over the padding instead; −∞ gives NaN.)
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise InputError(f"heads={heads} does not divide the attention width {width}.")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, visible: Tensor) -> Tensor:
        """Queries x `[N, Q, w]` over memory `[N, K, w]` where visible `[N, K]` (bool) → `[N, Q, w]`."""
        query = self._split(self.query(x))
        key, value = (self._split(part) for part in self.key_value(memory).chunk(2, -1))
        some = visible.any(-1, keepdim=True)
        # Rows that see nothing are computed as if they saw all and zeroed after: no NaN, nor in the gradient.
        seen = (visible | ~some)[:, None, None]
        if self.training and self.dropout.p > 0:
            logits = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
            weight = logits.masked_fill(~seen, -torch.inf).softmax(-1)
            mixed = self.dropout(weight) @ value
        else:
            mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        merged: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return merged.masked_fill(~some[..., None], 0.0)

    def _split(self, x: Tensor) -> Tensor:
        """`[N, T, w]` → `[N, heads, T, w / heads]`."""
        count, tokens, width = x.shape
        return x.reshape(count, tokens, self.heads, width // self.heads).transpose(1, 2)
