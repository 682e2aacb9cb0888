"""Decision trees as flat arrays: fitted by scikit-learn, saved without pickle, evaluated with numpy, or on a GPU.

All trees of an ensemble lie in one node table. An inner node sends a row with value v in column `feature` to
its left child when v ≤ `threshold`, or when v is NaN and `missing_left` holds, and else to its right child;
a leaf points to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdgad.detectors.fitted_trees import OneTree, inside_boosting, need_fitted, node_table
from sdgad.detectors.tree_masks import Masks
from sdgad.errors import InputError

if TYPE_CHECKING:
    import torch
    from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest

    from sdgad.detectors.tree_walks import Walks

MOST_VALUE = 1e30  # of a leaf
PAIRS_AT_ONCE = 2**17  # (tree, row) pairs that walk together: few enough for the processor's cache
MANY_ROWS, ROWS_AT_ONCE = 1024, 8192  # from so many rows on small trees are asked by columns; rows at once
DEEPEST = 16  # trees that are not deeper are walked to the end by all rows, though some have arrived before

Floats = NDArray[np.float64]
Rows = NDArray[np.float64] | NDArray[np.float32]
Integers = NDArray[np.int64]
Device: TypeAlias = "torch.device | None"  # None: where the rows are


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """The node table of an ensemble; children come after their parent, so every walk ends."""

    feature: Integers  # [nodes]
    threshold: Floats  # [nodes]
    child: Integers  # [nodes, 2]: (right, left), that is child[node, goes_left]
    missing_left: NDArray[np.bool_]  # [nodes]
    value: Floats  # [nodes]; read at leaves only
    roots: Integers  # [trees]
    columns: Integers  # []: how many columns a row has

    types: ClassVar[dict[str, type[np.generic]]] = {
        "feature": np.int64,
        "threshold": np.float64,
        "child": np.int64,
        "missing_left": np.bool_,
        "value": np.float64,
        "roots": np.int64,
        "columns": np.int64,
    }

    def __post_init__(self) -> None:
        wrong = self._first_wrong()
        if wrong is not None:
            raise InputError(f"The array {wrong!r} does not describe decision trees.")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The ensemble that `arrays()` gave away; unknown, missing or inconsistent arrays are an error."""
        odd = {field.name for field in fields(cls)} ^ set(arrays)
        if odd:
            raise InputError(
                f"These arrays of a tree ensemble are missing or unknown: {', '.join(sorted(odd))}."
            )
        return cls(**arrays)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that the ensemble is made of, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def need_for(self, columns: int) -> Self:
        """Whether it was grown on rows of so many columns, of which none is ever missing."""
        if self.columns != columns:
            raise InputError(f"The trees read {self.columns} columns, where there are {columns}.")
        if not np.isfinite(self.threshold).all():
            raise InputError("The array 'threshold' holds something that is not a finite number.")
        return self

    def leaf_sum(self, x: Rows, start: float, device: Device = None) -> Floats:
        """`start` + Σ over trees of the value of the leaf that each row falls into.

        The trees are added one after the other, as scikit-learn does: the bits are its own, and do not depend
        on how the rows are cut into chunks, nor on the device.
        """
        if x.ndim != 2 or x.shape[1] != self.columns:
            raise InputError(f"The trees read {self.columns} columns, not an array of shape {x.shape}.")
        if (walks := self._walks_on(device, x)) is not None:
            return walks.leaf_sum(x, start)
        total = np.full(len(x), start, dtype=np.float64)
        by_columns = len(x) >= MANY_ROWS and self._masks is not None
        step = ROWS_AT_ONCE if by_columns else max(1, PAIRS_AT_ONCE // max(1, len(self.roots)))
        for first in range(0, len(x), step):
            part = total[first : first + step]
            for values in self.values_by_tree(x[first : first + step]):
                part += values
        return total

    def values_by_tree(self, x: Rows, first: int = 0, device: Device = None) -> Iterable[Floats]:
        """The value of the leaf of every row, tree after tree, from the tree of number `first` on."""
        if (walks := self._walks_on(device, x)) is not None:
            return walks.values_by_tree(x, first)
        if len(x) >= MANY_ROWS and self._masks is not None:
            return self._masks.values(x, first)
        return self.value[self._leaves(np.ascontiguousarray(x, dtype=np.float64), first)]

    def leaves(self, x: ArrayLike) -> Integers:
        """The leaf of each row in each tree, `[trees, rows]`, as its number in the node table."""
        rows = np.ascontiguousarray(x, dtype=np.float64)
        step = max(1, PAIRS_AT_ONCE // max(1, len(self.roots)))
        parts = [self._leaves(rows[first : first + step]) for first in range(0, len(rows), step)]
        return np.concatenate([np.empty((len(self.roots), 0), np.int64), *parts], axis=1)

    def _leaves(self, x: Floats, first: int = 0) -> Integers:
        """The leaf of each row in each tree, `[trees, rows]`: all pairs walk together to their leaves."""
        rows, columns = x.shape
        cells, child, roots = x.ravel(), self.child.ravel(), self.roots[first:]
        missing = bool(np.isnan(cells).any())
        node = np.repeat(roots, rows)
        row = np.tile(np.arange(rows) * columns, len(roots))  # where the pair's row starts in `cells`

        def onward(node: Integers, row: Integers) -> Integers:
            seen = cells.take(row + self.feature.take(node))
            goes_left = seen <= self.threshold.take(node)
            if missing:
                goes_left |= np.isnan(seen) & self.missing_left.take(node)
            return child.take(2 * node + goes_left)

        if (
            self.depth <= DEEPEST
        ):  # a leaf points to itself, and to sort out who has arrived costs more than the steps
            for _ in range(self.depth):
                node = onward(node, row)
            return node.reshape(len(roots), rows)
        leaves = node
        pair = np.flatnonzero(~self._is_leaf.take(node))
        while len(pair):
            node = onward(leaves.take(pair), row.take(pair))
            leaves[pair] = node
            pair = pair.take(np.flatnonzero(~self._is_leaf.take(node)))
        return leaves.reshape(len(roots), rows)

    @cached_property
    def _masks(self) -> Masks | None:
        return Masks.of(self)

    def _walks_on(self, device: Device, x: Rows) -> Walks | None:
        """The walks on a device that many rows are worth being sent to."""
        if device is None or device.type == "cpu" or len(x) < MANY_ROWS:
            return None
        if device not in self._walks:
            from sdgad.detectors.tree_walks import Walks

            self._walks[device] = Walks(self, device)
        return self._walks[device]

    @cached_property
    def _walks(self) -> dict[torch.device, Walks]:
        return {}

    @cached_property
    def depth(self) -> int:
        """The most steps from a root to a leaf."""
        nodes, depth = np.unique(self.roots), 0
        while not self._is_leaf[nodes].all():
            nodes, depth = np.unique(self.child[nodes]), depth + 1
        return depth

    @cached_property
    def _is_leaf(self) -> NDArray[np.bool_]:
        return np.asarray((self.child == np.arange(len(self.child))[:, None]).all(axis=1))

    def _first_wrong(self) -> str | None:
        """The name of an array that does not fit the others: a walk over the rest neither fails nor loops."""
        nodes = self.value.size
        shapes = {"child": (nodes, 2), "roots": (self.roots.size,)}
        shapes |= dict.fromkeys(("feature", "threshold", "missing_left", "value"), (nodes,))
        for name, array in self.arrays().items():
            if array.dtype != self.types[name] or array.shape != shapes.get(name, ()):
                return name
        inner = (self.child > np.arange(nodes)[:, None]) & (self.child < nodes)
        inside = {
            "child": inner.all(axis=1) | self._is_leaf,
            "feature": (self.feature >= 0) & (self.feature < np.maximum(self.columns, self._is_leaf)),
            "roots": (self.roots >= 0) & (self.roots < nodes),
            "threshold": np.isfinite(self.threshold) | ((self.threshold == np.inf) & ~self.missing_left),
            "value": np.abs(self.value) <= MOST_VALUE,
            "columns": self.columns >= 0,
        }
        wrong = next((name for name, good in inside.items() if not good.all()), None)
        return wrong or self._no_forest()

    def _no_forest(self) -> str | None:
        """The name of an array that is to blame where the nodes are not trees that lie one after the other."""
        nodes = len(self.child)
        first, tree = np.zeros(nodes, bool), np.zeros(nodes, np.int64)
        first[self.roots] = True
        if (np.diff(self.roots) <= 0).any() or (nodes > 0) != first[:1].any():
            return "roots"
        tree = np.cumsum(first)
        below = self.child[~self._is_leaf]
        parents = np.bincount(below.ravel(), minlength=nodes)
        alike = (tree[below] == tree[~self._is_leaf][:, None]).all()
        if not alike or (parents != ~first).any():
            return "child"
        return next((name for name, good in self._own().items() if not good), None)

    def _own(self) -> dict[str, bool]:
        """Whether what it has beside trees is as it has to be."""
        return {}


@dataclass(frozen=True, eq=False)
class BoostedTrees(TreeArrays):
    """Gradient-boosted trees for two classes: log-odds = baseline + Σ leaf values."""

    baseline: Floats  # []

    types: ClassVar[dict[str, type[np.generic]]] = TreeArrays.types | {"baseline": np.float64}

    def _own(self) -> dict[str, bool]:
        return {"baseline": bool(np.abs(self.baseline) <= MOST_VALUE)}

    @classmethod
    def from_sklearn(cls, model: HistGradientBoostingClassifier) -> Self:
        """The trees of a fitted classifier of two classes on numeric columns."""
        need_fitted(model)
        if len(model.classes_) != 2:
            raise InputError(f"Boosted trees need 2 classes, and this model has {len(model.classes_)}.")
        if getattr(model, "is_categorical_", None) is not None:
            raise InputError("Boosted trees need numeric columns, and this model has categorical ones.")
        baseline, tables = inside_boosting(model)
        trees = [
            OneTree(
                feature=nodes["feature_idx"],
                threshold=nodes["num_threshold"],
                left=nodes["left"],
                right=nodes["right"],
                leaf=nodes["is_leaf"] != 0,
                missing_left=nodes["missing_go_to_left"],
                value=nodes["value"],
            )
            for nodes in tables
        ]
        return cls(**node_table(trees, model.n_features_in_), baseline=np.array(baseline))

    @classmethod
    def mean(cls, ensembles: Sequence[Self]) -> Self:
        """One ensemble, whose log-odds are the mean of those of several on rows of the same columns."""
        sizes = [len(each.value) for each in ensembles]
        firsts = np.cumsum([0, *sizes[:-1]]).tolist()

        def nodes(name: str, shifts: Sequence[int] | None = None) -> NDArray[Any]:
            arrays = [getattr(each, name) for each in ensembles]
            return np.concatenate(
                arrays if shifts is None else [x + by for x, by in zip(arrays, shifts, strict=True)]
            )

        return cls(
            feature=nodes("feature"),
            threshold=nodes("threshold"),
            child=nodes("child", firsts),
            missing_left=nodes("missing_left"),
            value=nodes("value") / len(ensembles),
            roots=nodes("roots", firsts),
            columns=ensembles[0].columns,
            baseline=np.mean([each.baseline for each in ensembles], axis=0),
        )

    def raw_score(self, x: ArrayLike, device: Device = None) -> Floats:
        """Log-odds of the second class, one per row: scikit-learn's `decision_function`."""
        return self.leaf_sum(as_rows(x), float(self.baseline), device)


@dataclass(frozen=True, eq=False)
class IsolationTrees(TreeArrays):
    """Isolation trees: score = 2^(−E[h] / c(ψ)), where a leaf of n samples at depth d counts h = d + c(n)."""

    samples: Integers  # []: ψ, the rows that each tree was grown on

    types: ClassVar[dict[str, type[np.generic]]] = TreeArrays.types | {"samples": np.int64}

    def _own(self) -> dict[str, bool]:
        """Depths are no less than 0, and a tree grew on something."""
        return {"samples": bool(1 <= self.samples < 2**53), "value": bool((self.value >= 0).all())}

    @classmethod
    def from_sklearn(cls, model: IsolationForest) -> Self:
        """The trees of a fitted forest, with h worked out for every leaf."""
        need_fitted(model)
        trees = []
        for estimator, columns in zip(model.estimators_, model.estimators_features_, strict=True):
            tree = estimator.tree_
            leaf = tree.children_left < 0
            trees.append(
                OneTree(
                    feature=np.asarray(columns)[np.where(leaf, 0, tree.feature)],
                    threshold=tree.threshold,
                    left=tree.children_left,
                    right=tree.children_right,
                    leaf=leaf,
                    missing_left=tree.missing_go_to_left,
                    # scikit-learn's roots have depth 1; this order of the sum keeps its bits
                    value=tree.compute_node_depths() + _mean_path(tree.n_node_samples) - 1.0,
                )
            )
        return cls(
            **node_table(trees, model.n_features_in_), samples=np.array(model.max_samples_, dtype=np.int64)
        )

    def raw_score(self, x: ArrayLike, device: Device = None) -> Floats:
        """In (0, 1), higher = easier to isolate = more anomalous: minus scikit-learn's `score_samples`."""
        with np.errstate(over="ignore"):  # forests grow on float32, beyond whose range lies infinity
            single = np.asarray(x, dtype=np.float64).astype(np.float32)
        depth = self.leaf_sum(np.ascontiguousarray(single, dtype=np.float64), 0.0, device)
        scale = len(self.roots) * float(_mean_path(self.samples))
        return (
            np.asarray(2.0 ** -(depth / scale)) if scale > 0 else np.full(len(depth), 0.5)
        )  # ψ = 1: no idea


def as_rows(x: ArrayLike) -> Rows:
    """Of 32 bits where they are that already, else of 64."""
    if getattr(x, "dtype", None) == np.float32:
        return np.ascontiguousarray(x, dtype=np.float32)
    return np.ascontiguousarray(x, dtype=np.float64)


def _mean_path(samples: NDArray[Any]) -> Floats:
    """c(n) = 2·(ln(n − 1) + γ) − 2·(n − 1)/n, the mean path of an unsuccessful search; c(2) = 1, c(1) = 0."""
    n = np.maximum(samples, 2.0)
    path = 2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n
    return np.asarray(np.where(samples <= 1, 0.0, np.where(samples == 2, 1.0, path)))
