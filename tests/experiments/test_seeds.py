"""Several seeds: one line of a table, and a verdict only about the same events."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from sdgad.detectors.base import Detector
from sdgad.detectors.registry import make_detector
from sdgad.errors import InputError
from sdgad.experiments.comparison import compare_results
from sdgad.experiments.protocol import Protocol
from sdgad.experiments.result import Result
from sdgad.experiments.seeds import run_seeds
from sdgad.experiments.summary import Summary
from sdgad.metrics import auroc

from .streams import RATES, messages, payments

PROTOCOL = Protocol("S1", rates=RATES, resamples=50)


def boosting(seed: int) -> Detector:
    return make_detector("boosting", seed=seed, max_iter=10)


def forest(seed: int) -> Detector:
    return make_detector("isolation-forest", seed=seed)


@pytest.fixture(scope="module")
def both() -> tuple[list[Result], list[Result]]:
    events = messages()
    return run_seeds(PROTOCOL, events, boosting, range(3)), run_seeds(PROTOCOL, events, forest, range(3))


def test_each_seed_has_its_injection_and_its_detector(both: tuple[list[Result], list[Result]]) -> None:
    for results in both:
        assert [result.seed for result in results] == [0, 1, 2]
        assert [result.options["seed"] for result in results] == [0, 1, 2]
        assert len({result.fingerprint for result in results}) == 3
    assert [result.fingerprint for result in both[0]] == [result.fingerprint for result in both[1]]


def test_results_are_told_as_they_come() -> None:
    told: list[Result] = []
    results = run_seeds(PROTOCOL, messages(), boosting, [4, 2], progress=told.append)
    assert told == results
    assert [result.seed for result in told] == [4, 2]


@pytest.mark.parametrize("make", ["sdgad", "classifier", "boosting"])
def test_seeds_together_give_what_they_give_one_after_the_other(make: str) -> None:
    """Draws, weights and order of one training have nothing to do with those of another that runs beside it."""
    small = {"history": 3, "width": 8, "hidden": 8, "batch": 64} if make != "boosting" else {"max_iter": 10}
    events, told = payments(), []

    def detector(seed: int) -> Detector:
        return make_detector(make, seed=seed, device="cpu", **small)

    alone = run_seeds(PROTOCOL, events, detector, range(3), epochs=2)
    beside = run_seeds(PROTOCOL, events, detector, range(3), epochs=2, together=3, progress=told.append)
    assert told == beside
    for one, other in zip(alone, beside, strict=True):
        assert (one.seed, one.metrics, one.threshold) == (other.seed, other.metrics, other.threshold)


def test_an_error_of_one_seed_is_told_and_ends_the_others() -> None:
    started: list[int] = []

    def detector(seed: int) -> Detector:
        started.append(seed)
        if seed == 0:
            raise InputError("The first one fails.")
        return boosting(seed)

    with pytest.raises(InputError, match="first one"):
        run_seeds(PROTOCOL, messages(), detector, range(40), together=2)
    assert len(started) < 40
    with pytest.raises(InputError, match="together=0"):
        run_seeds(PROTOCOL, messages(), detector, together=0)


# ---------------------------------------------------------------------- the table
def test_a_summary_is_the_mean_and_the_samples_std(both: tuple[list[Result], list[Result]]) -> None:
    results = both[0]
    summary = Summary.of(results)
    values = [result.metrics["auroc"] for result in results]
    assert summary.auroc is not None
    assert (summary.auroc.mean, summary.auroc.std) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    assert summary.oracle_f1 is not None
    assert summary.f1 is not None
    assert summary.oracle_f1.mean >= summary.f1.mean
    at_half = [result.metrics["threshold_table"][3]["f1"] for result in results]
    assert summary.f1_at_half is not None
    assert summary.f1_at_half.mean == pytest.approx(np.mean(at_half))
    assert set(summary.by_type) == {"S", "T"}
    for name in ("auroc", "ap"):
        interval, metric = summary.interval[name], getattr(summary, name)
        assert interval is not None
        assert interval.low <= metric.mean <= interval.high
    assert json.loads(json.dumps(summary.to_dict(), allow_nan=False))["auroc"]["seeds"] == 3


def test_a_summary_is_one_line(both: tuple[list[Result], list[Result]]) -> None:
    summary = Summary.of(both[0])
    assert len(summary.cells()) == len(Summary.HEADER)
    assert str(summary).startswith("boosting S1: AUROC ")
    assert "\n" not in str(summary)
    assert " ± " in summary.cells()[3]
    alone = Summary.of(both[0][:1])
    assert " ± " not in str(alone)


def test_a_summary_is_about_one_method(both: tuple[list[Result], list[Result]]) -> None:
    first = both[0][0]
    other = replace(first, protocol={**first.protocol, "k": 1})
    for wrong in (both[1][0], other, replace(first, setting="S3")):
        with pytest.raises(InputError, match="one detector, with one protocol"):
            Summary.of([first, wrong])
    Summary.of([first, replace(first, protocol={**first.protocol, "resamples": 7})])
    with pytest.raises(InputError, match="no results"):
        Summary.of([])


# ---------------------------------------------------------------------- two detectors
def test_two_results_are_compared_on_their_scores(both: tuple[list[Result], list[Result]]) -> None:
    a, b = both[0][0], both[1][0]
    found = compare_results(a, b, resamples=100)
    label = a.answers.label
    assert (found.a, found.b) == pytest.approx((auroc(label, a.scores), auroc(label, b.scores)))
    assert compare_results(a, a, resamples=20).verdict == "tie"
    f1 = compare_results(a, b, "f1", resamples=100)
    assert (f1.a, f1.b) == pytest.approx((a.metrics["f1"], b.metrics["f1"]))


def test_lists_of_results_are_compared_seed_by_seed(both: tuple[list[Result], list[Result]]) -> None:
    found = compare_results(*both, resamples=100)
    assert found.pairs == 3
    assert found.difference == pytest.approx(
        np.mean([a.metrics["auroc"] - b.metrics["auroc"] for a, b in zip(*both, strict=True)])
    )


def test_results_of_different_events_are_refused(both: tuple[list[Result], list[Result]]) -> None:
    with pytest.raises(InputError, match="seed 0 and seed 1 are about different test events or labels"):
        compare_results(both[0][0], both[1][1])
    with pytest.raises(InputError, match="3 results cannot be compared with 2"):
        compare_results(both[0], both[1][:2])
    elsewhere = Protocol("S1", resamples=20).trial(payments()).run(boosting(0))
    with pytest.raises(InputError, match="different test events"):
        compare_results(both[0][0], elsewhere)


def test_other_labels_are_another_test() -> None:
    """The same events with other labels are other answers: their metrics do not compare."""
    events = payments()
    flipped = events.label.copy()
    flipped[-1] = 1 - flipped[-1]
    prints = {
        Protocol(resamples=20).trial(given).evaluate(np.linspace(0, 1, 600), 0.5).fingerprint
        for given in (events, events.with_columns(label=flipped))
    }
    assert len(prints) == 2
