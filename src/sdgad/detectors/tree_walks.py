"""Trees on a GPU: all rows walk through all trees at once, a step at a time.

On a CPU a table costs some thousand calls of numpy. Where several fits share a process these wait for each other, and a card
stands idle beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from sdgad.detectors.trees import TreeArrays

PAIRS_AT_ONCE = 1 << 23  # (tree, row) pairs that walk together


class Walks:
    """The node table of an ensemble on a device."""

    def __init__(self, trees: TreeArrays, device: torch.device) -> None:
        def there(array: NDArray[Any]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device)

        self._device = device
        self._depth = trees.depth
        self._feature, self._threshold = there(trees.feature), there(trees.threshold)
        self._child, self._missing_left = there(trees.child.ravel()), there(trees.missing_left)
        self._value, self._roots = there(trees.value), there(trees.roots)

    def leaf_sum(self, x: NDArray[Any], start: float) -> NDArray[np.float64]:
        """`start` + Σ over trees of the value of the leaf that each row falls into.

        They are added tree after tree: the bits are those of a CPU, however many rows there are.
        """
        total = torch.full((len(x),), start, dtype=torch.float64, device=self._device)
        for part, values in self._by_rows(x, 0):
            for value in values:
                total[part] += value
        found: NDArray[np.float64] = total.cpu().numpy()
        return found

    def values_by_tree(self, x: NDArray[Any], first: int = 0) -> NDArray[np.float64]:
        """`[trees, rows]`: the value of the leaf of every row, from the tree of number `first` on."""
        parts = [values.cpu().numpy() for _, values in self._by_rows(x, first)]
        return np.concatenate([np.empty((len(self._roots) - first, 0)), *parts], axis=1)

    def _by_rows(self, x: NDArray[Any], first: int) -> Iterator[tuple[slice, Tensor]]:
        step = max(1, PAIRS_AT_ONCE // max(1, len(self._roots) - first))
        for start in range(0, len(x), step):
            rows = torch.from_numpy(np.ascontiguousarray(x[start : start + step])).to(self._device)
            yield slice(start, start + len(rows)), self._value[self._leaves(rows, self._roots[first:])]

    def _leaves(self, rows: Tensor, roots: Tensor) -> Tensor:
        """`[trees, rows]`: the leaf of each, as its number in the node table; a leaf leads to itself."""
        node = roots[:, None].expand(-1, len(rows))
        row = torch.arange(len(rows), device=rows.device) * rows.shape[1]
        cells = rows.reshape(-1)
        missing = cells.isnan() if bool(cells.isnan().any()) else None
        for _ in range(self._depth):
            cell = row + self._feature[node]
            goes_left = (
                cells[cell] <= self._threshold[node]
            )  # of 32 bits as of 64: the wider of the two is compared
            if missing is not None:
                goes_left |= missing[cell] & self._missing_left[node]
            node = self._child[2 * node + goes_left]
        return node
