"""Every cue on streams that are small enough to count by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sdgad.events.clock import Clock
from sdgad.events.stream import Array, EventStream
from sdgad.experiments import cues
from sdgad.experiments.cues import CUES

#                 time:  1    1    1    2    2    3
TIED = EventStream(
    src=["a", "a", "b", "a", "c", "d"], dst=["x", "x", "x", "y", "y", "z"], t=[1, 1, 1, 2, 2, 3]
)


def of(cue: Callable[[EventStream], Array], t: object, **clock: str) -> list[float]:
    times = np.asarray(t)
    return list(
        cue(EventStream(np.zeros(len(times), int), np.ones(len(times), int), times, clock=Clock(**clock)))
    )  # type: ignore[arg-type]


# ---------------------------------------------------------------------- the time as a numeral
def test_decimals_are_those_that_the_number_is_written_with() -> None:
    assert of(cues.decimals, [0.0, 2.0, 2.5, 2.75, 3.001]) == [0, 0, 1, 2, 3]
    assert of(cues.decimals, [1_700_000_000.123457, 1_700_000_000.25]) == [6, 2]
    assert of(cues.decimals, [0.1, 1 / 3]) == [1, 10]
    assert of(cues.decimals, [1, 2, 3]) == [0, 0, 0]


def test_roundness_is_the_largest_step_that_divides_the_time() -> None:
    found = of(cues.roundness, [7.25, 7.5, 11, 20, 120, 700, 1800, 86_400 * 7])
    assert_allclose(found, np.log10([0.01, 0.1, 1, 10, 60, 100, 1800, 86_400]))
    assert of(cues.roundness, [7, 20, 120, 86_400]) == of(cues.roundness, [7.0, 20.0, 120.0, 86_400.0])


def test_roundness_knows_the_unit() -> None:
    milliseconds = of(cues.roundness, [7, 1000, 60_000, 3_600_000], unit="ms")
    assert_allclose(milliseconds, np.log10([1, 1000, 60_000, 3_600_000]))
    assert_allclose(of(cues.roundness, [7, 60, 1440], unit="min"), np.log10([1, 60, 1440]))


def test_a_coarse_clock_is_seen_whatever_its_zero() -> None:
    minutes = 17 + 60 * np.arange(9)
    assert_allclose(of(cues.second_of_the_minute, [*minutes, 600]), [0.9] * 9 + [0.1])
    assert_allclose(
        of(cues.second_of_the_minute, [*(0.1 + 60.0 * 4 ** np.arange(9)), 1e9]), [0.9] * 9 + [0.1]
    )
    assert_allclose(of(cues.second_of_the_minute, [*(1000 * minutes), 600_000], unit="ms"), [0.9] * 9 + [0.1])


def test_hours_are_busy_by_the_times_within_an_hour_of_them() -> None:
    t = [0, 0, 1800, 3600, 3601, 20_000]  # rows of one time count once
    assert of(cues.busy_hours, t) == [3, 3, 4, 4, 3, 1]
    assert of(cues.busy_hours, np.array(t) * 1000, unit="ms") == [3, 3, 4, 4, 3, 1]
    assert of(cues.busy_hours, np.array(t) / 60, unit="min") == [3, 3, 4, 4, 3, 1]
    assert of(cues.busy_hours, np.array([0, 1, 2, 5]), unit="d") == [1, 1, 1, 1]
    nanoseconds = 1_700_000_000_000_000_000 + np.array(t) * 10**9
    assert of(cues.busy_hours, nanoseconds, unit="ns") == [3, 3, 4, 4, 3, 1]


# ---------------------------------------------------------------------- rows that agree, and their order
def test_rows_that_agree_are_counted() -> None:
    assert_array_equal(cues.crowding(TIED), [2, 2, 2, 1, 1, 0])
    assert_array_equal(cues.same_source_and_time(TIED), [1, 1, 0, 0, 0, 0])
    assert_array_equal(cues.same_destination_and_time(TIED), [2, 2, 2, 1, 1, 0])
    assert_array_equal(cues.duplicates(TIED), [1, 1, 0, 0, 0, 0])


def test_places_run_from_first_to_last_and_are_in_the_middle_alone() -> None:
    assert_array_equal(cues.place_among_ties(TIED), [0, 0.5, 1, 0, 1, 0.5])
    assert_array_equal(cues.place_among_ties_of_the_source(TIED), [0, 1, 0.5, 0.5, 0.5, 0.5])
    assert_array_equal(cues.place_among_ties_of_the_destination(TIED), [0, 0.5, 1, 0, 1, 0.5])


def test_rows_of_one_source_need_not_be_neighbours() -> None:
    events = EventStream([1, 2, 1, 2, 1], [3, 3, 4, 4, 5], [0] * 5)
    assert_array_equal(cues.place_among_ties_of_the_source(events), [0, 0, 0.5, 1, 1])
    assert_array_equal(cues.same_source_and_time(events), [2, 1, 2, 1, 2])


def test_places_follow_the_stream_however_many_rows_tie() -> None:
    events = EventStream(np.arange(3000) % 3, np.arange(3000), np.zeros(3000))
    assert_allclose(cues.place_among_ties_of_the_source(events), np.repeat(np.arange(1000) / 999, 3))


def test_rows_that_break_the_order_of_a_time_are_seen_with_their_neighbours() -> None:
    events = EventStream([1, 2, 2, 3, 1, 5, 4], [9, 7, 8, 9, 9, 9, 9], [0, 0, 0, 0, 0, 1, 2])
    assert_array_equal(cues.out_of_order(events), [0, 0, 0, 1, 1, 0, 0])
    events = EventStream([2, 2, 2], [7, 6, 5], [0, 0, 0])
    assert_array_equal(cues.out_of_order(events), [1, 2, 1])


def test_rows_apart_from_their_like_are_seen() -> None:
    #                     a    a    b    a    c    c    d    c
    events = EventStream([1, 1, 2, 1, 3, 3, 4, 3], [5, 6, 5, 5, 5, 6, 5, 5], [0, 0, 0, 0, 1, 1, 1, 2])
    # the first and the fourth row are copies; the fourth has no row of its source beside it
    assert_array_equal(cues.apart_from_its_like(events), [1, 0, 0, 2, 0, 0, 0, 0])


def test_rows_that_were_appended_stand_late_in_the_file() -> None:
    sorted_file = EventStream([1] * 4, [2] * 4, [0, 1, 2, 3])
    assert_array_equal(cues.place_in_the_file(sorted_file), 0)
    appended = EventStream([1] * 4, [2] * 4, [0, 2, 3, 1])  # the last row belongs second
    assert_array_equal(cues.place_in_the_file(appended), [0, 2, -1, -1])
    assert_array_equal(cues.place_in_the_file(sorted_file[2:]), 0)


# ---------------------------------------------------------------------- features
def test_a_missing_value_equals_a_missing_value() -> None:
    nan = np.nan
    msg = [[1.0, nan], [1.0, nan], [nan, 5.0], [0.0, 6.0], [-0.0, 7.0], [1.0, 7.0]]
    events = EventStream([1] * 6, [2] * 6, [0, 0, 1, 2, 3, 4], msg)
    assert_array_equal(cues.values_never_seen(events), [0, 0, 2, 1, 0, 0])
    assert_array_equal(cues.copied_features(events), [1, 1, 0, 0, 0, 0])
    assert_array_equal(cues.full_duplicates(events), [1, 1, 0, 0, 0, 0])


def test_a_duplicate_with_other_features_is_no_full_duplicate() -> None:
    events = EventStream([1, 1], [2, 2], [0, 0], [[1.0], [2.0]])
    assert_array_equal(cues.duplicates(events), 1)
    assert_array_equal(cues.full_duplicates(events), 0)


def test_cues_of_features_need_features() -> None:
    named = {cue.name for cue in CUES if not cue.applies_to(TIED)}
    assert named == {"duplicates with features", "values never seen", "copied features"}


# ---------------------------------------------------------------------- ids
def test_a_node_is_known_by_its_role_at_another_time() -> None:
    assert_array_equal(cues.source_never_seen(TIED), [0, 0, 1, 0, 1, 1])
    # x is a destination three times, all at one time: copies do not make it known
    assert_array_equal(cues.destination_never_seen(TIED), 1)
    reversed_roles = EventStream(["a", "b", "b"], ["b", "c", "c"], [1, 2, 3])
    assert_array_equal(cues.source_never_seen(reversed_roles), [1, 0, 0])
    assert_array_equal(cues.destination_never_seen(reversed_roles), [1, 0, 0])


# ---------------------------------------------------------------------- all of them
def random_stream(seed: int, rename: Callable[[Array], Array] = lambda ids: ids) -> EventStream:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 8, (2, 300))
    return EventStream(
        rename(src), rename(dst), np.sort(rng.integers(0, 120, 300)), rng.integers(0, 5, (300, 2))
    )


def test_a_row_that_breaks_the_order_of_its_time_is_told() -> None:
    events = EventStream([1, 3, 2, 9, 1], [7, 7, 7, 7, 7], [0, 0, 0, 0, 5])
    assert_array_equal(cues.out_of_order(events), [0, 1, 1, 0, 0])


def test_a_row_apart_from_rows_of_its_source_and_time_is_told() -> None:
    events = EventStream([1, 1, 2, 1, 1], [7, 8, 7, 7, 7], [0, 0, 0, 0, 5])
    assert_array_equal(cues.apart_from_its_like(events), [1, 0, 0, 2, 0])


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_renaming_ids_changes_no_cue(cue: cues.Cue) -> None:
    values = cue.measure(random_stream(0))
    assert values.dtype == np.float64
    assert values.shape == (300,)
    sign = 1 if cue.measure is cues.out_of_order else -1  # the one cue that is about the order of ids
    assert_array_equal(values, cue.measure(random_stream(0, lambda ids: 1000 + sign * 7 * ids)))


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_a_cue_can_do_with_no_row_and_with_one(cue: cues.Cue) -> None:
    events = EventStream([1], [2], [0.5], [[1.0]])
    assert np.isfinite(cue.measure(events)).all()
    assert cue.measure(events[:0]).shape == (0,)


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_a_cue_says_what_it_is(cue: cues.Cue) -> None:
    assert cue.measure.__doc__
    assert cue.higher != cue.lower
    assert [other.name for other in CUES].count(cue.name) == 1
