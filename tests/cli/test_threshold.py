"""`sdgad threshold`: what it promises on validation, and that the model keeps it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sdgad.detectors import load

from .conftest import Command


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "model"))


@pytest.mark.parametrize(
    "rule", [("f1",), ("fpr", "0.05"), ("quantile", "0.02"), ("alerts_per_day", "3"), ("0.4",)], ids=" ".join
)
def test_the_model_keeps_the_threshold_that_the_library_would_set(
    sdgad: Command, copy: Path, rule: tuple[str, ...]
) -> None:
    wanted = load(copy)
    name, *amount = (float(word) if word[0].isdigit() else word for word in rule)
    wanted.set_threshold(name, *amount)
    before = load(copy)
    said = json.loads(sdgad("threshold", copy, *rule, "--json").out)
    after = load(copy)
    assert after.threshold_ == wanted.threshold_ == said["threshold"]
    assert after.threshold_rule_ == wanted.threshold_rule_ == said["threshold_rule"]
    np.testing.assert_array_equal(after.validation_scores_, before.validation_scores_)
    flagged = after.validation_scores_ >= after.threshold_
    assert said["validation"]["alerts"] == flagged.sum()
    assert said["validation"]["events"] == len(flagged)


def test_asking_changes_nothing(sdgad: Command, copy: Path) -> None:
    files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in copy.iterdir()}
    outcome = sdgad("threshold", copy)
    assert outcome.code == 0
    assert f"{load(copy).threshold_:.6g}" in outcome.out
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in copy.iterdir()} == files


@pytest.mark.parametrize(
    ("rule", "named"),
    [(("fprr", "0.1"), "fprr"), (("fpr",), "fpr"), (("f1", "3"), "f1"), (("fpr", "7"), "7")],
)
def test_a_rule_that_does_not_exist_or_lacks_its_amount_is_refused(
    sdgad: Command, copy: Path, rule: tuple[str, ...], named: str
) -> None:
    before = load(copy).threshold_
    outcome = sdgad("threshold", copy, *rule)
    assert outcome.code == 2
    assert named in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert load(copy).threshold_ == before


@pytest.mark.parametrize("rule", [("50",), ("1.5",), ("value", "50")], ids=" ".join)
def test_a_score_that_no_event_can_have_is_refused(sdgad: Command, copy: Path, rule: tuple[str, ...]) -> None:
    before = load(copy).threshold_
    outcome = sdgad("threshold", copy, *rule)
    assert outcome.code == 2
    assert f"between 0 and 1, so {rule[-1]} is no threshold; did you mean alerts_per_day" in outcome.err
    assert load(copy).threshold_ == before


def test_a_rule_may_be_written_with_hyphens_and_a_score_as_a_rule(sdgad: Command, copy: Path) -> None:
    sdgad("threshold", copy, "alerts-per-day", "3")
    assert load(copy).threshold_rule_ == "alerts_per_day 3"
    sdgad("threshold", copy, "value", "0.4")
    assert load(copy).threshold_ == 0.4


def test_a_share_that_validation_cannot_tell_is_told(sdgad: Command, copy: Path) -> None:
    normal = json.loads(sdgad("threshold", copy, "--json").out)["validation"]["normal"]
    for rule in ("fpr", "quantile"):
        assert "cannot tell 0.0001" in sdgad("threshold", copy, rule, "0.0001").out
        assert "cannot tell" not in sdgad("threshold", copy, rule, "0.1").out
    assert f"{normal} normal events cannot tell" in sdgad("threshold", copy, "fpr", "0.0001").out


def test_what_is_counted_adds_up(sdgad: Command, copy: Path) -> None:
    found = json.loads(sdgad("threshold", copy, "fpr", "0.1", "--json").out)["validation"]
    assert found["false_alarms"] + found["found"] == found["alerts"]
    assert found["normal"] + found["anomalies"] == found["events"]
    assert found["false_alarm_rate"] == found["false_alarms"] / found["normal"]
    assert found["recall"] == found["found"] / found["anomalies"]
    said = sdgad("threshold", copy).out
    assert f"{found['false_alarms']} of {found['normal']} normal events are alerts" in said
    assert f"{found['found']} of {found['anomalies']} known anomalies" in said
