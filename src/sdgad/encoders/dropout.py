"""Dropout whose masks agree between the two branches of a residual, drawn from a generator of one's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from sdgad.errors import InputError


class _State(threading.local):  # not a ContextVar, which torch.compile cannot trace
    paired = False
    off = False
    generator: torch.Generator | None = None


_state = _State()


@contextmanager
def paired_dropout() -> Iterator[None]:
    """Inside, the first and the second half of every tensor's leading axis get the same mask."""
    before, _state.paired = _state.paired, True
    try:
        yield
    finally:
        _state.paired = before


@contextmanager
def without_dropout() -> Iterator[None]:
    """Inside, nothing is dropped: what is kept for later is no matter of chance."""
    before, _state.off = _state.off, True
    try:
        yield
    finally:
        _state.off = before


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Inside, in this thread, masks are drawn from this generator: several trainings at once do not disturb each other."""
    before, _state.generator = _state.generator, generator
    try:
        yield
    finally:
        _state.generator = before


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
        if not self.training or self.p == 0 or _state.off:
            return x
        if x.device.type == "cuda" and _state.generator is not None and not _state.paired:
            dropped: Tensor = torch._fused_dropout(x, 1 - self.p, _state.generator)[0]
            return dropped  # as below with other draws, in one kernel
        branches = x.view(2, len(x) // 2, *x.shape[1:]) if _state.paired else x[None]
        mask = _eight_at_a_time if x.device.type == "cpu" else _drawn
        return (branches * mask(branches[0], self.p)).flatten(0, 1)


# Masks: 1 / (1 − p) or, with probability p, 0.
def _drawn(like: Tensor, p: float) -> Tensor:
    keep = torch.rand(like.shape, device=like.device, generator=_state.generator) >= p
    return keep * (1 / (1 - p))


def _eight_at_a_time(like: Tensor, p: float) -> Tensor:
    """On a CPU, where numbers are drawn one after the other: eight of one draw, p being rounded to 1/256."""
    words = torch.randint(-(2**63), 2**63 - 1, (-(-like.numel() // 8),), generator=_state.generator)
    dropped = min(255, round(256 * p))
    keep = (words.view(torch.uint8)[: like.numel()] >= dropped).view(like.shape)
    return keep.to(like.dtype) * (256 / (256 - dropped))
