"""The trees of scikit-learn's fitted models, read out as arrays: the only place that knows how it keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdgad.errors import NotFittedError, SdgadError

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest


@dataclass(frozen=True)
class OneTree:
    """One tree as scikit-learn numbers it: children count from its own root, and are void at leaves."""

    feature: NDArray[Any]
    threshold: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    leaf: NDArray[np.bool_]
    missing_left: NDArray[Any]
    value: NDArray[Any]


def node_table(trees: Sequence[OneTree], columns: int) -> dict[str, NDArray[Any]]:
    """One node table of all trees, with what is void at leaves set to zero."""

    def column(name: str, kind: type[np.generic]) -> NDArray[Any]:
        return np.concatenate([np.empty(0, kind), *(getattr(tree, name).astype(kind) for tree in trees)])

    sizes = np.array([len(tree.leaf) for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    leaf = column("leaf", np.bool_)
    own, shift = np.arange(len(leaf)), np.repeat(roots, sizes)
    right, left = (np.where(leaf, own, column(side, np.int64) + shift) for side in ("right", "left"))
    return {
        "feature": np.where(leaf, 0, column("feature", np.int64)),
        "threshold": np.where(leaf, 0.0, column("threshold", np.float64)),
        "child": np.stack([right, left], axis=1),
        "missing_left": column("missing_left", np.bool_) & ~leaf,
        "value": np.where(leaf, column("value", np.float64), 0.0),
        "roots": roots,
        "columns": np.array(columns, dtype=np.int64),
    }


def need_fitted(model: HistGradientBoostingClassifier | IsolationForest) -> None:
    if not hasattr(model, "n_features_in_"):
        raise NotFittedError(f"The {type(model).__name__} must be fitted before its trees can be read.")


def inside_boosting(model: HistGradientBoostingClassifier) -> tuple[float, list[NDArray[Any]]]:
    """Baseline and node tables: the only place that reads what scikit-learn (1.6 to 1.9) keeps private."""
    names = ["feature_idx", "num_threshold", "left", "right", "is_leaf", "missing_go_to_left", "value"]
    try:
        tables = [predictor.nodes[names] for (predictor,) in model._predictors]
        return np.asarray(model._baseline_prediction, dtype=np.float64).item(), tables
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        import sklearn

        raise SdgadError(
            f"scikit-learn {sklearn.__version__} keeps its boosted trees where sdgad does not find them, "
            f"which works with 1.6 to 1.9 ({problem})."
        ) from problem
