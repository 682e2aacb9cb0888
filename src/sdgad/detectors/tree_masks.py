"""Small trees asked about many rows: every wrong turn rules out leaves, and a row ends in the first one left.

The leaves of a tree are numbered from left to right. An inner node whose question a row answers with "right" rules out all leaves
on its left; of those that no node rules out, the first is where the row falls (Lucchese et al., QuickScorer, 2015). No row walks,
so all nodes are asked of whole columns, which is several times as fast as a walk and gives the same leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sdgad.detectors.trees import TreeArrays

LEAVES = 8  # one bit each
FIRST_LEFT = np.array([0, *((mask & -mask).bit_length() - 1 for mask in range(1, 256))])

Column = NDArray[np.float64] | NDArray[np.float32]


class Question(NamedTuple):
    """An inner node, and the leaves that are left where the answer is "right"."""

    feature: int
    threshold: np.float64
    threshold32: np.float32  # v ≤ threshold just as well, for v of 32 bits
    missing_left: bool
    left_over: np.uint8


class SmallTree(NamedTuple):
    """The questions of a tree, and the value of the leaf for every mask of leaves that are left."""

    questions: list[Question]
    values: NDArray[np.float64]  # [256]


class Masks:
    """An ensemble of trees of at most eight leaves."""

    def __init__(self, trees: list[SmallTree]) -> None:
        self.trees = trees

    @classmethod
    def of(cls, trees: TreeArrays) -> Self | None:
        """None where a tree has more leaves."""
        if trees.depth >= LEAVES:
            return None
        thresholds = at_most(trees.threshold)
        made = []
        for root in trees.roots.tolist():
            questions: list[Question] = []
            leaves: list[int] = []
            if not _visit(trees, thresholds, root, questions, leaves):
                return None
            values = trees.value[leaves]
            made.append(SmallTree(questions, values[np.minimum(FIRST_LEFT, len(leaves) - 1)]))
        return cls(made)

    def values(self, x: Column, first: int = 0) -> Iterator[NDArray[np.float64]]:
        """The value of the leaf of every row, tree after tree, from the tree of number `first` on."""
        columns = np.ascontiguousarray(x.T)
        single = columns.dtype == np.float32
        missing = np.isnan(columns) if np.isnan(columns).any() else None
        answer = np.empty(len(x), bool)
        left, mask = answer.view(np.uint8), np.empty(len(x), np.uint8)
        for tree in self.trees[first:]:
            mask.fill(255)
            for ask in tree.questions:
                np.less_equal(columns[ask.feature], ask.threshold32 if single else ask.threshold, out=answer)
                if missing is not None and ask.missing_left:
                    np.logical_or(answer, missing[ask.feature], out=answer)
                np.negative(left, out=left)  # 255 where the answer is "left"
                np.bitwise_or(left, ask.left_over, out=left)
                np.bitwise_and(mask, left, out=mask)
            yield tree.values.take(mask)


def at_most(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest number of 32 bits that is not above each threshold: v ≤ one is v ≤ the other, for v of 32 bits."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _visit(
    trees: TreeArrays,
    thresholds: NDArray[np.float32],
    node: int,
    questions: list[Question],
    leaves: list[int],
) -> int:
    """The bits of the leaves below a node, from left to right; 0 where there are too many."""
    right, left = trees.child[node].tolist()
    if right == node:
        leaves.append(node)
        return 1 << (len(leaves) - 1) if len(leaves) <= LEAVES else 0
    place = len(questions)
    below_left = _visit(trees, thresholds, left, questions, leaves)
    below_right = _visit(trees, thresholds, right, questions, leaves) if below_left else 0
    questions.insert(
        place,
        Question(
            int(trees.feature[node]),
            trees.threshold[node],
            thresholds[node],
            bool(trees.missing_left[node]),
            np.uint8(255 & ~below_left),
        ),
    )
    return below_left | below_right if below_left and below_right else 0
