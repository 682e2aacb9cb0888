"""Cosines of gaps are exact at any gap, and learnable without blowing up."""

from __future__ import annotations

import math

import pytest
import torch

from sdgad.encoders.time_encoding import TimeEncoding


def test_codes_are_cosines_on_a_grid_from_one_to_a_billionth() -> None:
    code = TimeEncoding(4)(torch.tensor([0.0, 12345.0]))
    assert code.dtype == torch.float32
    expected = [[math.cos(gap * 10 ** (-9 * m / 3)) for m in range(4)] for gap in (0, 12345)]
    torch.testing.assert_close(code, torch.tensor(expected), atol=1e-6, rtol=0)


@pytest.mark.parametrize("gap", [1e6, 3e7, 1.5e9])
def test_large_gaps_keep_their_phase(gap: float) -> None:
    exact = torch.tensor(gap).item()  # what is left of it in float32
    expected = [math.cos(exact * 10 ** (-9 * m / 99)) for m in range(100)]
    code = TimeEncoding(100)(torch.tensor(gap))
    torch.testing.assert_close(code, torch.tensor(expected), atol=1e-5, rtol=0)


def test_the_logarithm_of_the_gap_is_the_last_number() -> None:
    layer = TimeEncoding(3, log_gap=True)
    code = layer(torch.tensor([0.0, math.exp(10) - 1]))
    assert code.shape[-1] == layer.width == 4
    torch.testing.assert_close(code[:, 3], torch.tensor([0.0, 2.0]))


def test_frozen_frequencies_are_not_parameters() -> None:
    assert not list(TimeEncoding(5).parameters())
    assert {name for name, _ in TimeEncoding(5, trainable=True).named_parameters()} == {"log_scale", "phase"}


def test_gradients_of_frequencies_stay_bounded_for_huge_gaps() -> None:
    layer = TimeEncoding(10, trainable=True)
    gap = 10 ** torch.linspace(0, 8, 200)
    layer(gap).sum().backward()
    assert layer.log_scale is not None
    assert layer.log_scale.grad is not None
    assert (layer.log_scale.grad != 0).all()
    assert layer.log_scale.grad.abs().max() <= 200 * 8 * math.pi


def test_training_moves_frequency_and_phase() -> None:
    layer = TimeEncoding(2, trainable=True)
    assert layer.log_scale is not None
    assert layer.phase is not None
    with torch.no_grad():
        layer.log_scale.fill_(math.log(2))
        layer.phase.fill_(0.5)
    torch.testing.assert_close(layer(torch.tensor(3.0))[0], torch.tensor(math.cos(2 * 3 + 0.5)))
