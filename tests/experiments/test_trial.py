"""What a trial says of a detector is about every test event, at a threshold that no test label chose."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from sdgad.detectors.baselines.boosting import Boosting
from sdgad.errors import InputError
from sdgad.events.stream import EventStream
from sdgad.experiments.protocol import Protocol
from sdgad.experiments.result import Result
from sdgad.experiments.trial import Trial
from sdgad.metrics import best_f1_threshold, confusion, evaluate

from .streams import RATES, messages, payments

QUICK: dict[str, Any] = {"seed": 0, "max_iter": 10}


@pytest.fixture(scope="module")
def trials() -> dict[str, Trial]:
    return {
        setting: Protocol(setting, resamples=50).trial(payments(), 0)  # type: ignore[arg-type]
        for setting in ("S1", "S2", "S3")
    }


@pytest.fixture(scope="module")
def results(trials: dict[str, Trial]) -> dict[str, Result]:
    return {setting: trial.run(Boosting(**QUICK)) for setting, trial in trials.items()}


def test_a_run_is_fit_and_score_on_the_parts_of_the_stream(results: dict[str, Result]) -> None:
    train, val, test = payments().split(0.4, 0.2)
    plain = Boosting(**QUICK).fit(train, val)
    np.testing.assert_array_equal(results["S1"].scores, plain.decision_function(test))
    assert results["S1"].threshold == plain.threshold_
    nothing = Boosting(**QUICK).fit(train.with_labels("none"), val.with_labels("none"))
    np.testing.assert_array_equal(results["S3"].scores, nothing.decision_function(test))
    assert results["S3"].threshold == nothing.threshold_


def test_metrics_are_pooled_over_all_test_events(results: dict[str, Result]) -> None:
    test = payments().split(0.4, 0.2)[2]
    for result in results.values():
        whole = evaluate(test.label, result.scores, result.threshold, anomaly_type=test.anomaly_type)
        for name in (
            "auroc",
            "ap",
            "f1",
            "precision",
            "recall",
            "fpr",
            "events",
            "anomalies",
            "threshold_table",
        ):
            assert result.metrics[name] == whole[name]
        assert {kind: found["auroc"] for kind, found in result.by_type.items()} == {
            kind: found["auroc"] for kind, found in whole["by_type"].items()
        }


@pytest.mark.parametrize(("setting", "rule"), [("S1", "f1"), ("S2", "f1"), ("S3", "quantile 0.01")])
def test_validation_chooses_the_threshold(
    setting: str, rule: str, trials: dict[str, Trial], results: dict[str, Result]
) -> None:
    detector = Boosting(**QUICK)
    trial = trials[setting]
    detector.fit(trial.train, val=trial.val)
    assert results[setting].threshold_rule == rule
    if setting == "S3":
        assert np.isnan(detector.validation.label).all()
        assert np.mean(detector.validation_scores_ >= results[setting].threshold) <= 0.01
    else:
        assert results[setting].threshold == best_f1_threshold(trial.val.label, detector.validation_scores_)


def test_the_share_of_the_unlabelled_quantile_is_the_protocols() -> None:
    trial = Protocol("S3", share=0.1, resamples=20).trial(payments())
    result = trial.run(Boosting(**QUICK))
    assert result.threshold_rule == "quantile 0.1"
    assert 0.02 < result.metrics["flagged"] / result.metrics["events"] < 0.3


def test_the_threshold_table_ends_with_the_calibrated_one(results: dict[str, Result]) -> None:
    for result in results.values():
        table = result.metrics["threshold_table"]
        assert [row["threshold"] for row in table] == [0.01, 0.1, 0.3, 0.5, result.threshold]
        assert [row["calibrated"] for row in table] == [False] * 4 + [True]


def test_the_oracle_stands_apart_and_is_never_beaten(results: dict[str, Result]) -> None:
    test = payments().split(0.4, 0.2)[2]
    for result in results.values():
        assert result.oracle is not None
        assert result.oracle.f1 >= max(row["f1"] for row in result.metrics["threshold_table"])
        assert result.oracle.f1 == confusion(test.label, result.scores, result.oracle.threshold).f1
        assert not [name for name in result.metrics if "oracle" in name or "best" in name]
        assert set(result.to_dict()["oracle"]) == {"f1", "threshold"}


def test_intervals_hold_their_metrics(results: dict[str, Result]) -> None:
    for result in results.values():
        for name in ("auroc", "ap", "f1", "precision", "recall", "fpr"):
            interval = result.intervals[name]
            assert interval is not None
            assert result.metrics[name] in interval
        for found in result.by_type.values():
            low, high = found["auroc_interval"]
            assert low <= found["auroc"] <= high


def test_a_result_can_be_written_as_json(results: dict[str, Result]) -> None:
    for result in results.values():
        told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert told["metrics"]["auroc"] == result.metrics["auroc"]
        assert told["seconds"]["fit"] > 0
        assert told["options"]["max_iter"] == 10
        assert told["protocol"]["setting"] == told["setting"] == result.setting
        assert f"auroc {result.metrics['auroc']:.4f}" in str(result)
        assert len(repr(result)) < 400
    rates = Protocol(rates=RATES, salience={"T": 0.5}, resamples=20)
    assert json.loads(json.dumps(rates.to_dict()))["rates"]["test"] == RATES["test"]


def test_types_are_told_apart() -> None:
    trial = Protocol(rates=RATES, resamples=20).trial(messages())
    found = trial.run(Boosting(**QUICK)).by_type
    assert {kind: values["anomalies"] for kind, values in found.items()} == {"S": 6, "T": 6}


# ---------------------------------------------------------------------- no event is left out
class Dropping(Boosting):
    """Gives no score to some events, as late='drop' does to late ones."""

    def decision_function(self, events: EventStream) -> np.ndarray:
        scores = super().decision_function(events)
        scores[[7, 9]] = np.nan
        return scores


def test_an_event_without_a_score_is_an_error(trials: dict[str, Trial]) -> None:
    with pytest.raises(
        InputError, match=r"^2 of 600 test events have no finite score, the first is row 8 of"
    ):
        trials["S1"].run(Dropping(**QUICK))


# ---------------------------------------------------------------------- the next one finds what the last one found
class Scaling(Boosting):
    """Standardises in place what it was given, as careless code does."""

    def fit(self, train: EventStream, val: EventStream | None = None, **options: Any) -> Scaling:
        super().fit(train, val, **options)
        assert train.msg is not None
        train.msg[:] -= train.msg.mean(0)
        return self


class Recycling(Boosting):
    """Writes all its scores into one array."""

    buffer = np.zeros(600)

    def decision_function(self, events: EventStream) -> np.ndarray:
        if len(events) != len(self.buffer):
            return super().decision_function(events)
        self.buffer[:] = super().decision_function(events)
        return self.buffer


def test_a_detector_that_changes_the_events_is_told_so() -> None:
    trial = Protocol("S1", resamples=20).trial(payments(), 0)
    with pytest.raises(InputError, match=r"^boosting has changed the events that it was given"):
        trial.run(Scaling(**QUICK))


def test_a_result_keeps_its_scores(trials: dict[str, Trial], results: dict[str, Result]) -> None:
    first = trials["S1"].run(Recycling(**QUICK))
    trials["S3"].run(Recycling(**QUICK))
    np.testing.assert_array_equal(first.scores, results["S1"].scores)


def test_scores_from_elsewhere_are_judged_alike(trials: dict[str, Trial], results: dict[str, Result]) -> None:
    result = results["S1"]
    again = trials["S1"].evaluate(result.scores, result.threshold)
    assert again.metrics == result.metrics
    assert again.intervals == result.intervals
    assert again.fingerprint == result.fingerprint
    assert str(again).startswith("scores S1, seed 0: auroc ")
    for wrong in (result.scores[:-1], result.scores[:, None]):
        with pytest.raises(InputError, match="600 test events but the scores have shape"):
            trials["S1"].evaluate(wrong, 0.5)
