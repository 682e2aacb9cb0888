"""Decisions at a threshold: flagged = score ≥ threshold, with the counts and rates of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as oracle

from sdgad.errors import InputError
from sdgad.metrics import PAPER_THRESHOLDS, Confusion, confusion, threshold_table

scores = st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.3, 0.31, 0.5, 0.9, 1.0])
rows = st.lists(st.tuples(st.booleans(), scores), min_size=1, max_size=50)


@settings(max_examples=300, deadline=None)
@given(rows, scores)
def test_counts_and_rates_are_those_of_scikit_learn(
    pairs: list[tuple[bool, float]], threshold: float
) -> None:
    label, score = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    assume(0 < label.sum() < len(label))
    flagged = score >= threshold
    ours = confusion(label, score, threshold)
    (tn, fp), (fn, tp) = oracle.confusion_matrix(label, flagged)
    assert ours == Confusion(threshold, tp, fp, tn, fn)
    assert ours.f1 == pytest.approx(oracle.f1_score(label, flagged))
    assert ours.precision == pytest.approx(oracle.precision_score(label, flagged, zero_division=0))
    assert ours.recall == ours.tpr == pytest.approx(oracle.recall_score(label, flagged))
    assert ours.fpr == pytest.approx(fp / (fp + tn))


def test_a_score_at_the_threshold_is_flagged() -> None:
    assert confusion([1, 0], [0.5, 0.5], 0.5).flagged == 2
    assert confusion([1, 0], [0.5, 0.5], np.nextafter(0.5, 1)).flagged == 0


def test_rates_of_an_empty_class_are_none() -> None:
    normals = confusion([0, 0], [0.1, 0.9], 0.5)
    assert (normals.f1, normals.recall, normals.tpr, normals.precision, normals.fpr) == (
        None,
        None,
        None,
        0,
        0.5,
    )
    anomalies = confusion([1, 1], [0.1, 0.9], 0.5)
    assert (anomalies.fpr, anomalies.recall, anomalies.precision) == (None, 0.5, 1.0)
    assert anomalies.f1 == pytest.approx(2 / 3)


def test_a_threshold_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        confusion([0, 1], [0.1, 0.9], float("nan"))


def test_the_paper_s_wikipedia_row_follows_from_its_counts() -> None:
    row = Confusion(
        0.5, true_positives=8, false_positives=54, true_negatives=62990 - 82 - 54, false_negatives=74
    )
    assert (row.f1, row.tpr, row.fpr) == pytest.approx((0.111111, 0.097561, 0.000858), abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(rows, st.none() | scores)
def test_threshold_table_is_the_confusion_at_each_of_its_thresholds(
    pairs: list[tuple[bool, float]], calibrated: float | None
) -> None:
    label, score = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    table = threshold_table(label, score, calibrated)
    extra = () if calibrated is None else (calibrated,)
    assert tuple(row.threshold for row in table) == PAPER_THRESHOLDS + extra
    assert [row.calibrated for row in table] == [False] * 4 + [True] * len(extra)
    for row in table:
        counts = confusion(label, score, row.threshold)
        assert (row.f1, row.tpr, row.fpr) == (counts.f1, counts.tpr, counts.fpr)
