"""Events of another time than the model's are told: most of them older than its history, or all long after it."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from sdgad.detectors.base import Detector
from sdgad.detectors.registry import load, make_detector
from sdgad.events.clock import Clock
from sdgad.events.stream import EventStream

DAY = 86_400
END = 1_767_600_000  # 2026-01-05 08:00
QUESTION = "are unit and dates of column 't' right?"


def days(*when: float, seed: int = 1) -> EventStream:
    """Events so many days after the end of the history."""
    rng = np.random.default_rng(seed)
    t = END + DAY * np.array(when)
    return EventStream(
        rng.integers(0, 5, len(t)), rng.integers(3, 9, len(t)), t, clock=Clock("s", wall_clock=True)
    )


def fitted(name: str = "isolation-forest") -> Detector:
    return make_detector(name, seed=0).fit(days(*np.linspace(-40, 0, 120), seed=0))


@pytest.fixture(scope="module")
def forest() -> Detector:
    return fitted()


def said(caplog: pytest.LogCaptureFixture, detector: Detector, events: EventStream) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "sdgad"):
        detector.decision_function(events)
    return caplog.messages


def test_a_file_of_which_more_than_half_is_older_than_the_history_is_told(
    forest: Detector, caplog: pytest.LogCaptureFixture
) -> None:
    history = "are older than the model's history, which ends 2026-01-05 08:00:00"
    older = "which begin 2025-12-05 08:00:00"
    half = [-31, -2.1, -1.1, 1, 2, 3]
    assert said(caplog, forest, days(*half)) == []
    assert said(caplog, forest, days(*half, -0.1)) == [f"4 of 7 events, {older}, {history}: {QUESTION}"]


def test_events_that_the_history_holds_are_not_of_another_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    detector, new = fitted(), days(*np.linspace(0.1, 3, 30))
    past = days(*np.linspace(-40, 0, 120), seed=0)
    assert "older than" not in " ".join(said(caplog, detector, past))
    detector.update(new)
    assert "older than" not in " ".join(said(caplog, detector, new))
    caplog.clear()
    detector.update(new)
    assert "older than" not in caplog.text


@pytest.mark.parametrize("name", ["isolation-forest", "midas"])
def test_an_update_with_events_of_another_time_is_told(name: str, caplog: pytest.LogCaptureFixture) -> None:
    for when, note in ((range(-90, -60), "30 of 30 events"), (range(4000, 4030), "long after")):
        detector = fitted(name)
        caplog.clear()
        detector.update(days(*when))
        (told,) = caplog.messages
        assert note in told
        assert told.endswith(QUESTION)


def test_a_file_that_begins_long_after_the_history_is_told(
    forest: Detector, caplog: pytest.LogCaptureFixture
) -> None:
    assert said(caplog, forest, days(799, 800)) == []  # 20 times the 40 days of the history
    (note,) = said(caplog, forest, days(801, 802))
    assert note == (
        "All 2 events are of 2028-03-16 08:00:00 or later, long after the model's history, "
        f"which ends 2026-01-05 08:00:00: {QUESTION}"
    )


def test_what_becomes_of_late_events_is_said_in_the_same_line(caplog: pytest.LogCaptureFixture) -> None:
    midas = fitted("midas")
    few, most = days(-1, 1, 2), days(*range(-60, -30))
    (note,) = (note for note in said(caplog, midas, few) if "older than" in note)
    assert note.startswith("1 of 3 events")
    assert note.endswith("; they count as if they happened now.")
    (note,) = (note for note in said(caplog, midas, most) if "older than" in note)
    assert note.endswith(f"; they count as if they happened now: {QUESTION}")


def test_a_model_without_a_history_has_no_time_to_compare_with(
    forest: Detector, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    forest.save(tmp_path / "model", history=False)
    notes = said(caplog, load(tmp_path / "model"), days(4000, 4001))
    assert "long after" not in " ".join(notes)
