"""Dropout whose masks agree between the two branches of a residual."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from sdgad.errors import InputError


class _State(threading.local):  # not a ContextVar, which torch.compile cannot trace
    paired = False


_state = _State()


@contextmanager
def paired_dropout() -> Iterator[None]:
    """Inside, the first and the second half of every tensor's leading axis get the same mask."""
    before, _state.paired = _state.paired, True
    try:
        yield
    finally:
        _state.paired = before


class Dropout(nn.Module):
    """Inverted dropout with probability p.

    A residual Enc(history + event) − Enc(history) under two different masks would be mostly dropout noise
    (the true residual of a normal event is small), so the doubled batch of `Encoder.both` draws each mask
    once and uses it twice.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise InputError(f"dropout={p}: must lie in [0, 1).")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        branches = x.reshape(2, len(x) // 2, *x.shape[1:]) if _state.paired else x[None]
        keep = torch.rand(branches.shape[1:], device=x.device) < 1 - self.p
        return (branches * (keep.to(x.dtype) / (1 - self.p))).flatten(0, 1)
