"""`sdgad demo` on a stream that is far too small to be impressive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sdgad as library
from sdgad.cli.main import run
from sdgad.experiments.demo import run_demo

from .conftest import Command


@pytest.fixture(scope="module", params=["all", "none"])
def demo(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("demo") / "deep" / request.param
    options = {"epochs": 1, "history": 3, "width": 8}
    return out, run_demo(out, labels=request.param, num_events=1500, seed=1, options=options)


def test_everything_that_is_promised_is_written(demo: tuple[Path, dict[str, Any]]) -> None:
    out, result = demo
    assert {path.name for path in out.iterdir()} == {
        "events.parquet", "metrics.json", "model", "report.html", "scores.parquet",
    }  # fmt: skip
    assert json.loads((out / "metrics.json").read_text()) == result
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"{result['test']['auroc']:.3f}" in page
    assert "isolation forest on amount and hour" in page


def test_its_numbers_are_those_of_its_files(demo: tuple[Path, dict[str, Any]]) -> None:
    out, result = demo
    _, _, test = library.read_events(out / "events.parquet").split(train=0.4, val=0.2)
    detector = library.load(out / "model")
    scores = detector.decision_function(test)
    table = pq.read_table(out / "scores.parquet")
    assert np.array_equal(table["score"].to_numpy(), scores)
    assert np.array_equal(table["t"].to_numpy(), test.t)
    for key, threshold in (("test", detector.threshold_), ("test_at_half", 0.5)):
        expected = library.evaluate(test.label, scores, threshold, anomaly_type=test.anomaly_type)
        assert result[key] == expected
    assert result["comparison"][0]["auroc"] == result["test"]["auroc"]


def test_it_is_compared_with_simpler_methods(demo: tuple[Path, dict[str, Any]]) -> None:
    _, result = demo
    names = [row["detector"] for row in result["comparison"]]
    assert names[:2] == ["sdgad", "boosting"]
    assert ("isolation-forest" in names) == (result["labels"] == "none")
    assert names[-1] == "isolation forest on amount and hour"


def test_without_labels_none_is_used(demo: tuple[Path, dict[str, Any]], sdgad: Command) -> None:
    out, result = demo
    found = json.loads(sdgad("info", out / "model", "--json").out)
    assert (found["validation"]["labelled"] == 0) == (result["labels"] == "none")


def test_its_files_suit_the_other_commands(demo: tuple[Path, dict[str, Any]], sdgad: Command) -> None:
    out, result = demo
    metrics = json.loads(sdgad("evaluate", out / "model", out / "scores.parquet", "--json").out)
    assert metrics == result["test"]


def test_the_command_prints_a_table_and_where_to_look(
    sdgad: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(out: Path, **options: Any) -> dict[str, Any]:
        return run_demo(out, **options, options={"epochs": 1, "history": 3, "width": 8})

    monkeypatch.setattr("sdgad.experiments.demo.run_demo", small)
    done = sdgad("demo", "--out", tmp_path / "d", "--events", "600", "--quiet")
    assert (done.code, done.err) == (0, "")
    metrics = json.loads((tmp_path / "d" / "metrics.json").read_text())
    assert f"{metrics['test']['auroc']:.4f}" in done.out
    assert str(tmp_path / "d" / "report.html") in done.out
    assert "boosting" in done.out
    assert (
        run(["demo", "--out", str(tmp_path / "d"), "--events", "600", "--json"]) == 0
    )  # once more, over the first
