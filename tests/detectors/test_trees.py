"""Trees as arrays: scikit-learn is the oracle, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest

from sdgad.detectors import growing, trees
from sdgad.detectors.binned_once import BinnedOnce
from sdgad.detectors.growing import SEEDS_APART, Growth, LabelledRows, grow
from sdgad.detectors.tree_masks import at_most
from sdgad.detectors.trees import BoostedTrees, IsolationTrees
from sdgad.errors import InputError, NotFittedError, SdgadError


def table(seed: int, rows: int, columns: int, missing: float) -> np.ndarray:
    """Continuous, coarse, heavy-tailed and constant columns, with holes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    x[:, 1::4] = np.round(x[:, 1::4])
    x[:, 2::4] = np.exp(6 * x[:, 2::4])
    x[:, 3::4] = 7.0
    holes = rng.random(x.shape) < missing
    holes[0] = False  # scikit-learn 1.9 cannot bin a column without any value
    x[holes] = np.nan
    return x


def labels(x: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed + 1).normal(size=len(x))
    y = (np.nan_to_num(x[:, 0]) + noise > 0).astype(np.int64)
    y[:2] = (0, 1)
    return y


shapes = {
    "seed": st.integers(0, 10_000),
    "rows": st.integers(2, 400),
    "columns": st.integers(1, 6),
    "missing": st.sampled_from([0.0, 0.1, 0.9]),
}


@settings(max_examples=40, deadline=None)
@given(**shapes, leaves=st.integers(2, 31), smallest=st.integers(1, 20))
def test_boosted_log_odds_are_those_of_scikit_learn(
    *, seed: int, rows: int, columns: int, missing: float, leaves: int, smallest: int
) -> None:
    x = table(seed, rows, columns, missing)
    model = HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=leaves, min_samples_leaf=smallest, early_stopping=False, random_state=seed
    ).fit(x, labels(x, seed))
    new = np.concatenate([x, table(seed + 2, 50, columns, 0.2)])
    np.testing.assert_array_equal(
        BoostedTrees.from_sklearn(model).raw_score(new), model.decision_function(new)
    )


@settings(max_examples=40, deadline=None)
@given(**shapes, share=st.sampled_from([1.0, 0.5]), bootstrap=st.booleans())
def test_isolation_scores_are_those_of_scikit_learn(
    *, seed: int, rows: int, columns: int, missing: float, share: float, bootstrap: bool
) -> None:
    x = table(seed, rows, columns, missing)
    model = IsolationForest(n_estimators=12, max_features=share, bootstrap=bootstrap, random_state=seed).fit(
        x
    )
    new = np.concatenate([x, table(seed + 2, 50, columns, 0.2)])
    scores = IsolationTrees.from_sklearn(model).raw_score(new)
    np.testing.assert_allclose(scores, -model.score_samples(new), rtol=1e-12)
    assert ((scores > 0) & (scores < 1)).all()


def test_a_far_row_scores_higher_than_a_common_one() -> None:
    x = np.random.default_rng(0).normal(size=(500, 2))
    forest = IsolationTrees.from_sklearn(IsolationForest(random_state=0).fit(x))
    common, far = forest.raw_score([[0.0, 0.0], [9.0, -9.0]])
    assert common < 0.5
    assert far > 0.7


def test_infinite_values_walk_as_in_scikit_learn() -> None:
    x = table(0, 300, 3, 0.1)
    odd = np.array([[np.inf, -np.inf, 1e300], [-np.inf, np.inf, -1e300], [np.nan, np.nan, np.nan]])
    forest = IsolationForest(n_estimators=10, random_state=0).fit(x)
    with np.errstate(over="ignore"):
        expected = -forest.score_samples(odd)
    np.testing.assert_allclose(IsolationTrees.from_sklearn(forest).raw_score(odd), expected, rtol=1e-12)


def test_values_next_to_a_threshold_fall_on_the_same_side() -> None:
    x = table(3, 400, 2, 0.0)
    boosting = HistGradientBoostingClassifier(max_iter=5).fit(x, labels(x, 3))
    forest = IsolationForest(n_estimators=5, random_state=0).fit(x)
    for ours, reference in (
        (BoostedTrees.from_sklearn(boosting), boosting.decision_function),
        (IsolationTrees.from_sklearn(forest), lambda rows: -forest.score_samples(rows)),
    ):
        cuts = ours.threshold[~ours._is_leaf]
        near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)])
        rows = np.stack([near, np.zeros_like(near)], axis=1)
        np.testing.assert_allclose(ours.raw_score(rows), reference(rows), rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    columns=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.1, 0.9]),
    leaves=st.integers(2, 9),
    single=st.booleans(),
)
def test_many_rows_fall_into_the_leaves_that_few_rows_walk_to(
    *, seed: int, columns: int, missing: float, leaves: int, single: bool
) -> None:
    x = table(seed, trees.MANY_ROWS + 40, columns, missing)
    with np.errstate(over="ignore"):
        x = x.astype(np.float32) if single else x
    model = HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=leaves, min_samples_leaf=1, early_stopping=False, random_state=seed
    ).fit(x, labels(x, seed))
    ours = BoostedTrees.from_sklearn(model)
    assert (ours._masks is None) == (np.diff(np.append(ours.roots, len(ours.value))).max() > 15)
    few = np.concatenate([ours.raw_score(part) for part in np.array_split(x, 3)])
    np.testing.assert_array_equal(ours.raw_score(x), few)
    np.testing.assert_array_equal(few, model.decision_function(x))


def test_values_of_32_bits_fall_on_the_same_side_of_a_threshold_of_64() -> None:
    threshold = np.array([0.1, -0.1, 1e39, -1e39, 0.5, np.pi, np.inf, -np.inf, 1e-50, -1e-50])
    rounded = at_most(threshold)
    with np.errstate(over="ignore"):
        above = np.nextafter(rounded, np.float32(np.inf))
    near = np.concatenate([rounded, above, np.array([np.inf, 0.0], np.float32)])
    np.testing.assert_array_equal(near[:, None] <= rounded, near[:, None].astype(np.float64) <= threshold)


def test_rounds_of_growth_bin_their_rows_once_and_grow_the_same_trees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = table(7, 600, 4, 0.1)
    options: dict[str, Any] = {
        "early_stopping": False,
        "warm_start": True,
        "random_state": 3,
        "max_features": 0.5,
    }
    made = []
    for kind in (HistGradientBoostingClassifier, BinnedOnce):
        binned: list[int] = []
        real = HistGradientBoostingClassifier._bin_data

        def counted(
            self: Any, *given: Any, real: Any = real, binned: list[int] = binned, **named: Any
        ) -> Any:
            binned.append(1)
            return real(self, *given, **named)

        with monkeypatch.context() as patch:
            patch.setattr(HistGradientBoostingClassifier, "_bin_data", counted)
            model = kind(**options)
            for count in (5, 10, 20):
                model.set_params(max_iter=count).fit(x, labels(x, 7))
        made.append((len(binned), model.decision_function(x)))
    assert [count for count, _ in made] == [3, 1]
    np.testing.assert_array_equal(made[0][1], made[1][1])


def test_the_mean_of_ensembles_has_the_mean_of_their_log_odds() -> None:
    x = table(11, 1500, 5, 0.1)
    made = [
        BoostedTrees.from_sklearn(
            HistGradientBoostingClassifier(max_iter=count, max_leaf_nodes=8, random_state=count).fit(
                x, labels(x, count)
            )
        )
        for count in (5, 12, 20)
    ]
    both = BoostedTrees.mean(made)
    np.testing.assert_allclose(
        both.raw_score(x), np.mean([each.raw_score(x) for each in made], 0), atol=1e-12
    )
    np.testing.assert_array_equal(both.raw_score(x[:20]), both.raw_score(x)[:20])
    assert len(both.roots) == 37


def test_several_ensembles_are_those_of_their_seeds_on_rows_that_are_binned_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = table(13, 600, 6, 0.0).astype(np.float32)
    examples, growth = LabelledRows(x, labels(x, 13) == 1), Growth(most=12, columns=0.5)
    alone = [grow(examples, examples, growth, seed) for seed in (4, 4 + SEEDS_APART)]
    binned: list[int] = []
    real = HistGradientBoostingClassifier._bin_data

    def counted(self: Any, *given: Any, **named: Any) -> Any:
        binned.append(1)
        return real(self, *given, **named)

    monkeypatch.setattr(HistGradientBoostingClassifier, "_bin_data", counted)
    both = grow(examples, examples, growth, 4, ensembles=2)
    assert len(binned) == 1
    assert (alone[0].raw_score(x) != alone[1].raw_score(x)).any()
    np.testing.assert_allclose(
        both.raw_score(x), np.mean([each.raw_score(x) for each in alone], 0), atol=1e-12
    )


def test_where_normals_are_many_every_ensemble_sees_all_anomalies_and_a_share_of_the_normals_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(growing, "MANY_NORMALS", 100)
    x = table(13, 600, 6, 0.0).astype(np.float32)
    examples = LabelledRows(x, np.arange(600) % 3 == 0)
    assert [examples.shares(most) for most in (1, 3, 9)] == [1, 3, 4]
    assert examples.share(0, 1) is None
    parts = [examples.share(number, 3) for number in range(4)]
    for part in parts:
        assert part is not None
        assert set(np.flatnonzero(examples.anomalous)) <= set(part)
    normals = [set(part[~examples.anomalous[part]]) for part in parts[:3] if part is not None]
    assert set.union(*normals) == set(np.flatnonzero(~examples.anomalous))
    assert sum(map(len, normals)) == 400
    np.testing.assert_array_equal(parts[3], parts[0])  # more ensembles than shares begin anew
    binned: list[int] = []
    grown: list[int] = []
    real, fit = HistGradientBoostingClassifier._bin_data, HistGradientBoostingClassifier.fit

    def counted(self: Any, rows: Any, *given: Any, **named: Any) -> Any:
        binned.append(len(rows))
        return real(self, rows, *given, **named)

    def noted(self: Any, rows: Any, *given: Any, **named: Any) -> Any:
        grown.append(len(rows))
        return fit(self, rows, *given, **named)

    monkeypatch.setattr(HistGradientBoostingClassifier, "_bin_data", counted)
    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", noted)
    grow(examples, None, Growth(most=5), 4, ensembles=3)
    assert binned == [600]
    assert sorted(grown) == [333, 333, 334]


def test_a_deep_chain_of_nodes_is_walked_and_not_recursed_into() -> None:
    deep = 5000
    inner = np.arange(deep)
    nodes = 2 * deep + 1
    child = np.repeat(np.arange(nodes)[:, None], 2, axis=1)
    child[inner] = np.stack([deep + 1 + inner, inner + 1], axis=1)
    chain = BoostedTrees(
        feature=np.zeros(nodes, np.int64),
        threshold=np.where(np.arange(nodes) < deep, -np.arange(nodes, dtype=np.float64), 0.0),
        child=child,
        missing_left=np.zeros(nodes, bool),
        value=np.arange(nodes, dtype=np.float64),
        roots=np.zeros(1, np.int64),
        columns=np.array(1),
        baseline=np.array(0.0),
    )
    assert chain.depth == deep
    rows = np.full((trees.MANY_ROWS, 1), 1.0)
    rows[0] = -1e9
    assert chain.raw_score(rows)[[0, 1]].tolist() == [deep, deep + 1]


def test_a_single_training_row_leaves_every_row_at_one_half() -> None:
    model = IsolationForest(n_estimators=3, random_state=0).fit(np.ones((1, 2)))
    new = np.array([[1.0, 1.0], [5.0, np.nan]])
    np.testing.assert_array_equal(
        IsolationTrees.from_sklearn(model).raw_score(new), -model.score_samples(new)
    )


@pytest.fixture(scope="module")
def ensembles() -> tuple[BoostedTrees, IsolationTrees, np.ndarray]:
    x = table(5, 700, 5, 0.1)
    boosting = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(x, labels(x, 5))
    forest = IsolationForest(n_estimators=30, random_state=0).fit(x)
    return BoostedTrees.from_sklearn(boosting), IsolationTrees.from_sklearn(forest), x


def test_arrays_and_back_gives_the_same_bits(
    ensembles: tuple[BoostedTrees, IsolationTrees, np.ndarray],
) -> None:
    *both, x = ensembles
    for ensemble in both:
        arrays = {name: array.copy() for name, array in ensemble.arrays().items()}
        again = type(ensemble).from_arrays(arrays)
        np.testing.assert_array_equal(again.raw_score(x), ensemble.raw_score(x))


def test_the_cut_into_chunks_and_the_memory_layout_change_no_bit(
    ensembles: tuple[BoostedTrees, IsolationTrees, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    *both, x = ensembles
    for ensemble in both:
        whole = ensemble.raw_score(x)
        alone = np.concatenate([ensemble.raw_score(x[row : row + 1]) for row in range(40)])
        np.testing.assert_array_equal(alone, whole[:40])
        np.testing.assert_array_equal(ensemble.raw_score(np.asfortranarray(x)), whole)
        with monkeypatch.context() as patch:
            patch.setattr(trees, "PAIRS_AT_ONCE", 1000)
            np.testing.assert_array_equal(ensemble.raw_score(x), whole)


def test_no_rows_give_no_scores(ensembles: tuple[BoostedTrees, IsolationTrees, np.ndarray]) -> None:
    for ensemble in ensembles[:2]:
        assert ensemble.raw_score(np.empty((0, 5))).shape == (0,)


def test_rows_of_another_width_are_refused(
    ensembles: tuple[BoostedTrees, IsolationTrees, np.ndarray],
) -> None:
    for ensemble in ensembles[:2]:
        with pytest.raises(InputError, match="read 5 columns"):
            ensemble.raw_score(np.zeros((3, 4)))


def broken(name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    changes = {
        "child": np.zeros_like,  # a walk would never end
        "feature": lambda a: a + 5,
        "roots": lambda a: a + len(arrays["value"]),
        "threshold": lambda a: a.astype(np.float32),
        "value": lambda a: a[:-1],
        "missing_left": lambda a: a.astype(np.uint8),
        "columns": lambda a: a.reshape(1),
    }
    return arrays | {name: changes[name](arrays[name])}


@pytest.mark.parametrize(
    "name", ["child", "feature", "roots", "threshold", "value", "missing_left", "columns"]
)
def test_arrays_that_are_no_trees_are_refused(
    ensembles: tuple[BoostedTrees, IsolationTrees, np.ndarray], name: str
) -> None:
    for ensemble in ensembles[:2]:
        with pytest.raises(InputError, match="does not describe decision trees"):
            type(ensemble).from_arrays(broken(name, ensemble.arrays()))


def test_missing_and_unknown_arrays_are_named(
    ensembles: tuple[BoostedTrees, IsolationTrees, np.ndarray],
) -> None:
    boosted, forest, _ = ensembles
    with pytest.raises(InputError, match="baseline, samples"):
        BoostedTrees.from_arrays(forest.arrays())
    with pytest.raises(InputError, match="unknown: more"):
        BoostedTrees.from_arrays(boosted.arrays() | {"more": np.zeros(1)})


def test_models_that_do_not_fit_are_refused() -> None:
    x = table(1, 60, 2, 0.0)
    with pytest.raises(NotFittedError, match="must be fitted"):
        BoostedTrees.from_sklearn(HistGradientBoostingClassifier())
    with pytest.raises(NotFittedError, match="must be fitted"):
        IsolationTrees.from_sklearn(IsolationForest())
    three = HistGradientBoostingClassifier(max_iter=2).fit(x, np.arange(60) % 3)
    with pytest.raises(InputError, match="has 3"):
        BoostedTrees.from_sklearn(three)
    coded = np.abs(np.round(x))
    categorical = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(
        coded, labels(x, 1)
    )
    with pytest.raises(InputError, match="categorical"):
        BoostedTrees.from_sklearn(categorical)


def test_a_scikit_learn_with_other_private_names_gets_one_sentence() -> None:
    x = table(1, 60, 2, 0.0)
    for name in ("_predictors", "_baseline_prediction"):
        model = HistGradientBoostingClassifier(max_iter=2).fit(x, labels(x, 1))
        delattr(model, name)
        with pytest.raises(SdgadError, match=f"scikit-learn .* does not find them.*{name}"):
            BoostedTrees.from_sklearn(model)
