"""Every line gets one answer; a bad one changes nothing and costs no other its answer."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import pytest

from sdgad.errors import InputError
from sdgad.serving.ahead import Ahead
from sdgad.serving.line_scorer import DROPPED, LineScorer

from .fakes import FakeDetector, FakeLive

START = 1_600_000_000
CLOCK = FakeDetector.clock


def scorer_of(live: FakeLive, **options: Any) -> LineScorer:
    return LineScorer(cast(Any, live), **options)


def line(who: Any = "a", when: Any = START, **more: Any) -> bytes:
    return json.dumps({"who": who, "whom": "z", "when": when, **more}).encode()


MIXED = [
    line("a", START),
    b"",
    line("a", START + 1, amount=5),
    line("a", START + 2, amount={"x": 1}),
    line("b", (START + 2) * 1000),
    line("cursed", START + 3),
    None,
    line("a", START - 5),
    line("b", str(START + 4), amount="2.5"),
    line("a", "soon"),
    line("a", START + 5, amount=None),
]


def test_good_lines_are_scored_as_if_the_bad_ones_were_not_there() -> None:
    scorer = scorer_of(FakeLive())
    answers = [answer for i, one in enumerate(MIXED) for answer in scorer.answer([one], i + 1)]
    assert [answer["line"] for answer in answers] == list(range(1, len(MIXED) + 1))
    assert {a["line"]: a["score"] for a in answers if "score" in a} == {
        1: 1.0, 3: 1 / 2, 5: 1.0, 9: 1 / 2, 11: 1 / 3
    }  # fmt: skip
    assert answers[0] == {"line": 1, "score": 1.0, "anomaly": 1, "p_value": 0.0}
    assert {a["line"]: a["error"] for a in answers if "error" in a} == {
        2: "The line is empty.",
        4: "Column 'amount': an object where there should be one value.",
        6: "Nobody speaks to the cursed.",
        7: "The line is longer than 16 MiB.",
        8: "The event is older than the newest event (late='error').",
        10: "Column 'when': 'soon' is not a time.",
    }


@pytest.mark.parametrize("size", [2, 3, 5, 11])
def test_a_batch_answers_what_its_lines_would_be_answered_one_by_one(size: int) -> None:
    one_by_one, together = scorer_of(FakeLive()), scorer_of(FakeLive())
    expected = [answer for i, one in enumerate(MIXED) for answer in one_by_one.answer([one], i + 1)]
    found = [
        answer for i in range(0, len(MIXED), size) for answer in together.answer(MIXED[i : i + size], i + 1)
    ]
    assert found == expected


def test_good_lines_of_a_batch_are_scored_in_one_go() -> None:
    live = FakeLive()
    amounts = [1, 2.5, None, 10**30, 7]
    lines = [line("a", START + i, amount=amount) for i, amount in enumerate(amounts)]
    scorer_of(live).answer([*lines, b"bad"], 1)
    assert live.batches == [5]
    scorer_of(live).answer([line("a", START + 20), line("a", START + 19)], 1)
    assert live.batches == [5, 1]


def test_a_dropped_event_says_so() -> None:
    scorer = scorer_of(FakeLive(drop=True))
    assert scorer.answer([line(when=START), line(when=START - 1)], 1)[1] == {
        "line": 2, "score": None, "anomaly": None, "p_value": None, "note": DROPPED
    }  # fmt: skip


def test_an_event_too_far_ahead_is_refused_and_the_next_one_is_not_late() -> None:
    for lines in ([0, 10, 5000, 15, 25], [0, 10, 21, 31, 5000, 41]):
        for size in (1, 9):
            scorer = scorer_of(FakeLive(), ahead=Ahead(CLOCK, "when", of_newest=11))
            batch = [line(when=START + t) for t in lines]
            answers = [a for i in range(0, len(batch), size) for a in scorer.answer(batch[i : i + size], i)]
            wrong = [a["error"] for a in answers if "error" in a]
            assert len(wrong) == 1
            assert re.match(r"Column 'when': the event is 4,9\d\d seconds ahead", wrong[0])
            assert wrong[0].endswith("more than the 11 seconds that are allowed.")


def test_the_machines_clock_bounds_events_though_nothing_has_come_for_a_year() -> None:
    """Measured from the newest event, one long silence would refuse all that follows."""
    now = START + 365 * 86_400
    ahead = Ahead(CLOCK, "when", of_now=60, now=lambda: now)
    times = [0, 10, 365 * 86_400, 365 * 86_400 + 59, 365 * 86_400 + 61, 3 * 365 * 86_400, 365 * 86_400 + 60]
    for size in (1, 9):
        scorer = scorer_of(FakeLive(), ahead=ahead)
        batch = [line(when=START + t) for t in times]
        answers = [a for i in range(0, len(batch), size) for a in scorer.answer(batch[i : i + size], i)]
        assert [i for i, a in enumerate(answers) if "error" in a] == [4, 5]
        assert answers[4]["error"] == (
            "Column 'when': the event is 61 seconds ahead of this machine's clock, more than the 60 seconds that are allowed."
        )


def test_events_that_each_go_a_little_further_do_not_lead_the_bound_on() -> None:
    ahead = Ahead(CLOCK, "when", of_now=60, now=lambda: START)
    scorer = scorer_of(FakeLive(), ahead=ahead)
    answers = [scorer.answer([line(when=START + t)], 1)[0] for t in range(0, 200, 20)]
    assert ["error" in a for a in answers] == [t > 60 for t in range(0, 200, 20)]


def test_keys_can_be_repeated_so_that_answers_find_their_events() -> None:
    scorer = scorer_of(FakeLive(), echo=("id", "deep"))
    found = scorer.answer(
        [line(id="é\ud800", deep=[{"a": 1}]), line(deep=float("inf")), line("", id=3), b"{"], 1
    )
    assert [(a.get("id"), a.get("deep")) for a in found] == [
        ("é\ud800", [{"a": 1}]), (None, None), (3, None), (None, None)
    ]  # fmt: skip
    assert "error" in found[2]
    for key in ("line", "score", "error"):
        with pytest.raises(InputError, match=f"Key '{key}' cannot be repeated"):
            scorer_of(FakeLive(), echo=(key,))


def test_an_error_does_not_repeat_a_megabyte() -> None:
    (answer,) = scorer_of(FakeLive()).answer([line(when="soon " * 200_000)], 1)
    assert len(answer["error"]) <= 300
    assert answer["error"].startswith("Column 'when': 'soon soon")
    assert answer["error"].endswith("is not a time.")
