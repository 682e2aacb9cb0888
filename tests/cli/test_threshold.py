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
