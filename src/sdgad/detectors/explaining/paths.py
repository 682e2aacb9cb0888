"""Paths: which columns led boosted trees to what they say of an event (Saabas 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from sdgad.detectors.event_table import Table
from sdgad.detectors.trees import BoostedTrees
from sdgad.events.stream import Array

EMPTY = (
    0.01  # events that a leaf counts for beside those of the sample: a node that saw none still has a mean
)


@dataclass(frozen=True, eq=False)
class Paths:
    """log-odds = mean over a sample + Σ_themes share, of one ensemble.

    m(v) is the mean of the leaf values below node v, weighted by how many events of the sample fell into each. A step from u to
    its child v is due to the column that u asks: the theme of that column gets m(v) − m(u). What a leaf gives to all themes is
    worked out once.
    """

    trees: BoostedTrees
    shares: Array  # [nodes, themes] float32; read at leaves

    @classmethod
    def of(cls, trees: BoostedTrees, count: Array, theme: Array, themes: int) -> Paths:
        """With the events of a sample in every leaf, and the theme of every column (−1: none)."""
        child, nodes = trees.child, np.arange(len(trees.value))
        leaf = child[:, 0] == nodes
        weight = np.where(leaf, count + EMPTY, 0.0)
        total = weight * trees.value
        for node in nodes[~leaf][::-1]:  # children come after their parent
            weight[node] = weight[child[node]].sum()
            total[node] = total[child[node]].sum()
        mean = total / weight
        shares = np.zeros((len(nodes), themes + 1), np.float32)  # the last is that of no theme
        about = theme[trees.feature]
        for node in nodes[~leaf]:
            for below in child[node]:
                shares[below] = shares[node]
                shares[below, about[node]] += mean[below] - mean[node]
        return cls(trees, np.ascontiguousarray(shares[:, :themes]))

    def __call__(self, rows: Table) -> Array:
        """`[B, themes]`: the share of every theme in the log-odds."""
        leaves = self.trees.leaves(rows[:, : int(self.trees.columns)])
        found: Array = embedding_bag(
            torch.from_numpy(leaves.T), torch.from_numpy(self.shares), mode="sum"
        ).numpy()
        return found


def leaf_counts(trees: BoostedTrees, rows: Table) -> Array:
    """`[nodes]` int32: how many of these events fall into each leaf."""
    leaves = trees.leaves(rows[:, : int(trees.columns)])
    return np.bincount(leaves.ravel(), minlength=len(trees.value)).astype(np.int32)
