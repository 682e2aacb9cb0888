"""Calibration and drift on the page: what is said is what is so."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdgad.calibration.threshold import ValidationScores
from sdgad.events.clock import Clock
from sdgad.experiments.report import ScoredStream, write_report
from sdgad.experiments.report_calibration import calibration_section
from sdgad.experiments.report_drift import drift_section

WALL = Clock("s", wall_clock=True)
DAY = 86_400


def validation(n: int = 1000, seed: int = 1, *, labelled: bool = True) -> ValidationScores:
    score = np.random.default_rng(seed).beta(2, 5, n)
    label = np.zeros(n) if labelled else np.full(n, np.nan)
    return ValidationScores(score, label.astype(np.float32), 10.0 * DAY)


def stream(n: int = 3000, seed: int = 0, **changes: Any) -> ScoredStream:
    """Scores as on validation, on a wall clock over five days, all labelled normal."""
    made = ScoredStream(
        t=np.linspace(1_700_000_000, 1_700_000_000 + 5 * DAY, n),
        clock=WALL,
        source=["a"] * n,
        destination=["b"] * n,
        score=np.random.default_rng(seed).beta(2, 5, n),
        threshold=0.6,
        label=np.zeros(n, np.float32),
        threshold_rule="value 0.6",
    )
    return replace(made, **changes)


def text(section: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<svg.*?</svg>|<[^>]+>", " ", section, flags=re.DOTALL))


def verdicts(section: str) -> list[str]:
    """The verdict of each line of the table: of the threshold in use, then of the asked rates."""
    body = section[section.index("<tbody>") :]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr.*?</tr>", body)]
    return [re.sub(r"<[^>]+>", "", row[6]).split(" ")[0] for row in rows]


def unlike(scores: np.ndarray, power: float) -> np.ndarray:
    return np.asarray(scores**power)


def test_an_unchanged_stream_is_within_and_does_not_drift() -> None:
    section = calibration_section(stream(), validation())
    assert verdicts(section) == ["within"] * 3
    assert "within what validation leads to expect" in text(section)
    assert "No drift to be seen" in drift_section(stream(), validation().score)


@pytest.mark.parametrize(
    ("power", "verdict", "way"), [(0.6, "above", "lie higher"), (1.6, "below", "lie lower")]
)
def test_a_changed_stream_is_told_with_its_direction(power: float, verdict: str, way: str) -> None:
    scored = stream(score=unlike(stream().score, power))
    assert verdicts(calibration_section(scored, validation())) == [verdict] * 3
    drift = text(drift_section(scored, validation().score))
    assert "The scores have drifted" in drift
    assert way in drift


def test_counts_in_the_table_are_those_of_the_scores() -> None:
    scored, known = stream(), validation()
    section = text(calibration_section(scored, known))
    alarms, before = int((scored.score >= 0.6).sum()), int((known.score >= 0.6).sum())
    assert f"{before} of 1,000" in section
    assert f"{alarms:,} of 3,000" in section


def test_a_rate_too_fine_for_validation_is_named_and_not_offered() -> None:
    section = text(calibration_section(stream(), validation(1000)))
    assert "0.1% and less is not offered: of 1,000 normal validation events that would be 1" in section
    assert "not offered" not in calibration_section(stream(), validation(5000))


def test_without_labels_the_rate_is_an_upper_bound() -> None:
    unknown = np.full(3000, np.nan, np.float32)
    scored = stream(label=unknown, score=unlike(stream().score, 0.6))
    section = text(calibration_section(scored, validation()))
    assert "upper bound" in section
    assert "rate, at most" in section
    assert "or anomalies" in section
    assert "upper bound" not in calibration_section(stream(), validation())


def test_alerts_that_somebody_labelled_normal_are_no_sample_of_normals() -> None:
    """Labels of the looked-into alerts only: among them, nearly all alarm."""
    scored = stream(label=np.where(stream().score > 0.6, 0.0, np.nan).astype(np.float32))
    assert verdicts(calibration_section(scored, validation()))[0] == "within"


def test_known_anomalies_are_no_false_alarms() -> None:
    anomalous = np.arange(3000) % 10 == 0
    score = np.where(anomalous, 0.99, stream().score)
    label = np.where(anomalous, 1.0, 0.0).astype(np.float32)
    assert verdicts(calibration_section(stream(score=score, label=label), validation())) == ["within"] * 3
    only_known = np.where(anomalous, 1.0, np.nan).astype(np.float32)
    assert (
        verdicts(calibration_section(stream(score=score, label=only_known), validation())) == ["within"] * 3
    )
    everything = stream(label=np.ones(3000, np.float32))
    assert "none could be a false alarm" in calibration_section(everything, validation())


def test_a_model_without_labels_is_said_to_hide_anomalies_among_its_normals() -> None:
    said = "calibrated without labels"
    assert said in calibration_section(stream(), validation(labelled=False))
    assert said not in calibration_section(stream(), validation())


def test_alerts_per_day_are_told_as_asked_and_as_observed() -> None:
    known = validation()
    scored = stream(threshold_rule="alerts_per_day 3")
    section = text(calibration_section(scored, known))
    before = int((known.score >= 0.6).sum()) / 10
    assert f"3 asked, {before:.3g} on validation, {scored.alerts / 5:.3g} here" in section
    assert "Alerts per day" not in calibration_section(stream(), known)


def test_the_bin_that_is_farthest_off_is_named_by_its_time() -> None:
    score = stream().score.copy()
    score[1500:1650] = unlike(score[1500:1650], 0.3)
    scored = stream(score=score)
    assert f"begins at {scored.moment(1500)} farthest" in drift_section(scored, validation().score)


@pytest.mark.parametrize("n", [100, 150, 450])
@pytest.mark.parametrize("label", [0.0, 1.0, np.nan])
def test_small_streams_of_one_class_have_both_sections(tmp_path: Path, n: int, label: float) -> None:
    scored = stream(n, label=np.full(n, label, np.float32))
    options: dict[str, Any] = {"title": "x", "facts": [], "metrics": None}
    for known in (validation(4), validation(1000)):
        write_report(tmp_path / "r.html", scored, **options, validation=known)
        page = (tmp_path / "r.html").read_text("utf-8")
        assert "<h2>Calibration</h2>" in page
        assert "<h2>Drift of scores</h2>" in page


@pytest.mark.parametrize("n", [1, 5, 99])
def test_so_few_events_are_not_judged(tmp_path: Path, n: int) -> None:
    scored = stream(n, score=np.full(n, 0.9))
    write_report(tmp_path / "r.html", scored, title="x", facts=[], metrics=None, validation=validation())
    said = text((tmp_path / "r.html").read_text("utf-8"))
    assert f"Too few events ({n}) to judge calibration or drift." in said
    for word in ("too many", "chance", "drifted", "leads to expect"):
        assert word not in said


def test_the_headline_of_the_calibration_is_about_the_threshold_in_use_alone() -> None:
    """The bulk has moved, the top has not."""
    score = stream().score.copy()
    middle = (score > 0.45) & (score < 0.6)
    score[np.flatnonzero(middle)[::2]] = 0.3
    section = text(calibration_section(stream(score=score), validation()))
    alarms, before = int((score >= 0.6).sum()), float((validation().score >= 0.6).mean())
    assert "At your threshold, false alarms are within what validation leads to expect:" in section
    assert f"{alarms} in 3,000 normal events ({100 * alarms / 3000:.2g}%); " in section
    assert f"validation had {100 * before:.2g}%." in section
    assert "Other thresholds changed more than chance explains: 10% asked became" in section
    assert "kept as well" not in section


def test_a_calm_end_does_not_hide_an_earlier_drift() -> None:
    score = stream().score.copy()
    score[:1500] = unlike(score[:1500], 0.5)
    section = text(drift_section(stream(score=score), validation().score))
    assert "The last fifth looks like validation; 10 of all 20 stretches did not." in section
    assert "No drift" not in section


@pytest.mark.parametrize("clock", [WALL, Clock("ns")])
def test_events_of_one_instant_and_equal_scores_have_both_sections(clock: Clock) -> None:
    scored = stream(t=np.full(3000, 17), score=np.full(3000, 0.3), clock=clock)
    assert "Calibration" in calibration_section(scored, validation())
    assert "Drift" in drift_section(scored, validation().score)
    spread = stream(score=np.full(3000, 0.3), clock=clock)
    same = ValidationScores(np.full(1000, 0.3), np.zeros(1000, np.float32), 0.0)
    assert verdicts(calibration_section(spread, same)) == ["within"] * 3
    assert "No drift" in drift_section(spread, same.score)


def test_the_page_is_the_same_for_the_same_scores_and_safe_whatever_the_rule_is_called(
    tmp_path: Path,
) -> None:
    options: dict[str, Any] = {"title": "x", "facts": [], "metrics": None}
    pages = []
    for _ in range(2):
        write_report(
            tmp_path / "r.html",
            stream(threshold_rule="<script>"),
            **options,
            validation=validation(),
        )
        pages.append((tmp_path / "r.html").read_text("utf-8"))
    assert pages[0] == pages[1]
    assert "<script" not in pages[0]
    assert "&lt;script&gt;" in pages[0]
    ids = re.findall(r'\bid="([^"]+)"', pages[0])
    assert len(ids) == len(set(ids))
    assert pages[0].count("<svg") == 4
