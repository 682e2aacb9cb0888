"""The calibrated score: strictly monotone, 0.5 at the boundary, no ties; the printed one: as in the paper."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.calibration import CalibratedScore, PrintedScore, Score, score_from_json
from sdgad.errors import InputError

magnitude = st.builds(lambda sign, power: sign * 10.0**power, st.sampled_from([-1, 1]), st.floats(-6, 6))
width = st.floats(-6, 6).map(lambda power: 10.0**power)
calibrated = st.builds(lambda boundary, wide: CalibratedScore(boundary, boundary + wide), magnitude, width)
float32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_neighbouring_float32_log_likelihoods_never_tie(data: st.DataObject) -> None:
    """Domain: |u| ≤ 10^7, and ℓ no tiny fraction of B − ℓ or of the width, where float64 itself ends."""
    score = data.draw(calibrated)
    u = data.draw(
        st.builds(lambda sign, power: sign * 10.0**power, st.sampled_from([-1, 1]), st.floats(-9, 7))
    )
    ell = np.float32(score.boundary - u * score.width)
    assume(np.isfinite(ell))
    below = np.nextafter(ell, np.float32(-np.inf))
    both = np.array([below, ell], dtype=np.float64)
    distance = np.abs(score.boundary - both)
    assume(np.all(distance <= 1e7 * score.width))
    assume(np.all(np.abs(both) >= np.maximum(distance / 2, 1e-7 * score.width)))
    higher, lower = score(np.array([below, ell]))
    assert 0 < lower < higher < 1


def test_no_ties_among_all_float32_neighbours_of_typical_log_likelihoods() -> None:
    score = CalibratedScore(boundary=-1.2345678, high=1.5)
    for start in (-1e7, -3e4, -12.5, -1.2345678, -1.0, 0.5, 1.5, 40.0):
        steps = np.arange(20_000, dtype=np.int32)
        ell = (np.float32(start).view(np.int32) + steps).view(np.float32)
        assert len(np.unique(ell)) == len(steps)
        assert np.all(np.diff(score(np.sort(ell))) < 0)


@settings(max_examples=300, deadline=None)
@given(st.floats(-1e7, 1e7), st.floats(1, 100))
def test_log_likelihoods_further_apart_than_the_stated_resolution_never_tie(u: float, times: float) -> None:
    score = CalibratedScore(boundary=0.0, high=1.0)
    lower_u = u - times * 2.0**-49 * (1 + u * u)
    assume(abs(lower_u) <= 1e7)
    higher, lower = score([-u, -lower_u])
    assert lower < higher


@settings(max_examples=300, deadline=None)
@given(calibrated, st.lists(float32 | st.sampled_from([math.inf, -math.inf]), min_size=2, max_size=50))
def test_the_score_never_rises_with_the_likelihood_and_stays_inside_0_and_1(
    score: CalibratedScore, ell: list[float]
) -> None:
    values = score(np.sort(np.array(ell, dtype=np.float32)))
    assert values.dtype == np.float64
    assert np.all(np.diff(values) <= 0)
    assert np.all((values > 0) & (values < 1))


@settings(max_examples=300, deadline=None)
@given(magnitude, magnitude)
def test_the_score_is_one_half_exactly_at_the_boundary_even_without_width(
    boundary: float, high: float
) -> None:
    score = CalibratedScore(boundary, high)
    assert score([boundary])[0] == 0.5
    step = 1e-3 * max(score.width, abs(boundary))
    above, below = score([boundary + step, boundary - step])
    assert above < 0.5 < below


@settings(max_examples=200, deadline=None)
@given(st.floats(-30, 30))
def test_the_score_is_the_sigmoid_of_asinh(u: float) -> None:
    expected = 1 / (1 + math.exp(-math.asinh(u)))
    assert CalibratedScore(boundary=2.0, high=5.0)([2.0 - 3.0 * u])[0] == pytest.approx(expected, rel=1e-12)


def test_likelihoods_as_far_above_the_boundary_as_high_score_below_one_third() -> None:
    assert CalibratedScore(-1.0, 2.0)([2.0])[0] == pytest.approx(1 / (2 + math.sqrt(2)))


@settings(max_examples=200, deadline=None)
@given(calibrated, st.floats(-1e3, 1e3))
def test_inverse_undoes_the_score(score: CalibratedScore, u: float) -> None:
    ell = score.boundary - u * score.width
    tolerance = 1e-9 * max(score.width, abs(score.boundary))
    assert score.inverse(score([ell]))[0] == pytest.approx(ell, rel=1e-9, abs=tolerance)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False, width=64), st.floats(-1e300, 1e300), st.floats(0.1, 1e9)
)
def test_json_keeps_every_bit(boundary: float, high: float, normaliser: float) -> None:
    for score in (CalibratedScore(boundary, high), PrintedScore(normaliser)):
        assert score_from_json(json.loads(json.dumps(score.to_json()))) == score


@pytest.mark.parametrize(
    "state",
    [
        {"name": "calibrated", "boundary": 0.0},
        {"name": "calibrated", "boundary": 0.0, "high": 1.0, "more": 2.0},
        {"name": "unheard"},
        {},
    ],
)
def test_json_with_missing_or_unknown_keys_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(InputError):
        score_from_json(state)


@settings(max_examples=200, deadline=None)
@given(st.floats(-100, 100), st.floats(0.1, 100))
def test_the_printed_score_is_that_of_the_paper_clamped_at_likelihood_one(
    ell: float, normaliser: float
) -> None:
    value = PrintedScore(normaliser)([ell])[0]
    assert value == pytest.approx(1 - math.exp(min(ell / normaliser, 0)), abs=1e-15)
    assert 0 <= value <= 1


def test_the_printed_score_is_one_half_at_6_93_below_zero_and_its_inverse_says_so() -> None:
    assert PrintedScore().inverse([0.5])[0] == pytest.approx(-6.93147, abs=1e-5)
    np.testing.assert_allclose(
        PrintedScore().inverse(PrintedScore()([-40.0, -1.0, -1e-9])), [-40.0, -1.0, -1e-9]
    )


@pytest.mark.parametrize("score", [CalibratedScore(0.0, 1.0), PrintedScore()])
def test_a_likelihood_that_is_not_a_number_is_named_by_its_row(score: Score) -> None:
    with pytest.raises(InputError, match="row 2"):
        score([0.0, math.nan])


@pytest.mark.parametrize("outside", [-0.1, 1.1, math.nan])
@pytest.mark.parametrize("score", [CalibratedScore(0.0, 1.0), PrintedScore()])
def test_inverse_refuses_what_no_score_can_be(score: Score, outside: float) -> None:
    with pytest.raises(InputError):
        score.inverse([outside])


def test_numbers_that_cannot_calibrate_are_refused() -> None:
    with pytest.raises(InputError, match="boundary"):
        CalibratedScore(math.nan, 1.0)
    with pytest.raises(InputError, match="normaliser"):
        PrintedScore(0.0)


def test_likelihoods_above_zero_do_not_tie_in_the_printed_score_up_to_the_highest_of_training() -> None:
    score = PrintedScore(highest=4.0)
    found = score([5.0, 4.0, 3.0, 2.0, -1.0])
    assert found[0] == found[1] == 0.0
    assert (np.diff(found[1:]) > 0).all()
    np.testing.assert_allclose(score.inverse(found[1:]), [4.0, 3.0, 2.0, -1.0])


def test_a_printed_score_of_an_older_file_has_no_highest_likelihood() -> None:
    assert score_from_json({"name": "printed", "normaliser": 10.0}) == PrintedScore(10.0, 0.0)
