"""GeneralDyG's transformer over the edges of an ego-graph."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.norm import LayerNorm


class EdgeTransformer(nn.Module):
    """x ← LN(x + Att(g, g, x)), x ← LN(x + FFN(x)), `depth` times under the same weights; x starts as the raw edge vectors.

    Queries and keys come from the graph network's edge vectors g, values from x: what is where is said by the graph, what it
    says by the edges themselves. So the attention is the same each time, and is computed once. Edges that are not
    real are not seen. There is no position: an order of edges would say nothing.
    """

    def __init__(self, width: int, heads: int, depth: int, feed: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.depth = depth
        self.query = Linear(width, width)
        self.key = Linear(width, width)
        self.value = Linear(width, width)
        self.out = Linear(width, width)
        self.feed = nn.Sequential(Linear(width, feed), nn.ReLU(), Dropout(dropout), Linear(feed, width))
        self.norm_attention = LayerNorm(width)
        self.norm_feed = LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, graph: Tensor, edges: Tensor, real: Tensor) -> Tensor:
        """graph and edges `[B, E, w]`, real `[B, E]` → `[B, E, w]`."""
        share = self.dropout(self.attention(graph, real))
        x = edges
        for _ in range(self.depth):
            mixed = share @ self._by_head(self.value(x))
            x = self.norm_attention(x + self.dropout(self.out(mixed.transpose(1, 2).flatten(2))))
            x = self.norm_feed(x + self.dropout(self.feed(x)))
        return x

    def attention(self, graph: Tensor, real: Tensor) -> Tensor:
        """softmax(q kᵀ / √d) over real edges, `[B, heads, E, E]`."""
        query, key = self._by_head(self.query(graph)), self._by_head(self.key(graph))
        seen = (real | ~real.any(1, keepdim=True))[:, None, None]  # of no edges all are seen: no NaN
        logit = (query @ key.mT) / math.sqrt(query.shape[-1])
        return logit.masked_fill(~seen, -torch.inf).softmax(-1)

    def _by_head(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:2], self.heads, x.shape[2] // self.heads).transpose(1, 2)
