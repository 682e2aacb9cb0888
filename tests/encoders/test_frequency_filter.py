"""The frequency filter is irFFT(rFFT(x) · W), without complex numbers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from sdgad.encoders.frequency_filter import FrequencyFilter

LENGTHS = [2, 3, 5, 6, 21, 33, 64, 257]


def by_fft(x: Tensor, weights: Tensor) -> Tensor:
    spectrum = torch.fft.rfft(x, dim=1, norm="forward") * weights
    return torch.fft.irfft(spectrum, n=x.shape[1], dim=1, norm="forward")


@pytest.mark.parametrize("tokens", LENGTHS)
def test_it_equals_the_fast_transform_in_value_and_gradients(tokens: int) -> None:
    torch.manual_seed(0)
    spectral = FrequencyFilter(tokens, 4)
    x = torch.randn(3, tokens, 4, requires_grad=True)
    above = torch.randn(3, tokens, 4)
    learned = (x, spectral.response)
    expected = by_fft(x, torch.complex(*spectral.parts()))
    found = spectral(x)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    of_fft = torch.autograd.grad(expected, learned, above)
    torch.testing.assert_close(torch.autograd.grad(found, learned, above), of_fft, atol=1e-5, rtol=1e-5)


def test_three_tokens_by_hand() -> None:
    """Real part 1 everywhere keeps x; a real part at frequency 0 alone takes the mean; W_f = e^(−2πif/3) is a step of one."""
    spectral = FrequencyFilter(3, 1)
    x = torch.tensor([3.0, 6.0, 0.0])[None, :, None]
    for response, expected in [
        ([1.0, 1.0, 0.0], [3.0, 6.0, 0.0]),
        ([1.0, 0.0, 0.0], [3.0, 3.0, 3.0]),
        ([1.0, -0.5, -(3**0.5) / 2], [0.0, 3.0, 6.0]),
    ]:
        spectral.response.data = torch.tensor(response)[:, None]
        torch.testing.assert_close(spectral(x).flatten(), torch.tensor(expected), atol=1e-6, rtol=0)


@pytest.mark.parametrize("tokens", LENGTHS)
def test_every_weight_is_read(tokens: int) -> None:
    torch.manual_seed(0)
    spectral = FrequencyFilter(tokens, 2)
    assert spectral.response.shape == (tokens, 2)
    spectral(torch.randn(5, tokens, 2)).square().sum().backward()
    assert spectral.response.grad is not None
    assert (spectral.response.grad != 0).all()


def test_files_hold_real_weights_and_no_fixed_matrix() -> None:
    entries = FrequencyFilter(6, 2).state_dict()
    assert {name: value.dtype for name, value in entries.items()} == {"response": torch.float32}


def test_it_works_in_bfloat16() -> None:
    torch.manual_seed(0)
    spectral = FrequencyFilter(21, 8)
    x = torch.randn(4, 21, 8)
    with torch.autocast("cpu", torch.bfloat16):
        rough = spectral(x)
    assert rough.isfinite().all()
    torch.testing.assert_close(rough.float(), spectral(x), atol=0.15, rtol=0)
