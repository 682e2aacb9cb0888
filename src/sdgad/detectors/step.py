"""Step: one step of training, which asks nothing of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from sdgad.detectors.average import Average

B = TypeVar("B")


@dataclass(frozen=True)
class Schedule:
    """How long, how fast, how carefully."""

    epochs: int
    patience: int
    learning_rate: float
    weight_decay: float
    clip: float = 1.0
    average: float = (
        0.0  # decay of the running average of weights that is validated and kept; 0 keeps the raw weights
    )


class Step(Generic[B]):
    """Losses of a batch → gradients → clipping → AdamW → running average of weights → sums of the loss parts.

    Weight decay acts on matrices only: biases, norms, other vectors and frozen parameters are left alone. Gradients are
    clipped by their norm, those of the modules in `clip_apart` each by its own.
    """

    def __init__(
        self,
        model: nn.Module,
        schedule: Schedule,
        losses: Callable[[B], dict[str, Tensor]],
        clip_apart: Sequence[nn.Module] = (),
    ) -> None:
        self._losses = losses
        self._totals: dict[str, Tensor] = {}
        self.average = Average(model, schedule.average)
        learned = [p for p in model.parameters() if p.requires_grad]
        device = learned[0].device.type
        self._optimiser = torch.optim.AdamW(
            [
                {"params": [p for p in learned if p.ndim > 1], "weight_decay": schedule.weight_decay},
                {"params": [p for p in learned if p.ndim <= 1], "weight_decay": 0.0},
            ],
            lr=schedule.learning_rate,
            fused=device in ("cpu", "cuda"),
            capturable=device == "cuda",
        )
        apart = [{id(p) for p in module.parameters()} for module in clip_apart]
        groups = [[p for p in learned if id(p) in ids] for ids in apart]
        rest = [p for p in learned if not any(id(p) in ids for ids in apart)]
        self._groups = [group for group in (rest, *groups) if group]
        self._clip = schedule.clip

    def __call__(self, batch: B) -> None:
        parts = self._losses(batch)
        loss = torch.stack(list(parts.values())).sum()
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self._clip_gradients()
        self._optimiser.step()
        self.average.follow()
        for name, value in parts.items():
            if name not in self._totals:
                self._totals[name] = torch.zeros((), device=value.device)
            self._totals[name] += value.detach()

    def means(self, batches: int) -> dict[str, float]:
        """Mean loss parts since the last call: the one question of an epoch to the device."""
        names = list(self._totals)
        sums = torch.stack([self._totals[name] for name in names]).tolist() if names else []
        for total in self._totals.values():
            total.zero_()
        return {name: value / batches for name, value in zip(names, sums, strict=True)}

    @torch.no_grad()
    def _clip_gradients(self) -> None:
        """g ← g · min(1, clip / ‖g‖) in each group: all norms in one pass."""
        groups = [[p.grad for p in group if p.grad is not None] for group in self._groups]
        norms = torch.stack(torch._foreach_norm([g for group in groups for g in group]))
        lengths = [len(group) for group in groups]
        for group, norm in zip(groups, torch.split(norms, lengths), strict=True):
            if group:
                factor = (self._clip / (norm.norm() + 1e-6)).clamp(max=1.0)
                torch._foreach_mul_(group, factor)
