"""Random numbers by counting: number n under a key is a hash of key and n, so that no draw depends on those before it."""

from __future__ import annotations

import torch
from torch import Tensor

GOLDEN = -0x61C8864680B583EB  # 2⁶⁴/φ, as a signed number: the step of SplitMix64
_FIRST, _SECOND = -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15  # its two factors
POSITIVE = (1 << 63) - 1


def mixed(x: Tensor) -> Tensor:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): int64 to int64, one to one, every bit depending on all bits.

    Products wrap around at 2⁶⁴, on a CPU as on a GPU, so that bits are the same on both. Shifts are logical.
    """
    x = (x ^ _shifted(x, 30)) * _FIRST
    x = (x ^ _shifted(x, 27)) * _SECOND
    return x ^ _shifted(x, 31)


def draws(key: Tensor, start: int, count: int, step: int = 1) -> Tensor:
    """Keys `[…]` → `[…, count]` numbers below 2⁶³: number `start`, `start + step`, … of what SplitMix64 makes of the key."""
    number = torch.arange(start + 1, start + 1 + count * step, step, device=key.device)
    return mixed(key[..., None] + number * GOLDEN) & POSITIVE


def bits_of(x: Tensor) -> Tensor:
    """The bits of float32 or float64 numbers, as int64."""
    return x.detach().view(torch.int64 if x.dtype == torch.float64 else torch.int32).long()


def _shifted(x: Tensor, by: int) -> Tensor:
    return (x >> by) & ((1 << (64 - by)) - 1)
