"""SAD's memory bank: scores of past normal events, against which a score is measured."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout

HOUR = 3600.0
LEAST = 1e-6


class MemoryBank(nn.Module):
    """(score, time) of the latest `size` events that are not known to be anomalous; scores start as N(0, 1), times as 0.

    deviation(a, t) = (a − μ)/(σ + 10⁻⁶) with μ, σ weighted by w = 1 / (1 + ln(1 + |t − t_ref| / 3600)), over entries drawn at
    random for each step: every one with probability `drawn` (2,000 of 5,000 in the published code).

    It serves training alone: nothing of it is in a score, so nothing of it, times of events among it, is in a model folder.
    """

    score: Tensor
    time: Tensor
    next: Tensor

    def __init__(self, size: int, drawn: float) -> None:
        super().__init__()
        self.size = size
        self.drop = Dropout(1 - drawn)
        # one more place, for what is not to be kept: to leave it out would be a question to the device
        self.register_buffer("score", torch.randn(size + 1), persistent=False)
        self.register_buffer("time", torch.zeros(size + 1, dtype=torch.float64), persistent=False)
        self.register_buffer("next", torch.zeros((), dtype=torch.int64), persistent=False)

    def draw(self) -> Tensor:
        """Which entries a step compares with, `[size]` of 0 and 1; all of them where nothing learns."""
        kept: Tensor = self.drop(torch.ones_like(self.score[:-1]))
        return (kept > 0).to(self.score.dtype)

    def deviation(self, score: Tensor, time: Tensor, drawn: Tensor) -> Tensor:
        """By entries that are near in time, `[B]`."""
        apart = (time[:, None] - self.time[:-1]).abs() / HOUR
        return self._deviation(score, drawn / (1 + apart.log1p()).to(drawn.dtype))

    def plain_deviation(self, score: Tensor, drawn: Tensor) -> Tensor:
        """By all that were drawn alike, `[B]`."""
        return self._deviation(score, drawn[None])

    def _deviation(self, score: Tensor, weight: Tensor) -> Tensor:
        total = weight.sum(1).clamp_min(LEAST)
        reference = self.score[:-1]
        mean = (weight * reference).sum(1) / total
        variance = (weight * (reference - mean[:, None]).square()).sum(1) / total
        return (score - mean) / (variance.sqrt() + LEAST)

    @torch.no_grad()
    def write(self, score: Tensor, time: Tensor, normal: Tensor) -> None:
        """Put in the normal ones among these events, in the place of the oldest; of more than `size` the last."""
        number = normal.cumsum(0)
        count = number[-1]
        kept = normal & (number > count - self.size)
        place = torch.where(kept, (self.next + number - 1) % self.size, self.size)
        self.score.index_copy_(0, place, score.detach().to(self.score.dtype))
        self.time.index_copy_(0, place, time)
        self.next.copy_((self.next + count) % self.size)
