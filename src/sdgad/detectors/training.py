"""One training loop for every detector that learns by gradient."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from sdgad.detectors.progress import EpochBar
from sdgad.detectors.record import Record

logger = logging.getLogger("sdgad.training")

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


def train(
    model: nn.Module,
    schedule: Schedule,
    batches: Callable[[int], Iterable[B]],
    num_batches: int,
    losses: Callable[[B], dict[str, Tensor]],
    validate: Callable[[], dict[str, float]],
    *,
    clip_apart: Sequence[nn.Module] = (),
    progress: bool = False,
) -> Record:
    """Minimise the sum of `losses` by AdamW; keep the weights of the epoch with the highest `select` in `validate()`.

    Weight decay acts on matrices only: biases, norms, other vectors and frozen parameters are left alone. Ctrl-C ends
    the training and keeps the best checkpoint so far. Ties keep the earlier epoch; a `select` of NaN counts as −∞.
    """
    decayed = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    plain = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": schedule.weight_decay}, {"params": plain, "weight_decay": 0.0}],
        lr=schedule.learning_rate,
    )
    apart = {id(p) for module in clip_apart for p in module.parameters()}
    groups = [
        [p for p in model.parameters() if id(p) not in apart],
        *(list(m.parameters()) for m in clip_apart),
    ]
    record = Record()
    average = _Average(model, schedule.average)
    best, best_value = average.state(), -math.inf
    bar = EpochBar(schedule.epochs, num_batches) if progress else None
    try:
        with bar or nullcontext():
            for epoch in range(1, schedule.epochs + 1):
                model.train()
                start = perf_counter()
                totals: dict[str, Tensor] = {}
                for batch in batches(epoch):
                    parts = losses(batch)
                    loss = torch.stack(list(parts.values())).sum()
                    optimiser.zero_grad(set_to_none=True)
                    loss.backward()  # type: ignore[no-untyped-call]
                    for group in groups:
                        nn.utils.clip_grad_norm_(group, schedule.clip)
                    optimiser.step()
                    average.follow()
                    for name, value in parts.items():
                        totals[name] = totals.get(name, torch.zeros((), device=value.device)) + value.detach()
                    if bar:
                        bar.step()
                means = {name: float(value) / num_batches for name, value in totals.items()}
                record.seconds.append(perf_counter() - start)
                model.eval()
                with average.applied(), torch.no_grad():
                    figures = validate()
                entry = {"epoch": float(epoch), **means, **figures}
                record.epochs.append(entry)
                logger.info(
                    "epoch %d: %s", epoch, ", ".join(f"{k} {v:.4f}" for k, v in entry.items() if k != "epoch")
                )
                if bar:
                    bar.epoch(entry)
                reached = -math.inf if math.isnan(figures["select"]) else figures["select"]
                if reached > best_value or record.best_epoch == 0:
                    best, best_value, record.best_epoch = average.state(), reached, epoch
                elif epoch - record.best_epoch >= schedule.patience:
                    break
    except KeyboardInterrupt:
        record.interrupted = True
        if record.best_epoch == 0:
            logger.warning("Training was interrupted in its first epoch; what it had learned so far is kept.")
            best = average.state()
        else:
            logger.warning("Training was interrupted; the best epoch so far (%d) is kept.", record.best_epoch)
    model.load_state_dict(best)
    model.eval()
    return record


class _Average:
    """A running average of the weights, w̄ ← β w̄ + (1 − β) w with a warm-up, steadier than any single step."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.steps = 0
        self.values = {name: p.detach().clone() for name, p in model.named_parameters()} if decay else {}

    @torch.no_grad()
    def follow(self) -> None:
        self.steps += 1
        if not self.decay:
            return
        weight = 1 - min(self.decay, self.steps / (self.steps + 10))
        values = list(self.values.values())
        torch._foreach_lerp_(values, [p.detach() for p in self.model.parameters()], weight)

    def applied(self) -> AbstractContextManager[Any]:
        """The averaged weights in the model, for validation."""
        return _Swapped(self.model, self.values) if self.decay else nullcontext()

    def state(self) -> dict[str, Tensor]:
        """A copy of the averaged state."""
        with self.applied():
            return {name: value.detach().clone() for name, value in self.model.state_dict().items()}


class _Swapped(AbstractContextManager[None]):
    def __init__(self, model: nn.Module, values: dict[str, Tensor]) -> None:
        self.model = model
        self.values = values

    @torch.no_grad()
    def _swap(self) -> None:
        for name, parameter in self.model.named_parameters():
            held = parameter.detach().clone()
            parameter.copy_(self.values[name])
            self.values[name].copy_(held)

    def __enter__(self) -> None:
        self._swap()

    def __exit__(self, *_: object) -> None:
        self._swap()
