"""Mean over the visible tokens of a sequence."""

from __future__ import annotations

from torch import Tensor


def visible_mean(x: Tensor, visible: Tensor) -> Tensor:
    """Σ_visible x / max(1, #visible), 0 where nothing is: x `[…, T, w]`, visible `[…, T]` → `[…, w]`."""
    count = visible.sum(-1, keepdim=True).clamp_min(1)
    return x.masked_fill(~visible[..., None], 0.0).sum(-2) / count
