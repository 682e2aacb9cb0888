"""A coupling flow with fixed halves (RealNVP), which asks nothing of the host."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from sdgad.detectors.precision import ExactLinear

STEEPEST = math.log(1e3)  # |log scale| of a block stays below 6.9


class CouplingFlow(nn.Module):
    """x → z and log |det ∂z/∂x|, by blocks that move one half of the coordinates by what the other half says.

    Block i keeps the half a (the even coordinates if i is even, else the odd ones) and moves the other: b ← b · e^s + t with
    (t, s') = MLP(a), s = s' / (1 + |s'| / log 10³); log |det| = Σ s. The halves stay apart from the first block to the last,
    so nothing is picked by a mask, and z holds them one after the other. Before training it is the identity. Parameters and
    buffers are named as zuko names those of its RealNVP, which computes the same: folders that were written with it load.
    """

    def __init__(self, width: int, transforms: int) -> None:
        super().__init__()
        blocks = nn.ModuleList(Coupling(width, first=i % 2 == 0) for i in range(transforms))
        self.transform = nn.ModuleDict({"transforms": blocks})
        self.base = nn.Module()
        self.base.register_buffer("loc", torch.zeros(width))
        self.base.register_buffer("scale", torch.ones(width))
        self._blocks: list[Coupling] = list(blocks)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        halves = [x[..., 0::2], x[..., 1::2]]
        log_scales = []
        for i, block in enumerate(self._blocks):
            keeps, moves = i % 2, 1 - i % 2
            halves[moves], log_scale = block(halves[keeps], halves[moves])
            log_scales.append(log_scale)
        return torch.cat(halves, -1), torch.cat(log_scales, -1).sum(-1)


class Coupling(nn.Module):
    """One half moved by what the other says: a shift and a log-scale of each of its coordinates."""

    mask: Tensor

    def __init__(self, width: int, *, first: bool) -> None:
        super().__init__()
        even = torch.arange(width, device="cpu") % 2 == 0
        self.register_buffer("mask", even if first else ~even)  # who is kept; for the folder alone
        kept = (width + first) // 2
        self.hyper = nn.Sequential(
            ExactLinear(kept, width), nn.ReLU(), ExactLinear(width, width), nn.ReLU(),
            ExactLinear(width, 2 * (width - kept)),
        )  # fmt: skip
        start_at_identity(self)

    def forward(self, kept: Tensor, moved: Tensor) -> tuple[Tensor, Tensor]:
        """b · e^s + t, and s."""
        y, log_scale = _Move.apply(moved, self.hyper(kept))  # type: ignore[no-untyped-call]
        return y, log_scale


class _Move(torch.autograd.Function):
    """Autograd would take three times the kernels to go back through it, most of them shorter than their start."""

    @staticmethod
    def forward(ctx: Any, moved: Tensor, said: Tensor) -> tuple[Tensor, Tensor]:
        shift, steep = said[..., 0::2], said[..., 1::2]
        soft = torch.add(1.0, steep.abs(), alpha=1 / STEEPEST)
        log_scale = steep / soft
        scale = log_scale.exp()
        ctx.save_for_backward(moved, scale, soft)
        return torch.addcmul(shift, moved, scale), log_scale

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_y: Tensor, of_log_scale: Tensor) -> tuple[Tensor, Tensor]:
        """∂s/∂s' = 1 / (1 + |s'| / log 10³)²."""
        moved, scale, soft = ctx.saved_tensors
        of_moved = of_y * scale
        of_steep = torch.addcmul(of_log_scale, of_moved, moved) / soft.square()
        return of_moved, torch.stack([of_y, of_steep], -1).flatten(-2)


def start_at_identity(flow: nn.Module) -> None:
    """Zero the last layer of every subnetwork: before training, p(x) is the Gaussian that the projection was whitened for."""
    for module in flow.modules():
        if isinstance(module, nn.Sequential):
            for parameter in module[-1].parameters():
                nn.init.zeros_(parameter)
