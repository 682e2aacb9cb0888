"""A bidirectional LSTM over short walks that begin at the same place, at their last step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.linear import Linear


class WalkRecurrence(nn.Module):
    """What a BiLSTM gives at the last position of each of K walks x₀, x₁ or x₀, x₁, x₂ that share x₀.

    i, f, o = σ(W x + U h + b), g = tanh(W x + U h + b), c ← f ⊙ c + i ⊙ g, h ← o ⊙ tanh(c), from h = c = 0. Read at the
    last position, the forward LSTM has seen the whole walk, the backward one that position alone: it needs neither U nor f,
    which have no weights here. The first step of the forward one, and U h after it, are the same for all walks and are done once.
    So of a walk of one step, its one input times W is all that is left of the products. Plain products on fixed shapes: nothing
    is packed, and nothing is asked of the host.

    tanh y = 2 σ(2y) − 1: the rows of g hold twice the weights of an LSTM, so that all gates are one σ.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.given = Linear(inputs, 7 * hidden)  # forward i, f, o, g, then backward i, o, g
        self.again = Linear(hidden, 4 * hidden, bias=False)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-(hidden**-0.5), hidden**-0.5)  # as nn.LSTM has it
                for g in (3 * hidden, 6 * hidden):
                    parameter[g : g + hidden] *= 2

    def forward(self, first: Tensor, steps: list[Tensor], there: list[Tensor]) -> Tensor:
        """x₀ `[…, inputs]`, x₁, … `[…, K, inputs]`, and which walks have them, `[…, K]` (x₁: all) → `[…, K, 2 · hidden]`."""
        parts = [4 * self.hidden, 3 * self.hidden]
        h, c = _cell(self.given(first)[..., : parts[0]], None)
        forward, backward = self.given(steps[0]).split(parts, -1)
        h, c = _cell(forward + self.again(h)[..., None, :], c[..., None, :])
        for x, here in zip(steps[1:], there[1:], strict=True):
            forward, alone = self.given(x).split(parts, -1)
            later, c = _cell(forward + self.again(h), c)
            h = torch.where(here[..., None], later, h)
            backward = torch.where(here[..., None], alone, backward)
        i, o, g = backward.sigmoid().chunk(3, -1)
        return torch.cat([h, o * _tanh(i * (2 * g - 1))], -1)


def _cell(gates: Tensor, c: Tensor | None) -> tuple[Tensor, Tensor]:
    """h and c after a step; c before it is None where it is zero."""
    i, f, o, g = gates.sigmoid().chunk(4, -1)
    new = i * (2 * g - 1)
    c = new if c is None else f * c + new
    return o * _tanh(c), c


def _tanh(x: Tensor) -> Tensor:
    """By σ on a CPU, where it is several times as quick."""
    return 2 * (2 * x).sigmoid() - 1 if x.device.type == "cpu" else x.tanh()
