"""The two yardsticks: boosting and isolation forest on context features, edge features and habit residuals."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score

from sdgad.detectors import growing, row_maker
from sdgad.detectors.base import Detector
from sdgad.detectors.baselines import boosting
from sdgad.detectors.baselines.boosting import Boosting
from sdgad.detectors.baselines.isolation_forest import IsolationForestDetector
from sdgad.detectors.growing import LabelledRows
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.detectors.trees import BoostedTrees
from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream
from sdgad.history.habits import habits, went_on
from sdgad.history.index import HistoryIndex

TRAIN, VAL, TEST = simulate_payments(6000, anomaly_rate=0.02, seed=1).split()


def index_of(detector: Detector) -> HistoryIndex:
    return detector.view.index(detector._archive.log, detector.clock)


@pytest.fixture(scope="module")
def supervised() -> Boosting:
    return Boosting(device="cpu").fit(TRAIN, val=VAL, epochs=150)


@pytest.fixture(scope="module")
def tables(supervised: Boosting) -> tuple[np.ndarray, np.ndarray]:
    """Training and validation events as rows."""
    index = index_of(supervised)
    table = supervised.table.rows(index, torch.arange(len(index)))
    return table[: len(TRAIN)], table[len(TRAIN) :]


def auroc(detector: Boosting | IsolationForestDetector) -> float:
    return float(roc_auc_score(TEST.label, detector.decision_function(TEST)))


# ---------------------------------------------------------------------- the table
def test_a_row_is_context_edge_features_and_habits_of_real_and_hypothetical_events(
    supervised: Boosting,
) -> None:
    index = index_of(supervised)
    rows = torch.arange(50, 300)
    table = supervised.table.rows(index, rows)
    assert table.dtype == np.float32
    window = index.rows(rows, supervised.config.history, supervised.needs)
    assert window.sequels is not None
    found = habits(window, supervised.window_shape.phases)
    residuals = [
        found.relations,
        found.deviations,
        found.surprises,
        found.circles,
        went_on(window.sequels),
    ]
    np.testing.assert_array_equal(table, np.hstack([index.stored_context(rows), index.msg(rows), *residuals]))
    pseudo = PseudoAnomalies(index, rows)
    same = pseudo.other_time(rows, rows)  # an event at its own time is itself
    np.testing.assert_allclose(supervised.table.made(index, same), table, rtol=1e-6, atol=1e-6)


def test_without_habits_a_row_is_context_and_edge_features_and_nothing_is_looked_up(
    supervised: Boosting,
) -> None:
    index = index_of(supervised)
    rows = torch.arange(50, 300)
    plain = Boosting(device="cpu", habits=False).fit(TRAIN, val=VAL, epochs=5)
    assert plain.history_length == 0
    table = plain.table.rows(index, rows)
    np.testing.assert_array_equal(table, np.hstack([index.stored_context(rows), index.msg(rows)]))


# ---------------------------------------------------------------------- boosting
def test_boosting_finds_planted_anomalies_with_labels_and_beats_chance_without(supervised: Boosting) -> None:
    assert auroc(supervised) > 0.85
    unlabelled = Boosting(device="cpu").fit(TRAIN.with_labels("none"), val=VAL, epochs=60)
    assert auroc(unlabelled) > 0.55


def test_the_score_is_the_probability_of_scikit_learn(
    supervised: Boosting, tables: tuple[np.ndarray, np.ndarray]
) -> None:
    """A model of just so many trees, fitted at once, says the same as the first trees of a larger one."""
    train, val = tables
    config = supervised.config
    model = HistGradientBoostingClassifier(
        learning_rate=config.learning_rate,
        max_iter=len(supervised._trees.roots),
        max_leaf_nodes=config.leaves,
        min_samples_leaf=min(config.min_leaf, len(TRAIN) // 100),
        l2_regularization=config.l2,
        max_features=config.columns,
        early_stopping=False,
        random_state=0,
    ).fit(train, TRAIN.label)
    np.testing.assert_allclose(supervised.validation_scores_, model.predict_proba(val)[:, 1], rtol=1e-12)


def test_validation_chooses_the_number_of_trees_by_the_mean_of_auroc_and_ap(
    supervised: Boosting, tables: tuple[np.ndarray, np.ndarray]
) -> None:
    _, val = tables
    trees = supervised._trees
    chosen = len(trees.roots)

    def value(count: int) -> float:
        odds = growing.first_trees(trees, count).raw_score(val)
        return float(roc_auc_score(VAL.label, odds) + average_precision_score(VAL.label, odds))

    fewer = range(growing.STRIDE, chosen, growing.STRIDE)
    assert len(fewer) > 3
    assert value(chosen) > max(value(count) for count in fewer)


def test_the_first_trees_need_no_other_nodes(
    supervised: Boosting, tables: tuple[np.ndarray, np.ndarray]
) -> None:
    trees = supervised._trees
    one = growing.first_trees(trees, 1)
    assert len(one.value) == trees.roots[1]
    assert len(growing.first_trees(trees, len(trees.roots)).value) == len(trees.value)
    assert len(np.unique(one.raw_score(tables[1]))) > 1


def test_epochs_cap_the_number_of_trees() -> None:
    assert len(Boosting(device="cpu").fit(TRAIN, val=VAL, epochs=7)._trees.roots) <= 7


def test_a_labelled_anomaly_and_its_like_score_higher_than_without_the_label() -> None:
    few = TRAIN.with_labels("few-shot", k=3, seed=1)
    known = few.label == 1
    unlabelled_val = VAL.with_labels("none")
    with_label = Boosting(device="cpu").fit(few, val=unlabelled_val, epochs=40)
    without = Boosting(device="cpu").fit(TRAIN.with_labels("none"), val=unlabelled_val, epochs=40)

    def share_above(detector: Boosting) -> np.ndarray:
        scores = detector.decision_scores_
        return (scores[~known][:, None] >= scores[known]).mean(0)

    assert (share_above(with_label) < 0.02).all()
    assert share_above(with_label).mean() < share_above(without).mean()


def test_a_classifier_fits_where_validation_holds_one_class_only() -> None:
    normal = VAL.with_columns(label=np.zeros(len(VAL)))
    detector = Boosting(device="cpu").fit(TRAIN, val=normal, epochs=20)
    assert len(detector._trees.roots) == 20
    assert auroc(detector) > 0.7


def test_overwhelming_odds_stay_inside_0_and_1(supervised: Boosting) -> None:
    index, rows = index_of(supervised), torch.arange(5)
    for odds in (1e6, -1e6):
        extreme = copy(supervised)
        extreme._trees = replace(supervised._trees, baseline=np.array(odds))
        scores = extreme._score_window(supervised.view.rows(index, rows))
        assert ((scores > 0) & (scores < 1)).all()


# ---------------------------------------------------------------------- isolation forest
def test_an_isolation_forest_uses_no_label_and_scores_as_scikit_learn(
    supervised: Boosting, tables: tuple[np.ndarray, np.ndarray]
) -> None:
    train, val = map(supervised.table.for_densities, tables)
    labelled = IsolationForestDetector(device="cpu", trees=30).fit(TRAIN, val=VAL)
    unlabelled = IsolationForestDetector(device="cpu", trees=30).fit(TRAIN.with_labels("none"), val=VAL)
    np.testing.assert_array_equal(labelled.validation_scores_, unlabelled.validation_scores_)
    forest = IsolationForest(n_estimators=30, max_samples=256, random_state=0).fit(train)
    np.testing.assert_allclose(labelled.validation_scores_, -forest.score_samples(val), rtol=1e-12)


def test_a_tree_takes_all_events_where_there_are_fewer_than_samples() -> None:
    detector = IsolationForestDetector(device="cpu", trees=5, samples=10_000).fit(TRAIN, val=VAL)
    assert detector._trees.samples == len(TRAIN)


# ---------------------------------------------------------------------- both
@pytest.mark.parametrize("kind", [Boosting, IsolationForestDetector])
@pytest.mark.parametrize("labels", ["all", "none"])
def test_empty_and_constant_columns_are_no_obstacle(
    kind: type[Boosting] | type[IsolationForestDetector], labels: str
) -> None:
    rng = np.random.default_rng(0)
    count = 600
    msg = np.stack([np.full(count, np.nan), np.full(count, 7.0), rng.normal(size=count)], 1)
    events = EventStream(
        rng.integers(0, 20, count), rng.integers(0, 20, count), np.arange(count), msg, rng.random(count) < 0.1
    )
    train, val, test = events.split()
    scores = kind(device="cpu").fit(train.with_labels(labels), val=val, epochs=10).decision_function(test)  # type: ignore[arg-type]
    assert ((scores > 0) & (scores < 1)).all()
    assert len(np.unique(scores)) > 1


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        (Boosting, "learning_rate", 0.0),
        (Boosting, "learning_rate", float("nan")),
        (Boosting, "max_iter", 0),
        (Boosting, "leaves", 1),
        (Boosting, "min_leaf", 0),
        (Boosting, "l2", -1.0),
        (Boosting, "columns", 1.5),
        (Boosting, "seed", -1),
        (IsolationForestDetector, "trees", 0),
        (IsolationForestDetector, "samples", 1),
        (IsolationForestDetector, "seed", -1),
    ],
)
def test_options_out_of_range_are_named(
    kind: type[Boosting] | type[IsolationForestDetector], option: str, value: float
) -> None:
    with pytest.raises(InputError, match=rf"^Option {option}={value}\b"):
        kind(**{option: value})


def test_of_many_events_a_contrast_learns_from_even_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = torch.arange(1000)
    np.testing.assert_array_equal(row_maker.thinned(rows, 1000), rows)
    np.testing.assert_array_equal(row_maker.thinned(rows, 400), rows[::3])
    seen: list[int] = []

    def counted(examples: LabelledRows, judge: LabelledRows | None, *more: Any, **named: Any) -> BoostedTrees:
        assert judge is not None
        seen.extend([len(examples.table), len(judge.table)])
        return growing.grow(examples, judge, *more, **named)

    monkeypatch.setattr(boosting, "grow", counted)
    monkeypatch.setattr(row_maker, "MOST", 400)
    fewer = Boosting(device="cpu", max_iter=60).fit(TRAIN.with_labels("none"), val=VAL)
    assert seen == [2 * 400, 2 * 400]  # of 2,400 and 1,200 events, and as many pseudo-anomalies
    assert auroc(fewer) > 0.6
