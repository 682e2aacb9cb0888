"""Drift: the distance is exact, and neither chance nor the time of day is called drift."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdgad.calibration.drift import bin_drifts, chance_distance, distance, drift, ordinary_distance

samples = st.lists(st.integers(0, 12), min_size=1, max_size=40).map(lambda xs: np.array(xs) / 12)


@given(samples, samples)
def test_the_distance_is_the_largest_gap_between_the_cumulative_shares(a: np.ndarray, b: np.ndarray) -> None:
    gaps = [abs(np.mean(a <= x) - np.mean(b <= x)) for x in np.concatenate([a, b])]
    assert distance(np.sort(a), np.sort(b)) == pytest.approx(max(gaps), abs=1e-12)
    assert distance(np.sort(b), np.sort(a)) == pytest.approx(max(gaps), abs=1e-12)


@given(samples, samples)
def test_higher_is_the_share_of_pairs_with_ties_at_one_half(a: np.ndarray, b: np.ndarray) -> None:
    pairs = [1.0 if y > x else 0.5 if y == x else 0.0 for x in a for y in b]
    assert drift(a, b).higher == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize(("n", "m"), [(5, 5), (40, 12), (400, 100)])
@pytest.mark.parametrize("distinct", [None, 6])
def test_chance_seldom_goes_farther_than_it_is_said_to(n: int, m: int, distinct: int | None) -> None:
    rng = np.random.default_rng(0)
    far = 0
    for _ in range(1000):
        both = rng.random(n + m) if distinct is None else rng.integers(0, distinct, n + m) / distinct
        far += distance(np.sort(both[:n]), np.sort(both[n:])) > chance_distance(n, m)
    assert far <= 0.05 * 1000 + 3 * np.sqrt(1000 * 0.05)


@given(st.lists(st.integers(0, 9), min_size=8, max_size=60).map(np.array), st.integers(1, 30))
def test_the_ordinary_distance_is_that_of_stretches_of_validation_from_the_rest(
    scores: np.ndarray, size: int
) -> None:
    width = min(size, len(scores) // 4)
    starts = np.linspace(0, len(scores) - width, min(len(scores) // width, 40)).astype(int)
    found = []
    for start in starts:
        stretch = scores[start : start + width]
        rest = np.concatenate([scores[:start], scores[start + width :]])
        found.append(distance(np.sort(rest), np.sort(stretch)))
    assert ordinary_distance(scores, size) == pytest.approx(max(found))


def test_days_and_nights_are_no_drift_but_a_shift_is() -> None:
    rng = np.random.default_rng(0)
    wave = 0.15 * np.sin(np.arange(6000) / 6000 * 40 * np.pi)
    scores = 0.5 + wave + 0.1 * rng.standard_normal(6000)
    before, after = scores[:3000], scores[3000:]
    calm = bin_drifts(before, np.array_split(after, 20))
    assert any(one.distance > one.chance for one in calm)  # independent events would not differ so
    assert sum(one.beyond_expected for one in calm) <= 2
    up, down = drift(before, after + 0.3), drift(before, after - 0.3)
    assert up.beyond_expected
    assert down.beyond_expected
    assert up.higher > 0.5 > down.higher


def test_a_handful_of_events_never_drifts_by_chance() -> None:
    assert chance_distance(1000, 1) == 1
    assert not drift(np.linspace(0, 1, 1000), np.array([0.999])).beyond_expected
    assert ordinary_distance(np.array([0.1, 0.2]), 1) == 0
