"""Temporal attention: a node over the events of its past (TGAT, TGN)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.attention import attend
from sdgad.encoders.base import EncoderConfig
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.norm import LayerNorm
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.errors import InputError
from sdgad.history.window import WindowShape


class TemporalAttention(nn.Module):
    """h' = MERGE(LN(a + [h ; φ(0)]), h) with a = W_o softmax(q Kᵀ/√d) V, q = W_q [h ; φ(0)], K, V = W [h_n ; e_n ; c_n ; φ(gap)].

    h is what is known of the node, h_n of the other node of each event, e_n and c_n are edge and context features;
    MERGE(a, b) = W₂ relu(W₁ [a ; b]). Heads share `width` numbers (in DyGLib those of [h ; φ]). A node without a
    visible event gets a = 0: in DyGLib it attends to padding, whose φ tells the absolute time.

    `known` is the width of h, 0 where nothing is known of nodes; with `again=False` MERGE does not see h once more.
    """

    def __init__(
        self,
        shape: WindowShape,
        config: EncoderConfig,
        clock: TimeEncoding,
        *,
        known: int | None = None,
        again: bool = True,
    ) -> None:
        super().__init__()
        known = config.width if known is None else known
        width, heads = config.width, config.heads
        if width % heads:
            raise InputError(f"width={width} must be a multiple of heads={heads}.")
        self.heads = heads
        self.clock = clock
        self.again = again
        query = known + clock.width
        self.query = Linear(query, width, bias=False)
        self.key_value = Linear(query + shape.msg + shape.context, 2 * width, bias=False)
        self.out = Linear(width, query)
        self.norm = LayerNorm(query)
        self.merge = nn.Sequential(Linear(query + again * known, width), nn.ReLU(), Linear(width, width))
        self.dropout = Dropout(config.dropout)

    def forward(
        self, own: Tensor, others: Tensor, msg: Tensor, context: Tensor, gap: Tensor, visible: Tensor
    ) -> Tensor:
        """own `[N, known]`; of K events others `[N, K, known]`, msg, context, gap `[N, K]`, visible `[N, K]` → `[N, w]`."""
        asking = torch.cat([own, self.clock(own.new_zeros(len(own)))], -1)
        told = self.key_value(torch.cat([others, msg, context, self.clock(gap)], -1))
        some = visible.any(-1, keepdim=True)
        # Rows that see nothing are computed as if they saw all and zeroed after: no NaN, nor in the gradient.
        mixed = attend(self.query(asking)[:, None], told, visible | ~some, self.heads, self.dropout)[:, 0]
        attended = self.dropout(self.out(mixed)) * some
        found = self.norm(attended + asking)
        merged: Tensor = self.merge(torch.cat([found, own], -1) if self.again else found)
        return merged
