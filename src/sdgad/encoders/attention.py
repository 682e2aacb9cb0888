"""Multi-head attention that sees visible keys only."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.errors import InputError


class MultiHeadAttention(nn.Module):
    """softmax(Q Kᵀ / √d_h) V per head, heads side by side, then a linear map.

    A row without a single visible key gets exact zeros: there is nothing to attend to. (A large negative
    logit, as in published codes, gives uniform attention over the padding instead; −∞ gives NaN.)
    `lonely=False` says that there is no such row.

    `visible` may also be a float: how often each key is there, as if so many equal ones stood beside each other.
    """

    def __init__(self, width: int, heads: int, dropout: float, *, lonely: bool = True) -> None:
        super().__init__()
        if width % heads:
            raise InputError(f"heads={heads} does not divide the attention width {width}.")
        self.heads = heads
        self.lonely = lonely
        self.query = Linear(width, width)
        self.key_value = Linear(width, 2 * width)
        self.out = Linear(width, width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, visible: Tensor) -> Tensor:
        """Queries x `[N, Q, w]` over memory `[N, K, w]` where visible `[N, K]` (bool, or how often) → `[N, Q, w]`."""
        # Rows that see nothing are computed as if they saw all and zeroed after: no NaN, nor in the gradient.
        some = visible.any(-1, keepdim=True) if self.lonely else None
        seen = visible if some is None else visible.masked_fill(~some, 1)
        mixed = attend(self.query(x), self.key_value(memory), seen, self.heads, self.dropout)
        merged: Tensor = self.out(mixed)
        return merged if some is None else merged.masked_fill(~some[..., None], 0.0)


def attend(query: Tensor, key_value: Tensor, seen: Tensor, heads: int, dropout: Dropout) -> Tensor:
    """softmax(q kᵀ / √d) v for each head, side by side, `[N, Q, w]`: q `[N, Q, w]`, k and v `[N, K, 2w]`, seen `[N, K]` (bool,
    or how often each is there), at least one in each row. Dropout acts on the weights."""
    width = query.shape[-1] // heads
    if not (dropout.training and dropout.p > 0) and query.device.type == "cpu":
        q, k, v = (_by_head(part, width) for part in (query, *key_value.chunk(2, -1)))
        mask = seen if seen.dtype == torch.bool else _log_of(seen, query)
        fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
        return fused.transpose(1, 2).flatten(2)
    bias = _log_of(seen, query)[:, None].expand(-1, query.shape[1], -1)
    queries, parts = torch.split(query, width, -1), torch.split(key_value, width, -1)
    mixed = []
    # head by head: a head's columns are a view that products take as it is, while all heads at once would have to be copied
    for q, k, v in zip(queries, parts[:heads], parts[heads:], strict=True):
        logits = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=width**-0.5)
        mixed.append(dropout(logits.softmax(-1)).to(v.dtype) @ v)
    return torch.cat(mixed, -1)


def _log_of(seen: Tensor, like: Tensor) -> Tensor:
    """What is added to the logits of keys: 0 where one is seen, −∞ where it is not, log n where it is there n times."""
    if seen.dtype == torch.bool:
        return like.new_zeros(seen.shape).masked_fill(~seen, -torch.inf)
    return seen.log().to(like.dtype)


def _by_head(x: Tensor, width: int) -> Tensor:
    """`[N, T, w]` → `[N, heads, T, w / heads]`."""
    return x.reshape(*x.shape[:2], x.shape[2] // width, width).transpose(1, 2)
