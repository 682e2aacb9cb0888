"""Sight: what tells later made-up events from real ones, and how much is said by what does and by what does not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sdgad.events.stream import Array
from sdgad.metrics import auroc

JUDGED = 10_000  # later events, made-up ones among them or beside them, that are enough to tell by
TRUSTED = 0.7  # sight from which on a contrast counts in full
DOUBT = 4.0  # the power by which it counts less below
MOST = 1.25  # say of densities that see as well as a contrast
BLIND = 1.5  # the power by which they say less where they see less


def sight(real: Array, made: Array) -> float:
    """2A − 1, A being the AUROC of made-up events among real ones, by any number of each; 0 where they look more real."""
    truth = np.repeat([0.0, 1.0], [len(real), len(made)])
    return max(0.0, 2 * (auroc(truth, np.concatenate([real, made])) or 0.0) - 1)


def trust(contrast: float) -> float:
    """t = min(1, s / 0.7)⁴, s being the sight of a contrast: where trees can hardly tell what did not happen from what did, what
    they say of an event is chance, or worse."""
    return float(min(1.0, contrast / TRUSTED) ** DOUBT)


def say_of_densities(contrast: float, densities: Iterable[float]) -> float:
    """(1 − t) + t · 1.25 · min(1, d / s)^1.5, with s the sight of the contrast, t its trust, d the best of the densities'.

    Where a contrast sees well what no density sees, the ways to be rare on this stream are not those of what did not happen: on
    streams that have nothing but who meets whom, densities are noise. Of a contrast that sees nothing nothing follows.
    """
    trusted = trust(contrast)
    if not trusted:
        return 1.0
    share = min(1.0, max(densities, default=0.0) / contrast) ** BLIND
    return float((1 - trusted) + trusted * MOST * share)
