"""Intervals hold what they promise: they cover the truth as often as they say, few anomalies or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.metrics import auroc, average_precision, best_f1_threshold, confusion
from sdgad.metrics.intervals import Interval, auroc_interval, bootstrap, student, widened
from sdgad.metrics.labelled import Labelled
from sdgad.metrics.resampling import DECISION_METRICS, RANKING_METRICS, Cells, measured, observed, resampled

Draw = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]
rows = st.lists(
    st.tuples(st.booleans(), st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))),
    min_size=2,
    max_size=50,
)


def stream(anomalous: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    label = np.concatenate([np.ones(len(anomalous)), np.zeros(len(normal))])
    return label, np.concatenate([anomalous, normal])


def phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


# ---------------------------------------------------------------------- AUROC
def normals_apart(by: float) -> tuple[float, Draw]:
    return phi(by / math.sqrt(2)), lambda rng, m, n: (rng.normal(by, 1, m), rng.normal(0, 1, n))


def half_found(share: float) -> tuple[float, Draw]:
    """Some anomalies stand above everything, the others are like normals: two types, one of them never seen before."""

    def draw(rng: np.random.Generator, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
        return np.where(rng.random(m) < share, 10, rng.normal(0, 1, m)), rng.normal(0, 1, n)

    return share + (1 - share) / 2, draw


TRUTHS = {
    "chance": normals_apart(0),
    "fair": normals_apart(1),
    "good": normals_apart(2),
    "excellent": normals_apart(4),
    "worse than chance": normals_apart(-1),
    "one type found": half_found(0.5),
    "nearly all found": half_found(0.95),
}


@pytest.mark.parametrize("anomalies", [5, 20])
@pytest.mark.parametrize("name", TRUTHS)
def test_an_auroc_interval_covers_the_truth_19_times_of_20(name: str, anomalies: int) -> None:
    truth, draw = TRUTHS[name]
    rng = np.random.default_rng(7)
    hits = [truth in _auroc_interval(*stream(*draw(rng, anomalies, 400))) for _ in range(1000)]
    assert np.mean(hits) > 0.92  # of 0.95; plain DeLong on the logit scale has 0.18 to 0.91 with 5 anomalies


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99])
def test_other_levels_cover_as_much_as_they_say(level: float) -> None:
    truth, draw = TRUTHS["good"]
    rng = np.random.default_rng(8)
    hits = [truth in _auroc_interval(*stream(*draw(rng, 60, 300)), level) for _ in range(400)]
    assert np.mean(hits) == pytest.approx(level, abs=0.08)


def _auroc_interval(label: Any, score: Any, level: float = 0.95) -> Interval:
    interval = auroc_interval(label, score, level)
    assert interval is not None
    return interval


@settings(max_examples=200, deadline=None)
@given(rows)
def test_an_auroc_interval_holds_the_auroc_and_mirrors_with_it(pairs: list[tuple[bool, float]]) -> None:
    label, score = (np.array(column, float) for column in zip(*pairs, strict=True))
    assume(0 < label.sum() < len(label))
    interval, value = _auroc_interval(label, score), auroc(label, score)
    assert 0 <= interval.low <= value <= interval.high <= 1
    turned = _auroc_interval(label, -score)
    assert turned.low == pytest.approx(1 - interval.high, abs=1e-9)
    swapped = _auroc_interval(1 - label, -score)
    assert (swapped.low, swapped.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    tamed = _auroc_interval(label, np.unique(score, return_inverse=True)[1])
    assert (tamed.low, tamed.high) == (interval.low, interval.high)


def test_a_perfect_score_is_the_surer_the_more_anomalies_it_found() -> None:
    lows = []
    for anomalies in (1, 2, 5, 20, 500):
        interval = _auroc_interval(*stream(np.ones(anomalies), np.zeros(5000)))
        assert interval.high == 1
        lows.append(interval.low)
    assert lows == sorted(lows)
    assert lows[0] < 0.05  # of one anomaly nothing can be learned
    assert 0.5 < lows[2] < 0.8
    assert 0.98 < lows[-1] < 1


@pytest.mark.parametrize("metric", RANKING_METRICS)
def test_resampling_is_not_certain_of_a_few_anomalies_that_were_all_found(metric: str) -> None:
    lows = []
    for anomalies in (1, 3, 20, 500):
        interval = bootstrap(*stream(np.ones(anomalies), np.zeros(3000)), [metric], resamples=100)[metric]
        assert interval is not None
        assert interval.high == 1
        lows.append(interval.low)
    assert lows == sorted(lows)
    assert lows[0] == 0  # of one anomaly nothing can be learned
    assert lows[1] < 0.7
    assert 0.99 < lows[-1] < 1


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_one_anomaly_says_nothing_about_others_wherever_it_stands(score: float) -> None:
    found = bootstrap(*stream(np.array([score]), np.linspace(0, 1, 101)), ["auroc", "ap"], resamples=50)
    assert found == {"auroc": Interval(0, 1), "ap": Interval(0, 1)}


@settings(max_examples=50, deadline=None)
@given(rows)
def test_a_resampled_interval_holds_what_was_measured(pairs: list[tuple[bool, float]]) -> None:
    label, score = (np.array(column, float) for column in zip(*pairs, strict=True))
    assume(0 < label.sum() < len(label))
    found = bootstrap(label, score, ["auroc", "ap"], resamples=50)
    for name, value in (("auroc", auroc(label, score)), ("ap", average_precision(label, score))):
        interval = found[name]
        assert interval is not None
        assert 0 <= interval.low <= value + 1e-12
        assert value - 1e-12 <= interval.high <= 1


def test_many_events_give_delongs_interval() -> None:
    rng = np.random.default_rng(0)
    anomalous, normal = rng.normal(1, 1, 4000), rng.normal(0, 1, 6000)
    above = (anomalous[:, None] > normal[None, :]).astype(float)
    se = math.sqrt(above.mean(1).var(ddof=1) / 4000 + above.mean(0).var(ddof=1) / 6000)
    interval = _auroc_interval(*stream(anomalous, normal))
    assert (interval.low, interval.high) == pytest.approx(
        (above.mean() - 1.96 * se, above.mean() + 1.96 * se), abs=2e-4
    )


# ---------------------------------------------------------------------- resampling
@settings(max_examples=150, deadline=None)
@given(rows, st.floats(-4, 4), st.integers(0, 2**32))
def test_counts_per_cell_are_as_good_as_the_rows_themselves(
    pairs: list[tuple[bool, float]], threshold: float, seed: int
) -> None:
    """A resample that is written out row by row has the metrics that its counts have."""
    label, score = (np.array(column, float) for column in zip(*pairs, strict=True))
    assume(0 < label.sum() < len(label))
    cells = Cells.cut(Labelled(label == 1, score), threshold)
    rng = np.random.default_rng(seed)
    drawn = np.concatenate(
        [rng.choice(np.flatnonzero(label == value), int((label == value).sum())) for value in (0, 1)]
    )
    tally = observed(label[drawn] == 1, Cells(cells.of[drawn], cells.count, cells.flagged))
    rows_of = label[drawn], score[drawn]
    assert measured("auroc", tally)[0] == pytest.approx(auroc(*rows_of), abs=1e-12)
    assert measured("ap", tally)[0] == pytest.approx(average_precision(*rows_of), abs=1e-12)
    best = best_f1_threshold(*rows_of)
    assert best is not None
    assert measured("best_f1", tally)[0] == pytest.approx(confusion(*rows_of, best).f1, abs=1e-12)
    for name in DECISION_METRICS:
        assert measured(name, tally)[0] == pytest.approx(getattr(confusion(*rows_of, threshold), name))


@pytest.mark.parametrize("normals", [30, 3000])  # drawn row by row, and drawn as counts
def test_resampled_counts_have_the_mean_and_variance_of_drawing_with_replacement(normals: int) -> None:
    rng = np.random.default_rng(0)
    label, score = stream(rng.normal(1, 1, 8), rng.normal(0, 1, normals))
    cells = Cells.cut(Labelled(label == 1, score))
    held = np.bincount(cells.of[label == 0], minlength=cells.count)
    found = np.concatenate([tally.normals for (tally,) in resampled(label == 1, [cells], 4000, 3)])
    assert (found.sum(1) == normals).all()
    np.testing.assert_allclose(found.mean(0), held, atol=6 * np.sqrt(held.max() / 4000) + 1e-9)
    np.testing.assert_allclose(found.var(0), held * (1 - held / normals), rtol=0.2, atol=0.05)


def test_two_scores_are_resampled_on_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    label, score = stream(rng.normal(1, 1, 30), rng.normal(0, 1, 400))
    first, second = Cells.cut(Labelled(label == 1, score)), Cells.cut(Labelled(label == 1, -score))
    for one, other in resampled(label == 1, [first, second], 50, 0):
        np.testing.assert_allclose(measured("auroc", one), 1 - measured("auroc", other))


def test_chunks_do_not_repeat_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdgad.metrics.resampling.HELD", 4000)
    rng = np.random.default_rng(0)
    label, score = stream(rng.normal(1, 1, 300), rng.normal(0, 1, 400))
    chunks = list(resampled(label == 1, [Cells.cut(Labelled(label == 1, score))], 25, 0))
    assert len(chunks) > 2
    values = np.concatenate([measured("auroc", tally) for (tally,) in chunks])
    assert len(values) == len(np.unique(values)) == 25


# ---------------------------------------------------------------------- bootstrap
def test_bootstrap_agrees_with_the_closed_form_where_both_are_good() -> None:
    rng = np.random.default_rng(1)
    label, score = stream(rng.normal(1, 1, 300), rng.normal(0, 1, 3000))
    ours, exact = bootstrap(label, score)["auroc"], _auroc_interval(label, score)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((exact.low, exact.high), abs=0.006)


@pytest.mark.parametrize("metric", ["ap", "f1", "recall", "precision"])
def test_a_bootstrap_interval_covers_the_truth(metric: str) -> None:
    rng = np.random.default_rng(2)
    threshold, anomalies, normals = 2.5, 30, 600

    def one(times: int = 1) -> tuple[np.ndarray, np.ndarray]:
        return stream(rng.normal(2.5, 1, anomalies * times), rng.normal(0, 1, normals * times))

    label, score = one(times=300)  # what is measured with very many events of the same rate
    cells = Cells.cut(Labelled(label == 1, score), threshold)
    truth = measured(metric, observed(label == 1, cells))[0]
    hits = []
    for i in range(150):
        found = bootstrap(*one(), [metric], threshold=threshold, resamples=300, seed=i)[metric]
        assert found is not None
        hits.append(truth in found)
    assert np.mean(hits) > 0.9


def test_finding_nothing_is_not_certainty() -> None:
    label, score = stream(np.zeros(11), np.linspace(-1, 1, 1000))
    found = bootstrap(label, score, ["f1", "recall"], threshold=0.9)
    for interval in found.values():
        assert interval is not None
        assert interval.low == 0
        assert interval.high > 0.05


def test_the_rate_of_anomalies_does_not_vary_between_resamples() -> None:
    """A score that tells nothing has recall 1 and precision = rate in every resample of fixed classes."""
    label = np.zeros(500)
    label[:5] = 1
    tied = bootstrap(label, np.zeros(500), ["ap", "auroc"], resamples=200)
    assert tied["ap"] == Interval(0.01, 0.01)
    assert tied["auroc"] == Interval(0.5, 0.5)


def test_the_same_seed_gives_the_same_interval_and_unknown_labels_are_left_out() -> None:
    rng = np.random.default_rng(1)
    label, score = stream(rng.normal(1, 1, 30), rng.normal(0, 1, 300))
    unknown = np.concatenate([label, np.full(50, np.nan)]), np.concatenate([score, rng.normal(9, 1, 50)])
    names = ["f1", "auroc", "ap", "best_f1", "fpr"]
    found = bootstrap(label, score, names, threshold=1.0, seed=4)
    assert list(found) == names
    assert found == bootstrap(*unknown, names, threshold=1.0, seed=4)
    assert found != bootstrap(label, score, names, threshold=1.0, seed=5)
    assert _auroc_interval(*unknown) == _auroc_interval(label, score)


def test_one_class_has_no_interval() -> None:
    assert auroc_interval([0, 0], [1, 2]) is None
    assert bootstrap([1, 1], [1, 2], ["ap", "f1"], threshold=1) == {"ap": None, "f1": None}


def test_few_events_widen_the_level_and_many_do_not() -> None:
    assert widened(0.95, 1) == 1
    levels = [widened(0.95, n) for n in (2, 5, 20, 100, 10**6)]
    assert levels == sorted(set(levels), reverse=True)
    assert levels[-1] == pytest.approx(0.95, abs=1e-5)
    assert student(0.95, 4) == pytest.approx(2.776, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: auroc_interval([0, 1], [1, 2], level=95),
            "level=95: a confidence level lies between 0 and 1",
        ),
        (lambda: bootstrap([0, 1], [1, 2], ["f1"]), "Metric 'f1' needs a threshold"),
        (lambda: bootstrap([0, 1], [1, 2], ["speed"]), "'speed' is not one of auroc, ap, best_f1, f1"),
        (lambda: bootstrap([0, 1], [1, 2], resamples=0), "resamples=0 must be at least 1"),
        (lambda: auroc_interval([0, 1], [1, math.nan]), "The score of row 2 is nan"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()


def test_every_metric_has_one_name() -> None:
    assert not set(RANKING_METRICS) & set(DECISION_METRICS)
