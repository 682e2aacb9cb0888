"""Thresholds to choose from: each flags what it says, none stands there twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdgad.events.clock import Clock
from sdgad.experiments.report_thresholds import thresholds_section
from sdgad.experiments.scored import ScoredStream
from sdgad.experiments.threshold_choices import FEWEST, SHARES, flagging, threshold_choices


def stream(score: np.ndarray, threshold: float = 0.5, **changes: Any) -> ScoredStream:
    n = len(score)
    options: dict[str, Any] = {
        "t": np.linspace(0, 10 * 86_400, n),
        "clock": Clock("s"),
        "source": ["a"] * n,
        "destination": ["b"] * n,
        "label": np.full(n, np.nan, np.float32),
    }
    return ScoredStream(score=score, threshold=threshold, **(options | changes))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60), st.integers(1, 59))
def test_a_threshold_flags_as_many_as_ties_allow_and_never_more(scores: list[float], count: int) -> None:
    score = np.array(scores)
    threshold = flagging(score, count)
    if count >= len(score):
        assert threshold is None
        return
    above = score > np.sort(score)[::-1][count]
    assert (threshold is None) == (not above.any())
    if threshold is not None:
        assert np.array_equal(score >= threshold, above)


def test_a_threshold_is_short_enough_to_type() -> None:
    score = np.random.default_rng(0).random(1000)
    assert all(len(repr(flagging(score, count))) <= 7 for count in (1, 10, 100))
    close = 1 - np.geomspace(1e-9, 1e-3, 1000)
    found = flagging(close, 10)
    assert (close >= (found or 0)).sum() == 10


def test_there_is_a_way_to_fewer_alerts_and_to_more() -> None:
    score = np.random.default_rng(0).random(10_000)
    choices = threshold_choices(stream(score, threshold=0.98))
    assert [choice.alerts for choice in choices if not choice.used] == [500, 100, 50, 10]
    assert [choice.used for choice in choices].count(True) == 1
    thresholds = [choice.threshold for choice in choices]
    assert thresholds == sorted(thresholds)
    assert all(choice.per_day == choice.alerts / 10 for choice in choices)


def test_what_labels_say_counts_the_labelled_events_only() -> None:
    score = np.arange(1000) / 1000
    label = np.full(1000, np.nan, np.float32)
    label[[999, 998, 997, 100]] = (1, 1, 0, 1)
    five = threshold_choices(stream(score, threshold=0.9985, label=label))[0]
    assert (five.alerts, five.false_alarms) == (50, 1)
    assert five.precision == 2 / 3
    assert five.recall == 2 / 3
    bare = threshold_choices(stream(score))[0]
    assert bare.precision is bare.recall is bare.false_alarms is None


def test_no_line_stands_there_twice_nor_promises_what_the_events_cannot_show() -> None:
    score = np.arange(1000) / 1000
    choices = threshold_choices(stream(score, threshold=0.99))  # the threshold in use flags 1% itself
    assert [choice.alerts for choice in choices] == [50, 10, 5]
    assert choices[1].used
    for n in (1, 20, 99, 300, 2500):
        rows = threshold_choices(stream(np.arange(n) / n, threshold=1.0))
        others = [choice.alerts for choice in rows if not choice.used]
        assert others == [int(share * n) for share in SHARES if int(share * n) >= FEWEST]
    assert len(threshold_choices(stream(np.full(5000, 0.3)))) == 1


def test_without_a_choice_there_is_no_section() -> None:
    assert thresholds_section(stream(np.array([0.1, 0.2, 0.9]))) == ""
    assert "per day" in thresholds_section(stream(np.arange(1000) / 1000))
    short = stream(np.arange(1000) / 1000, t=np.arange(1000))
    assert "per day" not in thresholds_section(short)
    assert "recall" not in thresholds_section(short)
