"""How much of a machine's arithmetic is used: floating-point operations of a model, and the rate of large matrix products."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.history.window import Window

TRAINING = 3  # forward and backward cost so many times forward
SIDES = {"cuda": (4096, 8192), "cpu": (1024, 2048)}
REPEATS, TRIES = 5, 3


def forward_flops(detector: LearnedDetector, window: Window) -> float:
    """Floating-point operations per event from Windows to scores.

    Counted on a copy on the CPU, without compiled code or graphs, in which the counter sees nothing; attention as plain
    products, since it does not know the fused one of CPUs.
    """
    twin = copy.copy(detector).set_params(device="cpu")
    counter = FlopCounterMode(display=False)
    with torch.compiler.set_stance("force_eager"), sdpa_kernel(SDPBackend.MATH), counter:
        twin._score_window(window.to("cpu"))
    return counter.get_total_flops() / len(window)


def matmul_rate(device: torch.device, precision: str) -> float:
    """Operations per second of the best of a few large square matrix products in fp32, tf32 or bf16."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    best = 0.0
    with _tf32(precision == "tf32"):
        for side in SIDES[device.type]:
            a, b = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
            a @ b
            for _ in range(TRIES):
                wait_for(device)
                start = time.perf_counter()
                for _ in range(REPEATS):
                    a @ b
                wait_for(device)
                best = max(best, REPEATS * 2 * side**3 / (time.perf_counter() - start))
    return best


def wait_for(device: torch.device) -> None:
    """Until a GPU has done all that it was asked."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    settings = torch.backends.cuda.matmul
    before, settings.allow_tf32 = settings.allow_tf32, allowed
    try:
        yield
    finally:
        settings.allow_tf32 = before
