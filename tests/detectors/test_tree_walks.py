"""Trees that are walked on a device say what they say on the host, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest

from sdgad.detectors import tree_walks
from sdgad.detectors.tree_walks import Walks
from sdgad.detectors.trees import BoostedTrees, IsolationTrees, TreeArrays

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]


@pytest.fixture(params=[0.0, 0.2])
def rows(request: pytest.FixtureRequest) -> np.ndarray:
    random = np.random.default_rng(3)
    x = random.normal(size=(700, 5)).astype(np.float32)
    x[random.random(x.shape) < request.param] = np.nan
    return x


def ensembles(x: np.ndarray) -> list[TreeArrays]:
    y = np.nan_to_num(x[:, 0]) + np.nan_to_num(x[:, 1]) ** 2 > 0.7
    grown = [
        BoostedTrees.from_sklearn(
            HistGradientBoostingClassifier(max_iter=9, max_leaf_nodes=leaves, random_state=1).fit(x, y)
        )
        for leaves in (4, 30)
    ]
    forest = IsolationForest(n_estimators=7, random_state=0).fit(np.nan_to_num(x))
    return [*grown, IsolationTrees.from_sklearn(forest)]


@pytest.mark.parametrize("device", DEVICES)
def test_walks_add_up_to_the_same_bits(
    rows: np.ndarray, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_walks, "PAIRS_AT_ONCE", 1000)  # several chunks of rows
    for trees in ensembles(rows):
        x = rows if isinstance(trees, BoostedTrees) else np.nan_to_num(rows)
        walks = Walks(trees, torch.device(device))
        np.testing.assert_array_equal(walks.leaf_sum(x, 0.25), trees.leaf_sum(x, 0.25))
        for first in (0, 3):
            found = walks.values_by_tree(x, first)
            np.testing.assert_array_equal(found, np.stack(list(trees.values_by_tree(x, first))))


def test_no_rows_and_no_further_trees_are_nothing(rows: np.ndarray) -> None:
    trees = ensembles(rows)[0]
    walks = Walks(trees, torch.device("cpu"))
    assert walks.leaf_sum(rows[:0], 0.0).shape == (0,)
    assert walks.values_by_tree(rows, len(trees.roots)).shape == (0, len(rows))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_many_rows_are_sent_to_the_device(rows: np.ndarray) -> None:
    trees = ensembles(rows)[0]
    many = np.concatenate([rows, rows])
    np.testing.assert_array_equal(trees.leaf_sum(many, 0.0, torch.device("cuda")), trees.leaf_sum(many, 0.0))
    assert trees._walks
