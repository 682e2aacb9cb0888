"""Paths: the shares of all columns in what trees say add up to it."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from sdgad.detectors.explaining.paths import Paths, leaf_counts
from sdgad.detectors.trees import BoostedTrees


def grown(seed: int) -> tuple[BoostedTrees, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(600, 5)).astype(np.float32)
    y = x[:, 1] + 0.5 * x[:, 3] > 0.7
    model = HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=6).fit(x, y)
    return BoostedTrees.from_sklearn(model), x


def test_shares_add_up_to_the_difference_from_the_mean_of_the_sample() -> None:
    trees, x = grown(0)
    sample = x[:300]
    shares = Paths.of(trees, leaf_counts(trees, sample), np.arange(5), 5)(x)
    raw = trees.raw_score(x)
    np.testing.assert_allclose(shares.sum(1) + trees.raw_score(sample).mean(), raw, atol=0.02)


def test_columns_that_decide_have_the_largest_shares() -> None:
    trees, x = grown(1)
    shares = np.abs(Paths.of(trees, leaf_counts(trees, x), np.arange(5), 5)(x)).mean(0)
    assert shares.argmax() == 1
    assert shares[3] > max(shares[[0, 2, 4]])


def test_what_is_of_no_theme_is_left_out() -> None:
    trees, x = grown(2)
    themes = np.array([-1, 0, -1, 1, -1])
    found = Paths.of(trees, leaf_counts(trees, x), themes, 2)(x)
    every = Paths.of(trees, leaf_counts(trees, x), np.arange(5), 5)(x)
    np.testing.assert_allclose(found, every[:, [1, 3]], atol=1e-5)
