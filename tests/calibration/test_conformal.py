"""Conformal p-values are valid: under exchangeability P(p ≤ a) ≤ a, ties and small samples included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.calibration import ConformalPValues
from sdgad.errors import InputError

scores = st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6)


@settings(max_examples=300, deadline=None)
@given(st.lists(scores, max_size=40), st.lists(scores, min_size=1, max_size=10))
def test_p_values_are_the_counts_of_their_definition(normals: list[float], tested: list[float]) -> None:
    expected = [(1 + sum(normal >= s for normal in normals)) / (len(normals) + 1) for s in tested]
    np.testing.assert_array_equal(ConformalPValues(np.array(normals))(tested), expected)


@settings(max_examples=200, deadline=None)
@given(st.lists(scores, min_size=1, max_size=30))
def test_p_values_are_super_uniform_when_any_of_the_events_could_be_the_tested_one(pool: list[float]) -> None:
    """Exchangeability, exactly: each of the n + 1 events is the tested one with probability 1 / (n + 1)."""
    p_values = np.array(
        [ConformalPValues(np.array(pool[:i] + pool[i + 1 :]))([pool[i]])[0] for i in range(len(pool))]
    )
    for count in range(1, len(pool) + 1):
        assert np.count_nonzero(p_values <= count / len(pool)) <= count


@settings(max_examples=200, deadline=None)
@given(st.lists(scores, max_size=40), st.lists(scores, min_size=2, max_size=20))
def test_a_higher_score_never_has_a_higher_p_value(normals: list[float], tested: list[float]) -> None:
    p_values = ConformalPValues(np.array(normals))(np.sort(tested))
    assert np.all(np.diff(p_values) <= 0)
    assert np.all((p_values > 0) & (p_values <= 1))


@settings(max_examples=200, deadline=None)
@given(st.lists(scores, max_size=40), st.lists(scores, min_size=1, max_size=10))
def test_the_sorted_array_is_all_there_is_to_save(normals: list[float], tested: list[float]) -> None:
    fitted = ConformalPValues(np.array(normals))
    assert np.all(np.diff(fitted.normal_scores) >= 0)
    again = ConformalPValues(np.frombuffer(fitted.normal_scores.tobytes()))
    np.testing.assert_array_equal(again(tested), fitted(tested))


def test_the_array_that_was_given_is_left_as_it_was() -> None:
    given_scores = np.array([0.3, 0.1, 0.2])
    ConformalPValues(given_scores)
    np.testing.assert_array_equal(given_scores, [0.3, 0.1, 0.2])
    given_scores[0] = 0.4


def test_scores_that_are_not_finite_are_named_by_their_row() -> None:
    with pytest.raises(InputError, match="validation score of row 2"):
        ConformalPValues(np.array([0.1, np.nan]))
    with pytest.raises(InputError, match="score of row 1"):
        ConformalPValues(np.array([0.1]))([np.inf])
