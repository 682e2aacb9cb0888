"""Ranking metrics agree with scikit-learn, whatever the ties, and say None where they are undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as oracle

from sdgad.errors import InputError
from sdgad.metrics import (
    auroc,
    average_precision,
    best_f1_threshold,
    confusion,
    precision_at_k,
    precision_recall_curve,
)

Pairs = tuple[np.ndarray, np.ndarray]

tied = st.integers(-3, 3).map(float)
spread = st.floats(-1e6, 1e6)
rows = st.lists(st.tuples(st.booleans(), st.one_of(tied, spread)), min_size=1, max_size=60)


def as_arrays(pairs: list[tuple[bool, float]]) -> Pairs:
    label, score = zip(*pairs, strict=True)
    return np.array(label, dtype=np.float32), np.array(score)


def both_classes(pairs: list[tuple[bool, float]]) -> Pairs:
    label, score = as_arrays(pairs)
    assume(0 < label.sum() < len(label))
    return label, score


@settings(max_examples=300, deadline=None)
@given(rows)
def test_auroc_and_average_precision_are_those_of_scikit_learn(pairs: list[tuple[bool, float]]) -> None:
    label, score = both_classes(pairs)
    assert auroc(label, score) == pytest.approx(oracle.roc_auc_score(label, score), abs=1e-12)
    assert average_precision(label, score) == pytest.approx(
        oracle.average_precision_score(label, score), abs=1e-12
    )


@settings(max_examples=200, deadline=None)
@given(rows)
def test_auroc_is_the_share_of_pairs_won_with_ties_one_half(pairs: list[tuple[bool, float]]) -> None:
    label, score = both_classes(pairs)
    anomalous, normal = score[label == 1][:, None], score[label == 0][None, :]
    assert auroc(label, score) == np.mean((anomalous > normal) + 0.5 * (anomalous == normal))


@settings(max_examples=200, deadline=None)
@given(rows)
def test_precision_recall_curve_is_that_of_scikit_learn(pairs: list[tuple[bool, float]]) -> None:
    label, score = both_classes(pairs)
    precision, recall, threshold = oracle.precision_recall_curve(label, score)
    ours = precision_recall_curve(label, score)
    np.testing.assert_array_equal(ours.threshold, threshold[::-1])
    np.testing.assert_allclose(ours.precision, precision[:-1][::-1], atol=1e-12)
    np.testing.assert_allclose(ours.recall, recall[:-1][::-1], atol=1e-12)


@settings(max_examples=200, deadline=None)
@given(rows)
def test_no_threshold_beats_the_best_f1_threshold_and_equals_alarm_more(
    pairs: list[tuple[bool, float]],
) -> None:
    label, score = both_classes(pairs)
    best = best_f1_threshold(label, score)
    assert best is not None
    f1 = {float(value): oracle.f1_score(label, score >= value) for value in score}
    top = max(f1.values())
    assert best == max(value for value in f1 if f1[value] == pytest.approx(top, abs=1e-12))
    assert confusion(label, score, best).f1 == pytest.approx(top)


@settings(max_examples=200, deadline=None)
@given(rows, st.randoms(use_true_random=False), st.integers(1, 70))
def test_no_metric_depends_on_the_order_of_rows(
    pairs: list[tuple[bool, float]], random: object, k: int
) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = as_arrays(pairs), as_arrays(shuffled)
    for metric in (auroc, average_precision, best_f1_threshold, lambda y, s: precision_at_k(y, s, k)):
        assert metric(*one) == metric(*other)


@settings(max_examples=200, deadline=None)
@given(rows, st.integers(1, 70))
def test_precision_at_k_is_the_expectation_over_random_tie_breaks(
    pairs: list[tuple[bool, float]], k: int
) -> None:
    label, score = as_arrays(pairs)
    taken = min(k, len(score))
    cut = np.sort(score)[::-1][taken - 1]
    above, at = score > cut, score == cut
    expected = label[above].sum() + (taken - above.sum()) * label[at].mean()
    assert precision_at_k(label, score, k) == pytest.approx(expected / taken)


@settings(max_examples=200, deadline=None)
@given(rows, st.data())
def test_unlabelled_rows_change_nothing(pairs: list[tuple[bool, float]], data: st.DataObject) -> None:
    label, score = as_arrays(pairs)
    unknown = data.draw(st.lists(spread, max_size=10))
    mixed = np.random.default_rng(len(pairs)).permutation(len(label) + len(unknown))
    more_label = np.append(label, np.full(len(unknown), np.nan))[mixed]
    more_score = np.append(score, unknown)[mixed]
    for metric in (auroc, average_precision, best_f1_threshold):
        assert metric(more_label, more_score) == metric(label, score)


@pytest.mark.parametrize("label", [[], [0, 0, 0], [1, 1], [np.nan, np.nan]])
def test_one_class_has_no_ranking_metric(label: list[float]) -> None:
    score = np.arange(len(label), dtype=float)
    assert auroc(label, score) is None
    assert average_precision(label, score) is None
    assert best_f1_threshold(label, score) is None
    assert len(precision_recall_curve(label, score).threshold) == 0


def test_auroc_of_millions_of_rows_does_not_overflow() -> None:
    label = np.arange(4_000_000) % 2
    assert auroc(label, label.astype(float)) == 1.0
    assert auroc(label, np.zeros(len(label))) == 0.5


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_named_by_its_row(value: float) -> None:
    with pytest.raises(InputError, match=r"score of row 3"):
        auroc([0, 1, np.nan], [0.1, 0.2, value])


@pytest.mark.parametrize(
    ("label", "score", "sentence"),
    [
        ([0, 2], [0.1, 0.2], "label of row 2 is 2;"),
        ([0, np.inf], [0.1, 0.2], "label of row 2 is inf;"),
        ([0, 1, 0], [0.1, 0.2], "3 labels but 2 scores"),
        (["a", "b"], [0.1, 0.2], "label column .* not a number"),
        ([0, 1], [[0.1], [0.2]], "score column has 2 dimensions"),
    ],
)
def test_labels_and_scores_that_cannot_be_used_get_one_sentence(
    label: object, score: object, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        auroc(label, score)


def test_precision_at_k_needs_a_positive_k() -> None:
    with pytest.raises(InputError, match="k ≥ 1"):
        precision_at_k([0, 1], [0.1, 0.2], 0)
