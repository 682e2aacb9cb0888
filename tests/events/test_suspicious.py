"""Absurd times are told from honest ones by the bulk of a file and the history of a model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.events.clock import Clock
from sdgad.events.stream import Array
from sdgad.events.suspicious import bulk, far_from

WALL, TICKS = Clock("s", wall_clock=True), Clock()
DAY, YEAR = 86_400, 31_556_952
JANUARY = 1_767_225_600  # 2026
IN_1970, IN_2099, IN_9999 = 0, 4_070_908_800, 253_370_764_800


def outside(t: object, clock: Clock = WALL, history: tuple[float, float] | None = None) -> list[float]:
    times = np.asarray(t, np.float64)
    return np.sort(times[far_from(times, clock, history)]).tolist()


def minutes(count: int, start: int = JANUARY) -> Array:
    return start + 60 * np.arange(count)


@pytest.mark.parametrize("absurd", [[IN_1970], [IN_2099], [IN_9999], [IN_1970, IN_2099], [-5, 12, IN_9999]])
@pytest.mark.parametrize("count", [40, 600, 20_000])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_1970_and_2099_are_absurd_among_rows_of_2026(absurd: list[float], count: int, unit: str) -> None:
    factor = 1 / Clock(unit).seconds
    times = np.r_[minutes(count), absurd] * factor
    assert outside(times, Clock(unit, wall_clock=True)) == [t * factor for t in absurd]


@pytest.mark.parametrize("year", [1970, 2099])
def test_one_absurd_row_is_found_among_those_of_a_whole_year(year: int) -> None:
    times = np.linspace(JANUARY, JANUARY + YEAR, 5000)
    absurd = (year - 1970) * YEAR
    assert outside([*times, absurd]) == [absurd]


def test_before_1990_is_absurd_where_the_file_is_of_this_century_however_long_it_is() -> None:
    long = np.linspace(JANUARY - 8 * YEAR, JANUARY, 1000)
    assert outside([*long, IN_1970]) == [IN_1970]
    assert outside(np.linspace(-20 * YEAR, JANUARY, 1000)) == []  # an archive


@pytest.mark.parametrize("clock", [WALL, TICKS])
def test_a_file_of_one_moment_has_honest_neighbours_and_absurd_rows(clock: Clock) -> None:
    same = [float(JANUARY)] * 50
    assert outside(same, clock) == []
    assert outside([*same, JANUARY + 1, JANUARY - DAY], clock) == []
    assert outside([*same, IN_2099], clock) == [IN_2099]


def test_few_rows_have_no_bulk_and_only_a_model_says_what_is_absurd() -> None:
    few = [JANUARY, JANUARY + 60, IN_2099]
    assert outside(few) == []
    history = (JANUARY - YEAR, JANUARY)
    assert outside(few, history=history) == [IN_2099]
    assert outside([IN_2099], history=history) == [IN_2099]
    assert outside([IN_1970], history=history) == [IN_1970]
    assert outside([JANUARY + 15 * YEAR], history=history) == []


def test_silences_floods_and_late_rows_are_honest() -> None:
    rng = np.random.default_rng(0)
    pilot, flood = minutes(50, JANUARY - 300 * DAY), JANUARY + rng.random(20_000)
    assert outside([*pilot, *flood]) == []
    assert outside([*minutes(5, 0), *(9_000 + rng.random(3000))], TICKS) == []
    assert outside([*minutes(600), JANUARY - 500 * DAY]) == []


@pytest.mark.parametrize("span", [60, DAY, YEAR, 5 * YEAR])
@pytest.mark.parametrize("wait", [0, DAY, 40 * DAY, 3 * YEAR, 30 * YEAR])
@pytest.mark.parametrize("count", [12, 60, 3000])
def test_an_honest_file_is_no_worse_for_the_model_that_reads_it(span: int, wait: int, count: int) -> None:
    history = (JANUARY - 30 * YEAR - span, JANUARY - 30 * YEAR)
    tonight = minutes(count, int(history[1] + wait))
    assert outside(tonight, history=history) == []
    late = np.r_[tonight, history[0] + span / 2]
    assert outside(late, history=history) == []


def test_a_history_speaks_against_rows_that_a_small_file_alone_could_not_tell() -> None:
    history = (JANUARY - 90 * DAY, JANUARY)
    mixed = [*minutes(9), IN_2099, IN_2099 + 60, IN_2099 + 120]
    assert outside(mixed) == []
    assert outside(mixed, history=history) == sorted(mixed)[9:]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(0, 3e7), min_size=20, max_size=60),
    st.sampled_from([IN_1970, IN_2099, IN_9999, -(10**11)]),
)
def test_one_absurd_row_changes_nothing_about_the_others(offsets: list[float], absurd: float) -> None:
    times = JANUARY + np.array(offsets)
    assert outside(times) == []
    assert outside([*times, absurd]) == [absurd]


def test_the_bulk_of_sorted_times_is_one_slice() -> None:
    times = np.array([IN_1970, *minutes(30), IN_2099], float)
    assert bulk(times, WALL) == slice(1, 31)
    assert bulk(np.empty(0), WALL) == slice(0, 0)
    assert bulk(np.empty(0), WALL, (0.0, 1.0)) == slice(0, 0)
