"""Numbers in words: short, in units that people know."""

from __future__ import annotations

import pytest

from sdgad.history import habit_words as words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (38.0, "38"),
        (3812.4, "3,812"),
        (1.784, "1.78"),
        (0.01239, "0.0124"),
        (-2.5, "-2.5"),
        (99.96, "100"),
        (2.5e7, "2.5e+07"),
    ],
)
def test_numbers_have_three_digits_or_all_of_a_whole_number(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (40.0, "40 s"),
        (61.0, "1 min"),
        (5400.0, "1.5 h"),
        (86_400.0, "1 day"),
        (1.9e6, "22 days"),
    ],
)
def test_spans_have_the_largest_unit_that_fits(seconds: float, text: str) -> None:
    assert words.span(seconds) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(4.1, "4.1 times"), (3.0, "3 times"), (38.4, "38 times"), (1e9, "over a million times")],
)
def test_ratios_are_rounded(ratio: float, text: str) -> None:
    assert words.times(ratio) == text


def test_amounts_that_are_not_positive_have_no_ratio() -> None:
    assert words.amount("balance", "payer", -5.0, 12.0) == "balance -5 where about 12 is usual for this payer"


def test_columns_that_say_nothing_are_called_source_and_destination() -> None:
    assert words.never_met(words.Ends.named("src", "dst")) == "destination never seen by this source"
    assert words.never_met(words.Ends.named("payer", "payee")) == "payee never seen by this payer"


def test_midnight_is_midnight() -> None:
    assert words.hour(23.9999) == "00:00"
    assert words.weekday(6.99) == "Sunday"


def test_what_somebody_has_most_often_is_not_set_against_itself() -> None:
    assert words.category("channel", "payee", "card", "transfer").endswith("usually has transfer")
    assert (
        words.category("channel", "payee", "card", "card") == "channel card, which this payee has most often"
    )
