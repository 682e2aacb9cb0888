"""The recurrence over walks is torch's bidirectional LSTM at their last position, in values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from sdgad.encoders.walk_recurrence import WalkRecurrence

from .lstm_twin import at_the_end, lstm_of

ENDS, WALKS, INPUTS, HIDDEN = 3, 5, 6, 4


def walks(length: int) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    draw = torch.Generator().manual_seed(length)
    first = torch.randn(ENDS, INPUTS, generator=draw) * 2
    steps = [torch.randn(ENDS, WALKS, INPUTS, generator=draw) * 2 for _ in range(length)]
    there = [torch.ones(ENDS, WALKS, dtype=torch.bool)]
    there += [torch.rand(ENDS, WALKS, generator=draw) < 0.5 for _ in range(length - 1)]
    return first, steps, there


def by_torch(recurrence: WalkRecurrence, first: Tensor, steps: list[Tensor], there: list[Tensor]) -> Tensor:
    sequence = torch.stack([first[:, None].expand(-1, WALKS, -1), *steps], 2)
    lengths = 1 + torch.stack(there, -1).sum(-1)
    return at_the_end(lstm_of(recurrence), sequence.flatten(0, 1), lengths.flatten()).unflatten(
        0, (ENDS, WALKS)
    )


@pytest.mark.parametrize("length", [1, 2])
def test_it_is_torchs_packed_bidirectional_lstm_at_the_last_position(length: int) -> None:
    torch.manual_seed(0)
    recurrence, given = WalkRecurrence(INPUTS, HIDDEN), walks(length)
    expected = by_torch(recurrence, *given)
    assert expected.std() > 0.1
    torch.testing.assert_close(recurrence(*given), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("length", [1, 2])
def test_gradients_are_those_of_torch(length: int) -> None:
    torch.manual_seed(0)
    recurrence = WalkRecurrence(INPUTS, HIDDEN)
    found = []
    for read in (recurrence, lambda *given: by_torch(recurrence, *given)):
        first, steps, there = walks(length)
        inputs = [first.requires_grad_(), *(step.requires_grad_() for step in steps)]
        weight = torch.arange(1.0, 1 + 2 * HIDDEN)
        found.append(torch.autograd.grad((read(first, steps, there) * weight).sum(), inputs))
    for ours, theirs in zip(*found, strict=True):
        assert theirs.abs().max() > 0.1
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=0)
