"""A learned filter over the frequencies of a sequence (FreeDyG), in real numbers throughout."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FrequencyFilter(nn.Module):
    """y = irFFT(rFFT(x) · W) over the T tokens, W complex, one number per frequency and channel (FreeDyG, Tian et al. 2024).

    `response` `[T, w]` holds W as real numbers: its real parts at the ⌊T/2⌋ + 1 frequencies, then its imaginary parts at
    those that have one. irFFT never reads the imaginary part of the constant and, for an even T, of the alternating
    component: published codes keep weights for these too, which nothing but weight decay moves. They start as
    N(0, 1), as published; started as N(0, 0.01) or 0, small encoders validated alike.

    Both transforms are products with fixed matrices of cosines and sines. That is 4 T² w operations per sequence, fewer
    than the mixing of channels up to thousands of tokens, and on a CPU it was quicker than torch.fft at 21, 33 and 257
    tokens. Optimiser, averages, files and bfloat16 meet no complex numbers, and a CUDA graph no plans of cuFFT.
    """

    analysis: Tensor  # [2 K, T], K = ⌊T/2⌋ + 1: x to the real, then the imaginary parts of its spectrum
    synthesis: Tensor  # [T, 2 K]: and back

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.frequencies = tokens // 2 + 1
        turns = torch.arange(self.frequencies)[:, None] * torch.arange(tokens) % tokens
        angle = turns.double() * (2 * math.pi / tokens)
        waves = torch.cat([angle.cos(), -angle.sin()])
        twice = (
            2 - (2 * torch.arange(self.frequencies) % tokens == 0).double()
        )  # f and T − f, where they differ
        self.register_buffer("analysis", waves.float(), persistent=False)
        self.register_buffer(
            "synthesis", (waves * twice.repeat(2)[:, None] / tokens).T.float(), persistent=False
        )
        self.response = nn.Parameter(torch.randn(tokens, width))

    def forward(self, x: Tensor) -> Tensor:
        """`[N, T, w]` → `[N, T, w]`; T is what the filter was made for."""
        real, imag = self.parts()
        x_real, x_imag = (self.analysis @ x).chunk(2, 1)
        filtered = torch.cat([x_real * real - x_imag * imag, x_real * imag + x_imag * real], 1)
        return self.synthesis @ filtered

    def parts(self) -> tuple[Tensor, Tensor]:
        """Real and imaginary parts of W, `[⌊T/2⌋ + 1, w]` each."""
        real, imag = self.response[: self.frequencies], self.response[self.frequencies :]
        return real, F.pad(imag, (0, 0, 1, self.frequencies - 1 - len(imag)))
