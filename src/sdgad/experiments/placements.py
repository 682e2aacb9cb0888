"""Where anomalies stand among the normals of several streams, and how sure their mean, the AUROC, is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sdgad.events.stream import Array
from sdgad.metrics.intervals import Interval, student

Distinct = tuple[Array, Array]
"""Values that occur, and how often."""


def distinct(values: Array) -> Distinct:
    """The values that occur, in no order, and how often: a cue has few of them, however many rows there are."""
    counted = pa.array(values).value_counts()
    return counted.field("values").to_numpy(), counted.field("counts").to_numpy()


def placements(anomalies: Array, normals: Sequence[Distinct]) -> Array:
    """Per anomaly: the share of the normals of all streams with a lower value, a tie counting one half.

    Their mean is the AUROC of the pooled rows, exactly.
    """
    values, where = np.unique(np.concatenate([value for value, _ in normals]), return_inverse=True)
    counts = np.bincount(where, np.concatenate([count for _, count in normals]))
    below = np.concatenate(([0.0], np.cumsum(counts)))
    left = below[np.searchsorted(values, anomalies, side="left")]
    right = below[np.searchsorted(values, anomalies, side="right")]
    return np.asarray((left + right) / (2 * below[-1]), np.float64)


def effective(sizes: Array) -> float:
    """(Σ k)² / Σ k²: how many rows clusters of these sizes are worth if each says but one thing."""
    return float(np.sum(sizes)) ** 2 / float(np.sum(np.square(sizes, dtype=np.float64)))


def clustered_interval(placed: Array, cluster: Array, normals: float, level: float = 0.95) -> Interval:
    """Confidence interval of the mean of placements that are alike within a cluster.

    As `auroc_interval`: Wilson's interval with 1/k trials, where k A(1 − A) is the variance of A. Here that is the one
    between clusters, Σ_g (Σ_{i∈g} (v_i − A))² / m², and m is what the clusters are worth. Normals, of which there are
    `normals`, are many and add little: they get the c = ½ of exponential scores.
    """
    area = float(np.mean(placed))
    sizes = np.bincount(cluster)
    sizes, sums = sizes[sizes > 0], np.bincount(cluster, placed - area)[sizes > 0]
    m = effective(sizes)
    squares = float(np.sum(sums**2)) * (m / len(placed)) ** 2
    rarer = min(m, normals)
    shrunk = (area * rarer + 0.5) / (rarer + 1)
    imagined = shrunk * (1 - shrunk)
    c = (squares + imagined / 2) / ((m - 1) * area * (1 - area) + imagined)
    k = c / m + 0.5 / normals
    z = student(level, rarer)
    doubt = z * z * k
    centre = (area + doubt / 2) / (1 + doubt)
    half = z * math.sqrt(k * (area * (1 - area) + doubt / 4)) / (1 + doubt)
    return Interval(max(0.0, min(area, centre - half)), min(1.0, max(area, centre + half)))
