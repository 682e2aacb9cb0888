"""What the README promises of `make demo`: the figures of the full run, not of a small one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdgad.experiments.demo import run_demo


@pytest.mark.slow
def test_the_demo_finds_every_kind_of_anomaly_with_labels(tmp_path: Path) -> None:
    result = run_demo(tmp_path, labels="all")
    assert result["test"]["auroc"] >= 0.95
    at_half = result["test_at_half"]
    assert at_half["precision"] >= 0.5
    assert at_half["recall"] >= 0.5
    assert all(found["recall"] >= 0.5 for found in at_half["by_type"].values())
    raw = next(row for row in result["comparison"] if "amount and hour" in row["detector"])
    assert raw["auroc"] < 0.8  # the columns alone do not give the anomalies away


@pytest.mark.slow
def test_the_demo_finds_anomalies_without_labels(tmp_path: Path) -> None:
    assert run_demo(tmp_path, labels="none")["test"]["auroc"] >= 0.88
