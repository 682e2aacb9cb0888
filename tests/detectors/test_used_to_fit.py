"""A model knows which events it was fitted on, and says so of nothing else."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdgad.detectors.base import Detector
from sdgad.detectors.folder import read_folder, write_folder
from sdgad.detectors.registry import load, make_detector
from sdgad.events.clock import Clock
from sdgad.events.stream import EventStream


def stream(n: int = 60, start: int = 0, **changes: Any) -> EventStream:
    rng = np.random.default_rng(start)
    columns: dict[str, Any] = {
        "src": rng.integers(0, 5, n),
        "dst": rng.integers(3, 9, n),
        "t": start + np.arange(n),
        "msg": rng.normal(size=(n, 2)),
    }
    return EventStream(**(columns | changes))


def fitted(events: EventStream, **options: Any) -> Detector:
    return make_detector("isolation-forest", seed=0, **options).fit(events)


def test_only_the_events_of_the_fit_count_as_used(caplog: pytest.LogCaptureFixture) -> None:
    past, new = stream(), stream(30, start=60)
    detector = fitted(past)
    assert detector.fitted_until == 59
    assert detector.used_to_fit(past) == 60
    assert detector.used_to_fit(past[:20]) == 20
    assert detector.used_to_fit(new) == 0
    assert detector.used_to_fit(stream(60, src=np.full(60, 77))) == 0  # of that time, but not of the fit
    detector.update(new)
    assert detector.fitted_until == 59
    assert detector.used_to_fit(past) == 60
    assert detector.used_to_fit(new) == 0
    with caplog.at_level(logging.WARNING, "sdgad"):
        detector.decision_function(new)
    assert "history already" in caplog.text
    assert "used to fit" not in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, "sdgad"):
        detector.decision_function(past)
    assert "60 of these 60 events were used to fit this model." in caplog.text
    assert "history already" not in caplog.text


def test_an_event_of_the_last_instant_that_was_not_fitted_on_is_new() -> None:
    events = stream(90, t=np.arange(90) // 7)
    detector = fitted(events[:60])
    assert events.t[59] == events.t[60]
    assert detector.used_to_fit(events) == 60
    assert detector.used_to_fit(events[60:]) == 0


def test_events_that_get_no_score_spoil_no_figure() -> None:
    assert (
        fitted(stream(), late="drop").used_to_fit(stream()) == 0
    )  # at its very end an equal row is another event


def test_a_cut_between_equal_rows_makes_none_of_them_used() -> None:
    events = stream(90, src=np.arange(90) // 7, dst=np.arange(90) // 7, t=np.arange(90) // 7, msg=None)
    assert events.t[59] == events.t[60]
    assert fitted(events[:60]).used_to_fit(events[60:]) == 0


def test_times_in_another_unit_are_compared_in_the_models() -> None:
    detector = fitted(stream(clock=Clock("s")))
    other = stream(t=np.arange(60) * 1000, clock=Clock("ms"))
    assert detector.used_to_fit(other) == 60


def test_a_saved_model_remembers_and_an_older_one_still_loads(tmp_path: Path) -> None:
    big = 1_700_000_000_000_000_001  # nanoseconds, which no float64 holds
    past = stream(t=big - 59 + np.arange(60))
    detector = fitted(past)
    detector.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.fitted_until == big
    assert again.used_to_fit(past) == 60
    detector.save(tmp_path / "bare", history=False)
    assert load(tmp_path / "bare").used_to_fit(past[:20]) == 20
    assert json.loads((tmp_path / "m" / "calibration.json").read_text())["fitted_until"] == big

    files = read_folder(tmp_path / "m")
    del files.calibration["fitted_until"]
    write_folder(tmp_path / "old", files)
    old = load(tmp_path / "old")
    assert old.fitted_until is None
    assert old.used_to_fit(past) == 0
    assert np.array_equal(old.decision_function(past), again.decision_function(past))
