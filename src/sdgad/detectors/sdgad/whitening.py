"""Where the projection starts: the event's own numbers, whitened, with less weight where the stream itself drifts."""

from __future__ import annotations

import torch
from torch import Tensor

FLOOR = 1e-2  # no direction is stretched more than tenfold
SAME = 1e-9  # a norm below it is that of events of which none differs from the others
BLOCKS = 10
DRIFT = 10.0


def whitening(values: Tensor, width: int, seed: int = 0) -> Tensor:
    """A matrix A `[width, F]` with A v of mean square norm 1, from values `[N, F]` in order of time.

    A = Q (C + DRIFT · D + FLOOR · I)^(−1/2) / scale, where C is the covariance, D the covariance of the means of ten stretches of
    time, and Q the rotation of a seed (or, when narrowing, part of one). Counts and ages grow for as long as a stream runs:
    what comes tomorrow lies beyond all of yesterday in such directions, and would look anomalous in them. D finds them
    without a label.
    """
    values = values.double()
    values = values - values.mean(0)
    covariance = values.T @ values / len(values)
    means = torch.stack([block.mean(0) for block in values.tensor_split(BLOCKS) if len(block)])
    drift = means.T @ means / len(means)
    spread, axes = torch.linalg.eigh(covariance + DRIFT * drift)
    whiten = (axes / (spread.clamp(min=0) + FLOOR).sqrt()).T
    count = max(width, len(whiten))
    drawn = torch.randn(count, count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    rotation = torch.linalg.qr(drawn.to(values.device)).Q
    matrix = rotation[:width, : len(whiten)] @ whiten
    scale = (values @ matrix.T).square().sum(1).mean().sqrt()
    result: Tensor = (matrix / scale.where(scale > SAME, torch.ones_like(scale))).float()
    return result
