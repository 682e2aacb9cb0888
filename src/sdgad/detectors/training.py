"""One training loop for every detector that learns by gradient."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from time import perf_counter
from typing import TypeVar

import torch
from torch import nn

from sdgad.detectors.progress import EpochBar
from sdgad.detectors.record import Record
from sdgad.detectors.step import Schedule, Step

logger = logging.getLogger("sdgad.training")

B = TypeVar("B")


def train(
    model: nn.Module,
    schedule: Schedule,
    batches: Callable[[int], Iterable[B]],
    num_batches: int,
    step: Step[B],
    validate: Callable[[], dict[str, float]],
    *,
    run: Callable[[B], None] | None = None,
    progress: bool = False,
) -> Record:
    """Go on by `step` (or by `run`, which does the same: a `Capture` of it) over the `batches` of every epoch; keep the weights
    of the epoch with the highest `select` in `validate()`.

    Ctrl-C ends the training and keeps the best checkpoint so far. Ties keep the earlier epoch; a `select` of NaN counts as −∞.
    """
    run = run or step
    record, average = Record(), step.average
    best, best_value = average.state(), -math.inf
    bar = EpochBar(schedule.epochs, num_batches) if progress else None
    try:
        with bar or nullcontext():
            for epoch in range(1, schedule.epochs + 1):
                model.train()
                start = perf_counter()
                for batch in batches(epoch):
                    run(batch)
                    if bar:
                        bar.step()
                means = step.means(num_batches)
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
