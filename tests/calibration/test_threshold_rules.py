"""Threshold rules keep their promise on validation, ties included, and say what they cannot use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.calibration import ValidationScores, choose_threshold, default_threshold, threshold_rules
from sdgad.errors import InputError
from sdgad.metrics import confusion

DAY = 86_400.0

labels = st.sampled_from([0.0, 1.0, np.nan])
tied_scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
rows = st.lists(st.tuples(labels, tied_scores | st.floats(0, 1)), min_size=1, max_size=60)
shares = st.floats(0, 1) | st.sampled_from([0.0, 0.001, 0.1, 0.29, 0.5, 1.0])


def validation(pairs: list[tuple[float, float]], seconds: float = DAY) -> ValidationScores:
    label, score = zip(*pairs, strict=True) if pairs else ((), ())
    return ValidationScores(np.array(score), np.array(label, dtype=np.float32), seconds)


def lower_thresholds(val: ValidationScores, threshold: float) -> np.ndarray:
    return val.score[val.score < threshold]


@settings(max_examples=300, deadline=None)
@given(rows, shares)
def test_fpr_is_never_exceeded_on_validation_normals_and_no_lower_score_would_do(
    pairs: list[tuple[float, float]], rate: float
) -> None:
    val = validation(pairs)
    normals = val.score[val.label != 1]
    assume(len(normals))
    threshold = choose_threshold("fpr", rate, val)
    assert np.mean(normals >= threshold) <= rate
    assert all(np.mean(normals >= lower) > rate for lower in normals[normals < threshold])


@settings(max_examples=300, deadline=None)
@given(rows, shares)
def test_quantile_never_flags_more_than_its_share_and_no_lower_score_would_do(
    pairs: list[tuple[float, float]], share: float
) -> None:
    val = validation(pairs)
    threshold = choose_threshold("quantile", share, val)
    assert np.mean(val.score >= threshold) <= share
    assert all(np.mean(val.score >= lower) > share for lower in lower_thresholds(val, threshold))


@settings(max_examples=300, deadline=None)
@given(rows, st.floats(0, 40), st.floats(0.01, 5))
def test_alerts_per_day_are_never_exceeded_and_no_lower_score_would_do(
    pairs: list[tuple[float, float]], alerts: float, days: float
) -> None:
    val = validation(pairs, days * DAY)
    threshold = choose_threshold("alerts_per_day", alerts, val)
    allowed = alerts * val.seconds / DAY
    assert np.count_nonzero(val.score >= threshold) <= allowed
    assert all(np.count_nonzero(val.score >= lower) > allowed for lower in lower_thresholds(val, threshold))


@settings(max_examples=200, deadline=None)
@given(rows)
def test_f1_is_the_best_on_validation_with_unlabelled_events_as_normals(
    pairs: list[tuple[float, float]],
) -> None:
    val = validation(pairs)
    known = (val.label == 1).astype(float)
    assume(0 < known.sum() < len(known))
    threshold = choose_threshold("f1", None, val)
    best = confusion(known, val.score, threshold).f1
    assert best is not None
    assert all(best >= (confusion(known, val.score, other).f1 or 0.0) for other in val.score)
    assert default_threshold(val) == threshold


def test_a_rate_below_one_event_puts_the_threshold_just_above_the_highest_normal() -> None:
    val = validation([(0, 0.1), (np.nan, 0.7), (1, 0.9)])
    assert choose_threshold("fpr", 0.001, val) == np.nextafter(0.7, np.inf)


def test_a_share_that_floats_cannot_multiply_exactly_is_used_in_full() -> None:
    val = validation([(0, float(score)) for score in range(100)])
    assert np.count_nonzero(val.score >= choose_threshold("fpr", 0.29, val)) == 29


def test_a_plain_number_is_the_threshold() -> None:
    assert choose_threshold(0.5, None, validation([])) == 0.5
    assert choose_threshold("value", 0.25, validation([(0, 0.1)])) == 0.25


@pytest.mark.parametrize("label", [0.0, 1.0, np.nan])
def test_default_without_both_classes_flags_one_percent(label: float) -> None:
    val = validation([(label, score / 1000) for score in range(1000)])
    assert np.count_nonzero(val.score >= default_threshold(val)) == 10


@pytest.mark.parametrize(
    ("rule", "amount", "sentence"),
    [
        ("f2", None, "no threshold rule named 'f2'.*; there are: alerts_per_day, f1, fpr, quantile, value"),
        ("fpr", None, "'fpr' needs an amount: the wanted false-positive rate"),
        ("alerts_per_day", None, "'alerts_per_day' needs an amount"),
        ("quantile", None, "'quantile' needs an amount"),
        ("value", None, "'value' needs an amount"),
        ("f1", 0.5, "'f1' takes no amount"),
        (0.5, 0.5, "takes no amount"),
        ("fpr", 1.5, "'fpr' cannot use 1.5"),
        ("quantile", float("nan"), "'quantile' cannot use nan"),
        ("alerts_per_day", -1.0, "'alerts_per_day' cannot use -1.0"),
        (float("nan"), None, "finite"),
    ],
)
def test_rules_and_amounts_that_cannot_be_used_get_one_sentence(
    rule: str | float, amount: float | None, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        choose_threshold(rule, amount, validation([(0, 0.1), (1, 0.9)]))


@pytest.mark.parametrize("rule", sorted(set(threshold_rules.names()) - {"value"}))
def test_validation_without_events_gets_one_sentence(rule: str) -> None:
    amount = None if threshold_rules.get(rule).needs is None else 0.5
    with pytest.raises(InputError, match="no events"):
        choose_threshold(rule, amount, validation([]))


def test_default_threshold_of_no_events_gets_one_sentence() -> None:
    with pytest.raises(InputError, match="no events"):
        default_threshold(validation([]))


@pytest.mark.parametrize(
    ("label", "which"), [(0, "no known anomaly"), (np.nan, "no known anomaly"), (1, "only anomalies")]
)
def test_f1_without_both_classes_gets_one_sentence(label: float, which: str) -> None:
    with pytest.raises(InputError, match=f"'f1' needs both classes.*{which}"):
        choose_threshold("f1", None, validation([(label, 0.1), (label, 0.2)]))


def test_fpr_without_normals_and_alerts_without_time_get_one_sentence() -> None:
    with pytest.raises(InputError, match="only anomalies"):
        choose_threshold("fpr", 0.1, validation([(1, 0.5)]))
    with pytest.raises(InputError, match="spans some time"):
        choose_threshold("alerts_per_day", 5, validation([(0, 0.5)], seconds=0.0))


@pytest.mark.parametrize(
    ("score", "label", "seconds", "sentence"),
    [
        ([0.1, np.nan], [0, 0], DAY, "validation score of row 2"),
        ([0.1, 0.2], [0, 3], DAY, "label of row 2"),
        ([0.1], [0, 1], DAY, "2 validation labels but 1 validation scores"),
        ([0.1], [0], np.nan, "seconds"),
        ([0.1], [0], -1.0, "seconds"),
    ],
)
def test_validation_scores_are_checked_once(
    score: list[float], label: list[float], seconds: float, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        ValidationScores(np.array(score), np.array(label, dtype=np.float32), seconds)
