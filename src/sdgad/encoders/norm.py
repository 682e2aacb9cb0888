"""Layer norm that keeps the precision of what it is given."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LayerNorm(nn.LayerNorm):
    """(x − mean) / std · gain + bias over the last axis, of bfloat16 in bfloat16: autocast would make float32 of it, and of all
    that comes after, which costs more than products of half the size save."""

    def forward(self, x: Tensor) -> Tensor:
        if x.dtype != torch.bfloat16:
            return super().forward(x)
        with torch.autocast(x.device.type, enabled=False):
            return F.layer_norm(
                x, self.normalized_shape, self.weight.to(x.dtype), self.bias.to(x.dtype), self.eps
            )
