"""Clusters of edge codes that move on with the stream."""

from __future__ import annotations

import torch
from torch import Tensor

ROUNDS = 20  # of k-means


def nearest(codes: Tensor, centroids: Tensor) -> tuple[Tensor, Tensor]:
    """Distance of each code `[B, d]` to the nearest centroid `[k, d]`, and which that is."""
    apart = (codes[:, None] - centroids).square().sum(2)
    squared, which = apart.min(1)
    return squared.sqrt(), which


def k_means(codes: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Centroids `[k, d]` and how many codes each has: k-means++ and twenty rounds; a cluster that loses all stays where it is."""
    some = int(torch.randint(len(codes), (1,), generator=generator, device=generator.device))
    centroids = codes[some : some + 1]
    for _ in range(count - 1):
        weight = nearest(codes, centroids)[0].square() + 1e-12
        share = torch.rand(1, generator=generator, device=generator.device).to(codes.device)
        level = weight.cumsum(0)
        chosen = torch.searchsorted(level, share * level[-1]).clamp(max=len(codes) - 1)
        centroids = torch.cat([centroids, codes[chosen]])
    size = torch.zeros(count, device=codes.device)
    for _ in range(ROUNDS):
        _, which = nearest(codes, centroids)
        size = torch.bincount(which, minlength=count).to(codes.dtype)
        total = torch.zeros_like(centroids).index_add(0, which, codes)
        centroids = torch.where(size[:, None] > 0, total / size.clamp(min=1)[:, None], centroids)
    return centroids, size


def moved_on(old: tuple[Tensor, Tensor], fresh: tuple[Tensor, Tensor], keep: float) -> tuple[Tensor, Tensor]:
    """c = (a c₀ n₀ + (1 − a) c n) / (a n₀ + (1 − a) n), with each fresh centroid beside the old one that it is matched with.

    Matched are those that lie least apart all together; the published code averages them in the order in which two runs of
    k-means happen to number them. The new size is a n₀ + (1 − a) n.
    """
    from scipy.optimize import linear_sum_assignment

    (centroids, size), (now, count) = old, fresh
    _, column = linear_sum_assignment(torch.cdist(centroids, now).cpu().numpy())
    order = torch.from_numpy(column).to(now.device)
    before, after = keep * size, (1 - keep) * count[order]
    total = before + after
    mean = (before[:, None] * centroids + after[:, None] * now[order]) / total.clamp(min=1e-12)[:, None]
    return torch.where(total[:, None] > 0, mean, centroids), total
