"""A verdict on two scores is fair: it mirrors, it ignores what does not matter, and luck alone rarely wins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.metrics import auroc, average_precision
from sdgad.metrics.intervals import Interval
from sdgad.metrics.paired import compare, compare_over_seeds

score = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3))
rows = st.lists(st.tuples(st.booleans(), score, score), min_size=4, max_size=40)
METRICS = ["auroc", "ap", "best_f1"]


def two_scores(
    rng: np.random.Generator, label: np.ndarray, ahead: float = 0.0, seen: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Scores that share half of their noise; `a` lifts anomalies by `ahead` more."""
    shared = rng.normal(0, 1, len(label)) + seen * label
    a, b = (shared + rng.normal(0, 1, len(label)) for _ in "ab")
    return a + ahead * label, b


def labels(anomalies: int, normals: int) -> np.ndarray:
    return np.concatenate([np.ones(anomalies), np.zeros(normals)])


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(METRICS))
def test_swapping_the_scores_mirrors_the_comparison(
    drawn: list[tuple[bool, float, float]], metric: str
) -> None:
    label, a, b = (np.array(column, float) for column in zip(*drawn, strict=True))
    assume(0 < label.sum() < len(label))
    one, other = (compare(label, *pair, metric, resamples=50) for pair in ((a, b), (b, a)))
    mirror = {"ahead": "behind", "behind": "ahead", "tie": "tie"}
    assert other.verdict == mirror[one.verdict]
    assert (other.a, other.b, other.difference) == (one.b, one.a, -one.difference)
    assert (other.interval.low, other.interval.high) == pytest.approx((-one.interval.high, -one.interval.low))
    assert one.interval.low <= one.difference <= one.interval.high


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(METRICS))
def test_a_strictly_monotone_transform_ties_exactly(
    drawn: list[tuple[bool, float, float]], metric: str
) -> None:
    label, a, _ = (np.array(column, float) for column in zip(*drawn, strict=True))
    assume(0 < label.sum() < len(label))
    ranks = np.unique(a, return_inverse=True)[1]
    for other in (a, ranks**3 - 7):
        found = compare(label, a, other, metric, resamples=50)
        assert found.verdict == "tie"
        assert (found.difference, found.interval) == (0, Interval(0, 0))


@pytest.mark.parametrize("anomalies", [4, 20, 100])
def test_luck_alone_wins_about_one_time_in_twenty(anomalies: int) -> None:
    label = labels(anomalies, 400)
    rng = np.random.default_rng(5)
    for metric in ("auroc", "ap"):
        found = [
            compare(label, *two_scores(rng, label), metric, resamples=200, seed=i).verdict for i in range(250)
        ]
        assert np.mean([verdict != "tie" for verdict in found]) < 0.09, metric


def test_what_is_better_is_found_to_be_ahead() -> None:
    label = labels(40, 2000)
    rng = np.random.default_rng(5)
    found = [
        compare(label, *two_scores(rng, label, ahead=1.5), "auroc", resamples=200).verdict for _ in range(20)
    ]
    assert found.count("ahead") > 17


def test_values_are_those_of_the_metrics() -> None:
    label = labels(40, 500)
    a, b = two_scores(np.random.default_rng(0), label)
    found = compare(label, a, b, "ap", resamples=100)
    assert (found.a, found.b) == pytest.approx((average_precision(label, a), average_precision(label, b)))
    assert found.difference == pytest.approx(found.a - found.b)
    assert found == compare(label, a, b, "ap", resamples=100)
    assert found.interval != compare(label, a, b, "ap", resamples=100, seed=1).interval


def test_pairing_tells_what_two_separate_intervals_cannot() -> None:
    """Both scores are as noisy as their few anomalies, but one is better on every one of them."""
    rng = np.random.default_rng(3)
    label = labels(25, 3000)
    b = rng.normal(0, 1, len(label)) + 1.0 * label
    a = b + 0.4 * label
    found = compare(label, a, b, resamples=300)
    assert found.verdict == "ahead"
    assert found.interval.high - found.interval.low < 0.1


def test_two_anomalies_are_no_proof_and_many_are() -> None:
    for anomalies, verdict in ((1, "tie"), (2, "tie"), (10, "ahead")):
        label = labels(anomalies, 500)
        perfect, constant = label, np.zeros(len(label))
        assert compare(label, perfect, constant, resamples=50).verdict == verdict


def test_decisions_are_compared_at_each_ones_own_threshold() -> None:
    label = labels(50, 500)
    a, _ = two_scores(np.random.default_rng(0), label, seen=3)
    found = compare(label, a, a + 5, "f1", thresholds=(2.0, 7.0), resamples=100)
    assert (found.difference, found.verdict) == (0, "tie")
    assert compare(label, a, a + 5, "f1", thresholds=(2.5, 2.5), resamples=100).verdict == "ahead"


# ---------------------------------------------------------------------- several seeds
def test_five_seeds_on_the_same_events_do_not_count_as_five_times_the_events() -> None:
    label = labels(25, 800)
    a, b = two_scores(np.random.default_rng(0), label)
    once = compare(label, a, b, resamples=400)
    again = compare_over_seeds([(label, a, b)] * 5, resamples=400)
    width = [found.interval.high - found.interval.low for found in (once, again)]
    assert again.pairs == 5
    assert again.difference == pytest.approx(once.difference)
    assert width[1] == pytest.approx(width[0], rel=0.05)


def test_other_events_in_every_seed_make_the_mean_surer() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(8):
        label = rng.permutation(labels(25, 800))
        pairs.append((label, *two_scores(rng, label)))
    widths = [
        found.interval.high - found.interval.low
        for found in (compare(*pairs[0], resamples=400), compare_over_seeds(pairs, resamples=400))
    ]
    assert widths[1] < 0.7 * widths[0]


@pytest.mark.parametrize("shared", [True, False])
def test_seeds_that_differ_are_no_verdict(shared: bool) -> None:
    """Each seed lifts or lowers both methods at random: over three seeds, neither wins more than it should."""
    rng = np.random.default_rng(1)
    wins = 0
    for i in range(120):
        pairs = []
        label = rng.permutation(labels(30, 300))
        for _ in range(3):
            if not shared:
                label = rng.permutation(label)
            a, b = two_scores(rng, label)
            pairs.append((label, a + rng.normal(0, 0.7) * label, b + rng.normal(0, 0.7) * label))
        wins += compare_over_seeds(pairs, resamples=100, seed=i).verdict != "tie"
    assert wins / 120 < 0.1


def test_the_mean_is_over_pairs() -> None:
    rng = np.random.default_rng(2)
    pairs = []
    for normals in (100, 300):
        label = labels(20, normals)
        pairs.append((label, *two_scores(rng, label)))
    found = compare_over_seeds(pairs, resamples=50)
    assert found.a == pytest.approx(np.mean([auroc(label, a) for label, a, _ in pairs]))
    assert found.b == pytest.approx(np.mean([auroc(label, b) for label, _, b in pairs]))
    assert str(found).startswith(found.verdict)


def test_what_cannot_be_compared_is_said_in_a_sentence() -> None:
    with pytest.raises(InputError, match="both classes"):
        compare([0, 0], [1, 2], [2, 1])
    with pytest.raises(InputError, match="Metric 'f1' needs a threshold"):
        compare([0, 1], [1, 2], [2, 1], "f1")
    with pytest.raises(InputError, match="nothing to compare"):
        compare_over_seeds([])
    with pytest.raises(InputError, match="3 labels but 2 scores"):
        compare([0, 1, 1], [1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="1 pairs of scores but 2 pairs of thresholds"):
        compare_over_seeds([([0, 1], [1, 2], [2, 1])], "f1", thresholds=[(1, 1), (2, 2)])
