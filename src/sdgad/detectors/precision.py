"""How exact matrix products on a GPU are, and who may change it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

Precision = Literal["fp32", "tf32", "bf16"]

EAGER = threading.RLock()
"""Held by whoever launches work of a network on a GPU one kernel at a time: the switch below is the whole process's. A replay of
what was recorded under it does not need it."""


@contextmanager
def products(precision: Precision, device: torch.device) -> Iterator[None]:
    """Inside, a network's matrix products are of this precision.

    `tf32` rounds the factors to 11 bits, on a GPU; on a CPU it is `fp32`. `bf16` rounds factors and products to 8 bits. What
    an `ExactLinear` computes is of full float32 in any case.
    """
    half = torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()
    if device.type != "cuda":
        with half:
            yield
        return
    with EAGER, _switched(precision != "fp32"), half:
        yield


@contextmanager
def _switched(tf32: bool) -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def gradient_of_input(value: Tensor, given: Tensor) -> Tensor:
    """∂value/∂given through a network whose weights get no gradient of it; the network can be gone back through once more."""
    _Exact.weights = False
    try:
        return torch.autograd.grad(value, given, retain_graph=True)[0]
    finally:
        _Exact.weights = True


class ExactLinear(nn.Linear):
    """y = W x + b whose products, backward too, are of full float32 in whatever `products`."""

    def forward(self, x: Tensor) -> Tensor:
        kind = x.device.type
        if torch.is_autocast_enabled(kind):
            with torch.autocast(kind, enabled=False):
                return self.forward(x.float())
        if kind != "cuda" or not torch.backends.cuda.matmul.allow_tf32:
            return F.linear(x, self.weight, self.bias)
        y: Tensor = _Exact.apply(x, self.weight, self.bias)  # type: ignore[no-untyped-call]
        return y


class _Exact(torch.autograd.Function):
    """The backward pass has a thread of its own, while the one that holds `EAGER` waits for it.

    torch does not tell a function of Python which gradients are asked for: `weights` does.
    """

    weights = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        with _switched(False):
            return F.linear(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = (
            asked and (_Exact.weights or not i) for i, asked in enumerate(ctx.needs_input_grad)
        )
        with _switched(False):
            return (
                above @ weight if of_x else None,
                above.T @ x if of_weight else None,
                above.T.mv(above.new_ones(len(above))) if of_bias else None,
            )
