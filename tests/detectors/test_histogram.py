"""Histogram: rarity by columns, worked out by hand, and a score that ranks as its sum does."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from sdgad.detectors.baselines.column_steps import GRID, RANKS, ColumnSteps, heights, on_grid, tails
from sdgad.detectors.baselines.histogram import Histogram
from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream

TRAIN, VAL, TEST = simulate_payments(6000, anomaly_rate=0.02, seed=1).split()
VALUES = np.array([0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 9.0, 10.0])


def rows(*columns: Any) -> np.ndarray:
    return np.stack(columns, 1).astype(np.float32)


# ---------------------------------------------------------------------- by hand
def test_the_height_of_a_bin_is_its_share_of_the_fullest_one_with_a_pseudo_count() -> None:
    """Bins [0, 5) and [5, 10] hold 6 and 2 values; nothing lies beyond."""
    steps = ColumnSteps.fit(rows(VALUES), partial(heights, bins=2))
    nats = steps(rows([0.0, 4.9, 5.0, 10.0, -0.1, 10.1]))
    np.testing.assert_allclose(nats, np.log([1, 1, 7 / 3, 7 / 3, 7, 7]), atol=1e-12)


def test_the_tail_is_the_rarer_side_with_equals_and_a_pseudo_count() -> None:
    """Of eight values, those up to v and those from v on, and the event itself."""
    steps = ColumnSteps.fit(rows(VALUES), tails)
    nats = steps(rows([-1.0, 0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 11.0]))
    rarer = np.array([0, 1, 1, 3, 5, 2, 1, 0])
    np.testing.assert_allclose(nats, np.log(9 / (rarer + 1)), atol=1e-12)


def test_columns_are_summed_and_one_of_equal_values_says_something_of_others_alone() -> None:
    constant = np.full(8, 3.0)
    for rule in (partial(heights, bins=2), tails):
        one, two = ColumnSteps.fit(rows(VALUES), rule), ColumnSteps.fit(rows(VALUES, constant), rule)
        same = two(rows([0.0, 5.0], [3.0, 3.0]))
        np.testing.assert_allclose(same, one(rows([0.0, 5.0])), atol=1e-12)
        other = two(rows([0.0, 5.0], [2.0, 4.0]))
        np.testing.assert_allclose(other - same, np.log(9.0), atol=1e-12)


def test_tails_of_many_values_are_exact_at_the_ends_and_nearly_so_between() -> None:
    values = np.random.default_rng(0).permutation(20_000) / 64
    steps = ColumnSteps.fit(rows(values), tails)
    assert steps.knots.shape[1] <= 2 * RANKS
    order = np.sort(values)
    exact = np.log(20_001 / (np.minimum(np.arange(1, 20_001), np.arange(20_000, 0, -1)) + 1))
    found = steps(rows(order))
    np.testing.assert_allclose(found[[0, 1, 2, 3, -3, -2, -1]], exact[[0, 1, 2, 3, -3, -2, -1]], atol=1e-12)
    assert np.abs(found - exact).max() < 0.06


def test_rounding_moves_no_event_off_a_value_that_many_have() -> None:
    """0, halves, quarters: where live and offline rows differ in their last bits, their nats do not."""
    often = np.repeat([0.0, 0.25, 0.5, 1.0], 50)
    for rule in (partial(heights, bins=4), tails):
        steps = ColumnSteps.fit(rows(often), rule)
        for noise in (1e-6, -1e-6):
            np.testing.assert_array_equal(steps(rows(often + noise)), steps(rows(often)))
    assert (on_grid([0.25]) == 0.25 * GRID).all()


# ---------------------------------------------------------------------- the detector
@pytest.fixture(scope="module", params=["hbos", "ecod"])
def detector(request: pytest.FixtureRequest) -> Histogram:
    return Histogram(device="cpu", rule=request.param).fit(TRAIN, val=VAL)


def sums(detector: Histogram, first: int, count: int) -> np.ndarray:
    """What is summed over the columns of the first events."""
    index = detector.view.index(detector._archive.log, detector.clock)
    table = detector.table.rows(index, torch.arange(first, first + count))
    return detector._steps(detector.table.for_densities(table))


def test_it_finds_planted_anomalies_without_a_label(detector: Histogram) -> None:
    assert roc_auc_score(TEST.label, detector.decision_function(TEST)) > 0.75
    unlabelled = Histogram(device="cpu", rule=detector.config.rule).fit(TRAIN.with_labels("none"), val=VAL)
    np.testing.assert_array_equal(unlabelled.decision_function(TEST), detector.decision_function(TEST))


def test_the_score_rises_strictly_with_the_sum_and_is_a_half_at_the_99th_percentile(
    detector: Histogram,
) -> None:
    total, scores = sums(detector, 0, len(TRAIN)), detector.decision_scores_
    order = np.argsort(total)
    apart = np.diff(total[order]) > 1e-9
    assert apart.mean() > 0.9
    assert (np.diff(scores[order])[apart] > 0).all()
    assert (scores >= 0.5).mean() == pytest.approx(0.01, abs=0.002)


def test_steps_are_those_of_training_events_alone(detector: Histogram) -> None:
    """Other validation events change no knot."""
    again = Histogram(device="cpu", rule=detector.config.rule).fit(TRAIN, val=VAL[:200])
    for name, array in detector._weights().items():
        np.testing.assert_array_equal(again._weights()[name], array)


@pytest.mark.parametrize("rule", ["hbos", "ecod"])
def test_empty_and_constant_columns_are_no_obstacle(rule: str) -> None:
    rng = np.random.default_rng(0)
    msg = np.stack([np.full(600, np.nan), np.full(600, 7.0), rng.normal(size=600)], 1)
    who, whom = rng.integers(0, 20, (2, 600))
    train, val, test = EventStream(who, whom, np.arange(600), msg).split()
    scores = Histogram(device="cpu", rule=rule).fit(train, val=val).decision_function(test)
    assert ((scores > 0) & (scores < 1)).all()
    assert len(np.unique(scores)) > 100


@pytest.mark.parametrize("option", [{"bins": 1}, {"bins": 1_000_000}, {"rule": "height"}])
def test_options_out_of_range_are_named(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(option))}="):
        Histogram(**option)
