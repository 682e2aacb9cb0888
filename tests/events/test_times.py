"""Times keep their value; dates and ISO-8601 text become epoch seconds."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.column import Column
from sdgad.events.read import read_events
from sdgad.events.times import read_times

NOON = datetime(2021, 3, 4, 12, 0, 0, tzinfo=UTC).timestamp()


def column(values: object) -> Column:
    return Column.of(pa.table({"when": values}), "when", "events.csv")


def seconds(*texts: str, **options: str) -> list[float]:
    t, clock = read_times(column(list(texts)), **options)
    assert t.dtype == np.float64
    assert (clock.unit, clock.wall_clock) == ("s", True)
    return list(t)


@pytest.mark.parametrize(
    "text",
    [
        "2021-03-04T12:00:00",
        "2021-03-04 12:00:00",
        "2021-03-04T12:00",
        "2021-03-04T12:00:00Z",
        "2021-03-04 12:00:00z",
        "2021-03-04 12:00:00 UTC",
        "2021-03-04T12:00:00.000",
        "2021-03-04T12:00:00.000000000Z",
        "2021-03-04T14:00:00+02:00",
        "2021-03-04T14:00:00+0200",
        "2021-03-04 14:00:00.0 +02:00",
        "2021-03-04T07:00:00-05",
        "  2021-03-04T12:00:00Z ",
    ],
)
def test_every_way_to_write_one_instant_is_the_same_second(text: str) -> None:
    assert seconds(text) == [NOON]


def test_zones_fractions_and_dates_may_be_mixed_in_one_column() -> None:
    read = seconds("2021-03-04", "2021-03-04T12:00:00.5", "2021-03-04T14:00:00+02:00")
    assert read == [NOON - 43200, NOON + 0.5, NOON]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=8),
    st.integers(-12 * 60, 14 * 60),
)
def test_iso_text_agrees_with_python(moments: list[datetime], minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    aware = [moment.replace(tzinfo=zone) for moment in moments]
    expected = [(moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1) for moment in aware]
    assert np.allclose(seconds(*(moment.isoformat() for moment in aware)), expected, rtol=0, atol=1e-6)


def test_times_without_a_zone_are_local_times_of_the_zone_that_is_named() -> None:
    assert seconds("2021-07-01T14:00:00", timezone="Europe/Berlin") == seconds("2021-07-01T12:00:00Z")
    assert seconds("2021-07-01T14:00:00Z", timezone="Europe/Berlin") == seconds("2021-07-01T14:00:00Z")
    _, clock = read_times(column(["2021-07-01"]), timezone="Europe/Berlin")
    assert clock.timezone == "Europe/Berlin"


def test_an_hour_that_the_clock_skips_is_still_a_time() -> None:
    skipped, after = seconds("2020-03-29T02:30:00", "2020-03-29T03:00:00", timezone="Europe/Berlin")
    assert skipped == after


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_arrow_timestamps_of_every_unit_are_epoch_seconds(unit: str) -> None:
    t, clock = read_times(column(pa.array([int(NOON)], pa.timestamp("s")).cast(pa.timestamp(unit))))
    assert t.tolist() == [NOON]
    assert clock == Clock("s", wall_clock=True)


def test_arrow_dates_and_zoned_timestamps_are_epoch_seconds() -> None:
    assert read_times(column([date(2021, 3, 4)]))[0].tolist() == [NOON - 43200]
    t, clock = read_times(column(pa.array([int(NOON)], pa.timestamp("s", "Asia/Tokyo"))))
    assert t.tolist() == [NOON]
    assert clock.timezone == "Asia/Tokyo"


@settings(max_examples=200)
@given(st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=9))
def test_integers_stay_the_same_integers(times: list[int]) -> None:
    for values in (pa.array(times, pa.int64()), [str(time) for time in times]):
        t, _ = read_times(column(values), clock=Clock())
        assert t.dtype == np.int64
        assert t.tolist() == times


@settings(max_examples=200)
@given(st.lists(st.floats(-(2.0**62), 2.0**62), min_size=1, max_size=9))
def test_floats_stay_the_same_floats(times: list[float]) -> None:
    for values in (times, [repr(time) for time in times]):
        t, _ = read_times(column(values), clock=Clock())
        assert t.dtype == np.float64
        assert t.tolist() == times


@pytest.mark.parametrize(("factor", "unit"), [(1, "s"), (10**3, "ms"), (10**6, "us"), (10**9, "ns")])
def test_numbers_that_look_like_epoch_times_are_a_wall_clock(factor: int, unit: str) -> None:
    _, clock = read_times(column([1_600_000_000 * factor, 1_500_000_000 * factor]))
    assert clock == Clock(unit, wall_clock=True)


def test_a_named_unit_outranks_the_guess() -> None:
    assert read_times(column([0, 5]), time_unit="min")[1] == Clock("min")
    assert read_times(column([1_600_000_000, 1_600_000_001]), time_unit="ms")[1] == Clock("ms")
    assert read_times(column([450_000.0]), time_unit="h")[1] == Clock("h", wall_clock=True)
    with pytest.raises(InputError, match="fortnight"):
        read_times(column([1]), time_unit="fortnight")


@pytest.mark.parametrize(("factor", "unit"), [(1, "s"), (10**3, "ms"), (10**6, "us"), (10**9, "ns")])
def test_an_expected_wall_clock_may_be_met_in_another_unit_and_it_is_said(
    factor: int, unit: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = Clock("s", wall_clock=True, timezone="Europe/Berlin")
    _, clock = read_times(column([1_600_000_000 * factor]), clock=expected)
    assert clock == Clock(unit, wall_clock=True, timezone="Europe/Berlin")
    assert len(caplog.messages) == (unit != "s")
    assert all(f"events.csv, column 'when': read as {unit}" in line for line in caplog.messages)


def test_an_expected_unit_holds_for_numbers_that_do_not_contradict_it() -> None:
    assert read_times(column([1_600_000_000]), clock=Clock("ms"))[1] == Clock("ms")
    assert read_times(column([5]), clock=Clock("ms", wall_clock=True))[1] == Clock("ms", wall_clock=True)
    milliseconds = column([1_600_000_000_000])
    assert read_times(milliseconds, time_unit="us", clock=Clock("s", wall_clock=True))[1] == Clock("us")


@pytest.mark.parametrize(
    ("values", "row", "text"),
    [
        (["2021-01-01", "2021-01-02", "yesterday"], 3, "'yesterday'"),
        (["2021-01-01T00:00:00Z", "2021-13-01T00:00:00Z"], 2, "'2021-13-01T00:00:00Z'"),
        (["1", "2", "3", "soon"], 4, "'soon'"),
        (["2021-01-01", ""], 2, "no time"),
        (["1", None], 2, "no time"),
        ([1.0, float("nan")], 2, "no time"),
        ([1.0, float("inf")], 2, "inf"),
        ([1, None], 2, "no time"),
        ([True, False], 1, "bool"),
    ],
)
def test_an_unreadable_time_is_named_by_file_column_row_and_text(
    values: list[object], row: int, text: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_times(column(values))
    message = str(caught.value)
    assert message.startswith(f"events.csv, column 'when', row {row}: ")
    assert text in message


def test_one_unreadable_time_is_found_among_many() -> None:
    texts = ["2021-01-01T00:00:00"] * 5000
    for place in (0, 1, 2500, 4999):
        wrong = [*texts[:place], "2021-01-01T99:00:00", *texts[place + 1 :]]
        with pytest.raises(InputError, match=f"row {place + 1}:"):
            read_times(column(wrong))


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(InputError, match="Mars/Olympus"):
        read_times(column(["2021-01-01"]), timezone="Mars/Olympus")
    with pytest.raises(InputError, match="no time zone 'Europe'"):
        Clock(timezone="Europe")


@pytest.mark.parametrize(
    ("values", "options"),
    [([1_767_000_000_000], {"time_unit": "s"}), (["9999-12-31"], {}), ([1, 1_767_000_000_000], {})],
)
def test_times_beyond_the_year_2100_are_told(
    values: list[object], options: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    read_times(column(values), **options)
    assert "is the unit right?" in caplog.text
    caplog.clear()
    read_times(column([1_767_000_000_000]), time_unit="ms")
    read_times(column(["2026-01-05", "2099-12-31"]))
    read_times(column([3, 900]))
    assert not caplog.records


WITH, WITHOUT = "2026-01-05T04:47:12+01:00", "2026-01-05T04:47:12"


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (WITH, WITHOUT, "no offset and are taken as UTC"),
        (WITHOUT, WITH, "fitted on times without"),
        (WITH, WITH, ""),
        (WITHOUT, WITHOUT, ""),
        (WITH, "2026-01-05 04:47 UTC", ""),
        (WITH, datetime(2026, 1, 5, tzinfo=UTC), ""),
        (WITH, datetime(2026, 1, 5), "no offset"),
        (WITH, 1_767_000_000, ""),
        (1_767_000_000, WITHOUT, ""),
    ],
)
def test_offsets_where_the_model_saw_none_are_told_and_the_other_way_round(
    before: object, now: object, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, clock = read_times(column([before]))
    read_times(column([now]), clock=clock)
    assert (told in caplog.text) if told else not caplog.records
    caplog.clear()
    _, named = read_times(column([before]), timezone="Europe/Berlin")
    read_times(column([now]), timezone="Europe/Berlin", clock=named)
    assert not caplog.records


def test_a_date_in_another_notation_is_answered_with_ours() -> None:
    with pytest.raises(InputError, match=r"'05\.01\.2026 01:12' is not a time; write 2026-01-05T04:47"):
        read_times(column(["05.01.2026 01:12"]))


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (["1", "2", "2026-01-05T04:47", "4"], "'2026-01-05T04:47' is a date, where other rows have numbers"),
        (["2026-01-05", "2026-01-06", "7", "2026-01-08"], "'7' is a number, where other rows have dates"),
    ],
)
def test_numbers_and_dates_in_one_column_are_said_to_be_that(times: list[str], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        read_events({"src": list("abab"), "dst": list("cdcd"), "t": times})
