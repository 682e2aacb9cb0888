"""Asked and observed false alarms: the ranges are exact, and unchanged streams are left in peace."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.calibration.coverage import (
    FEWEST,
    Coverage,
    OperatingPoint,
    alarms_to_expect,
    bin_coverages,
    operating_points,
    pooled,
    resolvable,
    wilson,
)
from sdgad.calibration.threshold import ValidationScores


def validation(score: np.ndarray, label: np.ndarray | None = None) -> ValidationScores:
    unknown = np.full(len(score), np.nan, np.float32)
    return ValidationScores(score, unknown if label is None else label, 1000.0)


def fisher(alarms: int, normals: int, seen: int, later: int, *, above: bool) -> Fraction:
    """P(as many later alarms or more, or as many or fewer), all divisions of the alarms being equally likely."""
    drawn = alarms + seen
    counts = range(seen, min(later, drawn) + 1) if above else range(seen + 1)
    ways = sum(comb(later, j) * comb(normals, drawn - j) for j in counts if drawn - j >= 0)
    return Fraction(ways, comb(normals + later, drawn))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 40), st.integers(0, 40), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.9975]))
def test_the_range_ends_where_fishers_exact_test_rejects(
    normals: int, later: int, data: st.DataObject, level: float
) -> None:
    alarms = data.draw(st.integers(0, normals))
    low, high = alarms_to_expect(alarms, normals, later, level)
    assert 0 <= low <= high <= later
    tail = (1 - level) / 2
    for seen in range(later + 1):
        too_many, too_few = (fisher(alarms, normals, seen, later, above=above) for above in (True, False))
        if abs(float(too_many) - tail) > 1e-9:
            assert (seen > high) == (too_many < tail)
        if abs(float(too_few) - tail) > 1e-9:
            assert (seen < low) == (too_few < tail)


@pytest.mark.parametrize("distinct", [None, 7])
def test_unchanged_normals_are_seldom_called_changed(distinct: int | None) -> None:
    """Validation is drawn anew each time: its own error is part of the range. Ties do no harm."""
    rng = np.random.default_rng(0)

    def draw(count: int) -> np.ndarray:
        return rng.random(count) if distinct is None else rng.integers(0, distinct, count) / distinct

    words = []
    for _ in range(2000):
        (point,) = operating_points(validation(draw(120)), (0.1,))
        words.append(Coverage.of(point, draw(300)).verdict)
    assert words.count("above") <= 0.025 * 2000 + 3 * np.sqrt(2000 * 0.025)
    assert words.count("below") <= 0.025 * 2000 + 3 * np.sqrt(2000 * 0.025)
    if distinct is None:
        assert words.count("above") + words.count("below") >= 20  # and it does not hide behind its width


def test_all_bins_together_seldom_leave_their_ranges() -> None:
    rng = np.random.default_rng(0)
    left = 0
    for _ in range(400):
        (point,) = operating_points(validation(rng.random(1000)), (0.1,))
        parts = bin_coverages(point, list(rng.random((20, 100))))
        left += any(part.verdict != "within" for part in parts)
    assert left <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05)


def test_a_changed_rate_is_found_in_its_direction() -> None:
    rng = np.random.default_rng(0)
    (point,) = operating_points(validation(rng.random(2000)), (0.1,))
    assert Coverage.of(point, rng.random(2000) ** 0.7).verdict == "above"
    assert Coverage.of(point, rng.random(2000) ** 1.5).verdict == "below"


def test_a_rate_that_validation_cannot_resolve_is_not_offered() -> None:
    scores = validation(np.linspace(0, 1, 700))
    assert resolvable(scores, (0.1, 0.01, 0.001)) == [0.1, 0.01]
    assert [point.asked for point in operating_points(scores)] == [0.1, 0.01]
    assert operating_points(validation(np.linspace(0, 1, 10 * FEWEST - 1))) == []
    only_anomalies = validation(np.array([0.5, 0.6]), np.ones(2, np.float32))
    assert operating_points(only_anomalies) == []


def test_asked_thresholds_are_those_of_the_rule_and_look_at_normals_only() -> None:
    score = np.linspace(0, 1, 1000)
    label = np.where(score > 0.95, 1.0, np.nan).astype(np.float32)
    (point, _) = operating_points(validation(score, label), (0.1, 0.01))
    assert (point.alarms, point.normals) == (95, 950)
    assert 0.85 < point.threshold < 0.86


def test_any_threshold_has_its_range_even_without_an_alarm_or_a_normal() -> None:
    low, high = alarms_to_expect(0, 100, 1000)
    assert low == 0
    assert 0 < high < 100
    assert alarms_to_expect(100, 100, 50)[1] == 50
    assert alarms_to_expect(0, 0, 50) == (0, 50)
    assert alarms_to_expect(3, 100, 0) == (0, 0)


def test_large_counts_keep_their_precision() -> None:
    low, high = alarms_to_expect(10_000, 1_000_000, 1_000_000)
    spread = 1.96 * np.sqrt(2 * 10_000 * 0.99)
    assert abs(low - (10_000 - spread)) < 10
    assert abs(high - (10_000 + spread)) < 10


@given(st.integers(1, 10**6), st.data())
def test_wilsons_ends_are_the_shares_that_the_count_just_does_not_refute(
    total: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, total))
    low, high = wilson(count, total)
    assert 0 <= low <= count / total <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert (count / total - end) ** 2 == pytest.approx(
                1.959964**2 * end * (1 - end) / total, rel=1e-4
            )


def test_nothing_counted_is_nothing_known() -> None:
    assert wilson(0, 0) == (0, 1)
    nobody = Coverage.of(OperatingPoint(0.5, 3, 100), np.array([]))
    assert nobody.rate is None
    assert nobody.verdict == "within"


def test_bins_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    (point,) = operating_points(validation(rng.random(500)), (0.1,))
    scores = rng.random(900)
    whole = pooled(bin_coverages(point, np.array_split(scores, 7)))
    assert whole == Coverage.of(point, scores)
