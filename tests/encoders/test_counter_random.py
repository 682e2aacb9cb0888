"""Draws by counting: those of SplitMix64, even, and independent of each other."""

from __future__ import annotations

import numpy as np
import torch

from sdgad.encoders.counter_random import POSITIVE, bits_of, draws, mixed

BELOW = float(1 << 63)


def by_hand(seed: int, count: int) -> list[int]:
    """SplitMix64 in Python's own numbers."""
    word, out = (1 << 64) - 1, []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & word
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & word
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
        out.append(z ^ (z >> 31))
    return out


def test_draws_are_those_of_splitmix64() -> None:
    assert by_hand(0, 1) == [0xE220A8397B1DCDAF]  # as published
    for seed in (0, 1, 2**40 + 7, 2**63 - 1):
        expected = [number & POSITIVE for number in by_hand(seed, 6)]
        assert draws(torch.tensor(seed), 0, 6).tolist() == expected
        assert draws(torch.tensor(seed), 1, 3, step=2).tolist() == expected[1::2]


def test_draws_are_even_in_their_high_and_low_bits() -> None:
    drawn = draws(torch.arange(1000), 0, 64).flatten()
    for bits in (drawn >> 55, drawn & 255):
        found = torch.bincount(bits, minlength=256).double()
        expected = len(drawn) / 256
        squares = float(((found - expected) ** 2 / expected).sum())
        assert 150 < squares < 380  # of chi-squared with 255 degrees of freedom, beyond 4.5 deviations


def test_draws_of_neighbouring_keys_and_numbers_are_independent() -> None:
    drawn = draws(torch.arange(400), 0, 400).double().numpy() / BELOW
    pairs = [(drawn[:-1], drawn[1:]), (drawn[:, :-1], drawn[:, 1:]), (drawn[:-1, :-1], drawn[1:, 1:])]
    for one, other in pairs:
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 4 / np.sqrt(one.size)


def test_every_bit_of_a_key_has_a_say_in_every_bit_of_a_draw() -> None:
    key = mixed(torch.arange(2000))
    bit = torch.arange(64)
    flipped = key[:, None] ^ (torch.ones_like(bit) << bit)
    changed = (mixed(flipped) ^ mixed(key)[:, None])[..., None] >> bit & 1
    share = changed.double().mean(0)
    assert share.min() > 0.44
    assert share.max() < 0.56  # 5 deviations of 2000 throws


def test_bits_tell_numbers_apart_that_are_next_to_each_other() -> None:
    for dtype in (torch.float32, torch.float64):
        one = torch.tensor([1e6, 0.0], dtype=dtype)
        assert (bits_of(torch.nextafter(one, one + 1)) - bits_of(one)).tolist() == [1, 1]
