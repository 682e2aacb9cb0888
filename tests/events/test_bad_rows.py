"""Bad rows are refused, or set aside as if they had never been there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sdgad
from sdgad.errors import BadRows, InputError
from sdgad.events.clock import Clock
from sdgad.events.read import read_events
from sdgad.events.stream import EventStream
from sdgad.events.write import write_table

BASE = 1_767_225_600
COUNT = 60
RNG = np.random.default_rng(0)
GAPS = np.cumsum(RNG.integers(1, 5000, COUNT))


def table(t: Any, **other: Any) -> pa.Table:
    count = len(t)
    columns = {
        "src": [f"u{i % 7}" for i in range(count)],
        "dst": [f"v{i % 5}" for i in range(count)],
        "t": t,
        "f0": np.arange(count) / 7,
    }
    return pa.table(columns | other)


def put_in(values: pa.Array, place: int, absurd: Any) -> pa.Array:
    return pa.concat_arrays([values[:place], pa.array([absurd], values.type), values[place:]])


def equal(a: EventStream, b: EventStream) -> None:
    assert a.t.dtype == b.t.dtype
    assert a.clock == b.clock
    for name in ("t", "src", "dst", "msg"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.vocabulary.names[0].equals(b.vocabulary.names[0])


def times(unit: str) -> pa.Array:
    return pa.array((BASE + GAPS) * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit])


INTEGERS = [-(2**63), 2**63 - 1, 0, -1, 10**18]
CASES: list[tuple[pa.Array, Any]] = [
    *((times(unit), absurd) for unit in ("s", "ms", "us", "ns") for absurd in INTEGERS),
    *((times("s"), absurd) for absurd in (4_070_908_800, 46_027, 20_260_105, BASE * 1000, 10**12)),
    *((times("s").cast(pa.uint64()), absurd) for absurd in (2**63, 2**64 - 1, 0)),
    *(
        (times("s").cast(pa.float64()), absurd)
        for absurd in (np.inf, -np.inf, np.nan, None, 1e300, -1e19, 46_027.5, 0.0)
    ),
    *((times("s").cast(pa.string()), absurd) for absurd in ("", "noon", "2026-01-05", "inf", "1e300", "0", "-9" * 20)),
    *((times("ns").cast(pa.string()), absurd) for absurd in ("18446744073709551615", "1e300", "0.5", "", "x")),
    *(
        (times("s").cast(pa.timestamp("s")).cast(pa.string()), absurd)
        for absurd in ("", "noon", "1970-01-01", "9999-12-31", "2026-13-01", "2026-02-30 00:00:00", "20260105", "0")
    ),
    *((times("s").cast(pa.timestamp("s")), absurd) for absurd in (0, 2**62, 253_370_764_800, None)),
    *((times("ns").cast(pa.timestamp("ns", "UTC")), absurd) for absurd in (-(2**63), 2**63 - 1, 0)),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CASES)))
def test_one_bad_row_is_refused_or_leaves_no_trace(case: int, caplog: pytest.LogCaptureFixture) -> None:
    good, absurd = CASES[case]
    without = read_events(table(good))
    place = int(np.random.default_rng(case).integers(0, COUNT + 1))
    rows = {name: _spread(table(good)[name], place) for name in ("dst", "f0")}
    rows["src"] = _spread(table(good)["src"], place, "somebody")
    spoiled = table(put_in(good, place, absurd), **rows)
    with pytest.raises(InputError, match=rf"column 't', row {place + 1}: "):
        read_events(spoiled)
    caplog.clear()
    read = read_events(spoiled, bad_rows="skip")
    equal(read, without)
    assert read.row.tolist() == [*range(place), *range(place + 1, COUNT + 1)]
    assert f"set aside 1 of {COUNT + 1} rows: row {place + 1} (column 't'" in caplog.text
    assert "is the unit right?" not in caplog.text


def _spread(column: pa.ChunkedArray, place: int, filler: Any = None) -> list[Any]:
    values = column.to_pylist()
    return [*values[:place], values[0] if filler is None else filler, *values[place:]]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_bad_rows_of_every_kind_are_set_aside_from_files(
    suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = table(times("s")).to_pylist()
    write_table(pa.Table.from_pylist(rows), tmp_path / f"good.{suffix}")
    bad = {
        3: {"t": None}, 11: {"src": None}, 12: {"src": ""}, 20: {"dst": ""}, 33: {"t": 0}, 41: {"f0": 1e300},
        50: {"t": 4_070_908_800}, 60: {"t": -(2**63)},
    }  # fmt: skip
    for place, change in bad.items():
        rows.insert(place, {**rows[place - 1], **change})
    write_table(pa.Table.from_pylist(rows), tmp_path / f"bad.{suffix}")
    with pytest.raises(BadRows):
        read_events(tmp_path / f"bad.{suffix}", features=["f0"])
    caplog.clear()
    read = read_events(tmp_path / f"bad.{suffix}", features=["f0"], bad_rows="skip")
    equal(read, read_events(tmp_path / f"good.{suffix}", features=["f0"]))
    assert sorted(set(range(len(rows))) - set(read.row.tolist())) == sorted(bad)
    assert f"set aside {len(bad)} of {len(rows)} rows" in caplog.text


def test_the_rows_are_counted_and_the_first_are_named() -> None:
    spoiled = np.r_[times("s").to_numpy(), [0] * 6]
    with pytest.raises(BadRows) as caught:
        read_events(table(spoiled))
    assert "row 61: 0 (1970-01-01 00:00:00) is too far from the other rows, 2026-01-01" in str(caught.value)
    assert str(caught.value).endswith("(and so rows 62, 63, 64, 65, 66).")
    assert caught.value.rows == [60, 61, 62, 63, 64, 65]


def test_a_file_of_bad_rows_alone_is_refused_also_where_they_are_to_be_skipped() -> None:
    with pytest.raises(InputError, match="no row that can be used: rows 1, 2, 3"):
        read_events(table(["noon"] * 3), bad_rows="skip")
    with pytest.raises(InputError, match=r"bad_rows='drop' is not one of error, skip, keep"):
        read_events(table([1, 2]), bad_rows="drop")  # type: ignore[arg-type]


def test_other_errors_name_rows_as_the_file_has_them() -> None:
    label = ["0"] * COUNT
    label[40] = "2"
    spoiled = table(put_in(times("s")[:-1], 7, 0), label=label)
    with pytest.raises(InputError, match="column 'label', row 41: label '2'"):
        read_events(spoiled, bad_rows="skip")


def test_absurd_times_may_be_kept_and_unusable_ones_may_not() -> None:
    kept = read_events(table(put_in(times("s"), 0, 0)), bad_rows="keep")
    assert len(kept) == COUNT + 1
    with pytest.raises(InputError, match="row 1: "):
        read_events(table(put_in(times("s"), 0, -(2**63))), bad_rows="keep")


def test_a_history_is_counted_in_the_clock_of_the_model() -> None:
    clock, one = Clock("ms", wall_clock=True), table(np.array([4_070_908_800]))
    history = (1000.0 * BASE, 1000.0 * BASE + 1e9)
    with pytest.raises(
        InputError, match=r"row 1: 4070908800 .* is too far from the model's history, 2026-01-01"
    ):
        read_events(one, clock=clock, history=history)
    assert len(read_events(table(np.array([BASE + 10])), clock=clock, history=history)) == 1
    assert len(read_events(table(["2026-02-01"]), clock=clock, history=history)) == 1


# ---------------------------------------------------------------------- streams of arrays
@pytest.mark.parametrize(
    "t",
    [
        np.array([5, -(2**63)]),
        np.array([5, 2**63], np.uint64),
        np.array([5, np.inf]),
        np.array([5.0, 1e300]),
        np.array([2**62 + 1, -(2**62), 2**62]),
        np.array(["2026-01-01", "NaT"], "datetime64[s]"),
        np.array([BASE, BASE + 1, 10**14]) * np.array([10**9, 10**9, 90_000]),
    ],
)
def test_a_stream_holds_only_times_that_a_clock_can_hold(t: Any) -> None:
    if t[-1] == 9 * 10**18:
        EventStream(["a"] * 3, ["b"] * 3, t)
        return
    with pytest.raises(InputError, match="Row"):
        EventStream(["a"] * len(t), ["b"] * len(t), t)


def test_one_absurd_time_does_not_change_the_clock_of_a_stream() -> None:
    for factor, unit in ((1, "s"), (10**3, "ms"), (10**9, "ns")):
        t = np.r_[0, (BASE + GAPS) * factor]
        assert EventStream(t % 7, t % 5, t).clock == Clock(unit, wall_clock=True)


def test_times_that_another_unit_cannot_count_are_refused() -> None:
    events = EventStream(["a"], ["b"], np.array([10**10]))
    with pytest.raises(InputError, match="reach further than ns can count"):
        events.times_in("ns")
    assert events.times_in("ms").tolist() == [10**13]


# ---------------------------------------------------------------------- numbers that are dates
DATED = ["20260105", "20260105", "20260228", "20260301"]


@pytest.mark.parametrize("kind", [str, int, float])
def test_digits_of_dates_are_dates(kind: type, caplog: pytest.LogCaptureFixture) -> None:
    events = read_events(table([kind(day) for day in DATED]))
    assert np.array_equal(
        events.t, read_events(table(["2026-01-05", "2026-01-05", "2026-02-28", "2026-03-01"])).t
    )
    assert events.clock == Clock("s", wall_clock=True)
    assert "read as dates" in caplog.text
    caplog.clear()
    assert np.array_equal(read_events(table([kind(DATED[0])]), clock=events.clock).t, events.t[:1])
    assert not caplog.records


def test_digits_of_a_date_and_a_time_of_day_are_read_in_the_zone_that_is_named() -> None:
    for digits in (202601050447, 20260105044700):
        events = read_events(table([digits]), timezone="Europe/Berlin")
        assert events.t[0] == datetime(2026, 1, 5, 3, 47, tzinfo=UTC).timestamp()


def test_digits_are_numbers_where_somebody_says_so() -> None:
    assert read_events(table([20260105]), time_unit="s").t.tolist() == [20260105]
    assert read_events(table([20260105]), clock=Clock()).t.tolist() == [20260105]
    counters = 20_260_100 + np.arange(200)  # of which some are dates by chance
    assert np.array_equal(read_events(table(counters)).t, counters)


@pytest.mark.parametrize("days", [[46027.5, 46028.25], [46027], ["46027.5"], [46027.5, 46027.75, 44565.0]])
def test_days_of_a_spreadsheet_are_refused(days: list[Any]) -> None:
    sentence = "row 1: '?46027.* looks like a day of a spreadsheet, 2026-01-05"
    for options in ({}, {"time_unit": "d"}, {"clock": Clock("ms", wall_clock=True)}, {"bad_rows": "skip"}):
        with pytest.raises(InputError, match=sentence):
            read_events(table(days), **options)
    assert len(read_events(table(days), time_unit="s")) == len(days)
    assert len(read_events(table(days), clock=Clock())) == len(days)
    from_zero = np.linspace(0, 60_000, 50)
    assert np.array_equal(read_events(table(from_zero)).t, from_zero)


# ---------------------------------------------------------------------- zones
def test_times_without_a_zone_among_zoned_ones_are_told(caplog: pytest.LogCaptureFixture) -> None:
    zoned = ["2026-01-05T04:47:00+01:00"] * 4
    read_events(table(zoned))
    read_events(table(["2026-01-05T04:47:00"] * 4))
    read_events(table([*zoned, "2026-01-05T04:47:00"]), timezone="Europe/Berlin")
    assert not caplog.records
    for odd in ("2026-01-05T04:47:00", "2026-01-05", "2026-01-05 04:47"):
        caplog.clear()
        read_events(table([*zoned[:2], odd, *zoned[:2]]))
        assert (
            "column 't': 1 of 5 times name no zone and are taken as UTC, while the others have one (row 3)"
            in caplog.text
        )


@pytest.mark.parametrize("first", [0, 1])
def test_datetimes_with_and_without_a_zone_are_told_apart(
    first: int, caplog: pytest.LogCaptureFixture
) -> None:
    moments = [datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 5)]
    moments = [moments[first], moments[1 - first]]
    columns: dict[str, Any] = {"src": [1, 2], "dst": [3, 4], "t": moments}
    for source in (columns, pd.DataFrame(columns | {"t": pd.Series(moments, dtype=object)})):
        caplog.clear()
        assert len(set(sdgad.read_events(source).t.tolist())) == 1
        assert (
            f"1 of 2 times name no zone and are taken as UTC, while the others have one (row {2 - first})"
            in caplog.text
        )
