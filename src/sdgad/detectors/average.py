"""A running average of weights, steadier than any single step."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

WARM_UP = 10


class Average:
    """w̄ ← β w̄ + (1 − β) w with β = min(decay, n / (n + 10)) at step n, which the device counts; `decay=0`: w itself."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.values = {name: p.detach().clone() for name, p in model.named_parameters()} if decay else {}
        some = next(model.parameters())
        self._steps = torch.zeros((), dtype=some.dtype, device=some.device)

    @torch.no_grad()
    def follow(self) -> None:
        """After a step."""
        if not self.decay:
            return
        self._steps += 1
        weight = 1 - (self._steps / (self._steps + WARM_UP)).clamp(max=self.decay)
        values = list(self.values.values())
        apart = torch._foreach_sub([p.detach() for p in self.model.parameters()], values)
        torch._foreach_mul_(apart, weight)
        torch._foreach_add_(values, apart)

    def applied(self) -> AbstractContextManager[Any]:
        """The averaged weights in the model, for validation."""
        return Swapped(self.model, self.values) if self.decay else nullcontext()

    def state(self) -> dict[str, Tensor]:
        """A copy of the averaged state."""
        with self.applied():
            return {name: value.detach().clone() for name, value in self.model.state_dict().items()}


class Swapped(AbstractContextManager[None]):
    """Other weights in the place of a model's own."""

    def __init__(self, model: nn.Module, values: dict[str, Tensor]) -> None:
        self.model = model
        self.values = values

    @torch.no_grad()
    def swap(self) -> None:
        own: list[Tensor] = list(self.model.parameters())
        other = [self.values[name] for name, _ in self.model.named_parameters()]
        held = [parameter.detach().clone() for parameter in own]
        torch._foreach_copy_(own, other)
        torch._foreach_copy_(other, held)

    def __enter__(self) -> None:
        self.swap()

    def __exit__(self, *_: object) -> None:
        self.swap()
