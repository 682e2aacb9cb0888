"""The network of TADDY (Liu et al., TKDE 2021): three encodings of a node's place around an edge, and a transformer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sdgad.detectors.baselines.taddy.diffusion import FAR
from sdgad.detectors.baselines.taddy.substructure import Substructure
from sdgad.encoders.attention import MultiHeadAttention
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.norm import LayerNorm

SPREAD = 0.02  # of first weights


class NodeEncoding(nn.Module):
    """x = LN(rank + distance + time), a table each (eq. 9 to 12); ranks are 0, 0, 1, …, k, the time is how far one looks back.

    `both`: the distance is distance[d(x, u)] + distance[d(x, v)], in the ends' tokens too; otherwise distance[min of both].
    """

    def __init__(self, width: int, k: int, window: int, both: bool, dropout: float) -> None:
        super().__init__()
        self.both = both
        self.rank = nn.Embedding(1 + k, width)
        self.distance = nn.Embedding(1 + FAR, width)
        self.time = nn.Embedding(window, width)
        self.norm = LayerNorm(width)
        self.dropout = Dropout(dropout)
        ranks = (torch.arange(2 + k) - 1).clamp(min=0)
        self.register_buffer("ranks", ranks, persistent=False)

    def forward(self, found: Substructure, back: int) -> Tensor:
        """`[B, 2 + k, w]`."""
        apart = found.apart if self.both else found.apart.amin(2, keepdim=True)
        distance = self.distance(apart).sum(2)
        x: Tensor = self.norm(self.rank(self.ranks) + distance + self.time.weight[back])
        return x


class Layer(nn.Module):
    """y = LN(x + Att(x)), z = LN(y + FFN(y)), FFN: w → w, GELU, → w (BERT's, of the published sizes)."""

    def __init__(self, width: int, heads: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads, attention_dropout, lonely=False)
        self.feed = nn.Sequential(Linear(width, width), nn.GELU(), Linear(width, width))
        self.norm_attention, self.norm_feed = LayerNorm(width), LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        x = self.norm_attention(x + self.dropout(self.attention(x, x, visible)))
        z: Tensor = self.norm_feed(x + self.dropout(self.feed(x)))
        return z


class TaddyNetwork(nn.Module):
    """Tokens of all snapshots → transformer → mean over those that are somebody → log-odds of an anomaly."""

    def __init__(
        self,
        width: int,
        k: int,
        window: int,
        *,
        both: bool,
        layers: int,
        heads: int,
        dropout: float,
        attention_dropout: float,
    ) -> None:
        super().__init__()
        self.encoding = NodeEncoding(width, k, window, both, dropout)
        self.layers = nn.ModuleList(Layer(width, heads, dropout, attention_dropout) for _ in range(layers))
        self.head = Linear(width, 1)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=SPREAD)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, snapshots: Sequence[Substructure]) -> Tensor:
        """Log-odds `[B]` of edges from their substructures, the last snapshot first."""
        encoded = [self.encoding(found, back) for back, found in enumerate(snapshots)]
        x = self.encoding.dropout(torch.cat(encoded, 1))
        visible = torch.cat([found.visible for found in snapshots], 1)
        for layer in self.layers:
            x = layer(x, visible)
        odds: Tensor = self.head(pooled(x, visible))[:, 0]
        return odds


def pooled(x: Tensor, visible: Tensor) -> Tensor:
    """The mean `[B, w]` of the tokens that are somebody."""
    seen = visible[:, :, None].to(x.dtype)
    return (x * seen).sum(1) / seen.sum(1)
