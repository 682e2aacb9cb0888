"""Times that were dates are dates again, in their zone, and the same stream comes back from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sdgad.events.read import read_events
from sdgad.events.stream import EventStream

RNG = np.random.default_rng(0)
COUNT = 60


def moments(
    unit: str, start: str = "2026-03-28 12:00", zone: str | None = "Europe/Berlin"
) -> pd.DatetimeIndex:
    """Over a change of the clocks."""
    gaps = pd.to_timedelta(np.sort(RNG.integers(0, 2 * 86400 * 10**9, COUNT)), unit="ns")
    return pd.DatetimeIndex(pd.Timestamp(start, tz="UTC") + gaps).floor(unit).tz_convert(zone)


def frame(when: object) -> pd.DataFrame:
    return pd.DataFrame({"src": RNG.integers(0, 5, COUNT), "dst": RNG.integers(5, 9, COUNT), "t": when})


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("start", ["2026-03-28 12:00", "1969-12-30 12:00", "2090-10-30 00:00"])
def test_pandas_gets_the_dates_that_it_gave(unit: str, start: str) -> None:
    given = frame(moments(unit, start))
    events = read_events(given)
    back = events.to_pandas()
    assert str(back["t"].dt.tz) == "Europe/Berlin"
    assert (back["t"] == given["t"]).all()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_same_stream_comes_back_from_every_table(unit: str) -> None:
    events = read_events(frame(moments(unit)))
    for table in (events.to_pandas(), events.to_polars(), events.to_arrow()):
        again = read_events(table)
        assert np.array_equal(again.t, events.t)
        assert again.clock == events.clock
        assert np.array_equal(again.src, events.src)


def test_local_times_and_text_come_back_with_their_zone() -> None:
    naive = moments("s").tz_localize(None)
    for when in (naive, naive.strftime("%Y-%m-%dT%H:%M:%S")):
        events = read_events(frame(when), timezone="Europe/Berlin")
        back = events.to_pandas()
        assert str(back["t"].dt.tz) == "Europe/Berlin"
        again = read_events(back)
        assert np.array_equal(again.t, events.t)
        assert again.clock == events.clock


def test_a_stream_of_datetime64_and_its_parts_keep_them() -> None:
    when = moments("ms", zone="UTC").tz_localize(None).to_numpy()
    events = EventStream(np.arange(COUNT) % 5, np.arange(COUNT) % 7, when)
    part = events[10:20].to_pandas()["t"].dt.tz_localize(None)
    assert np.array_equal(part.to_numpy().astype(when.dtype), when[10:20])


@pytest.mark.parametrize(
    "t", [np.arange(COUNT), 1.7e9 + np.arange(COUNT) / 4, 1_700_000_000_000 + np.arange(COUNT)]
)
def test_numbers_stay_numbers(t: np.ndarray) -> None:
    for events in (EventStream([1] * COUNT, [2] * COUNT, t), read_events(frame(t))):
        assert np.array_equal(events.to_pandas()["t"].to_numpy(), t)


def test_times_that_no_calendar_holds_stay_numbers() -> None:
    events = read_events(frame(moments("s")))
    far = events.with_rows(
        src=events.src, dst=events.dst, t=events.t * 1e6, msg=None, label=events.label, anomaly_type=None
    )
    assert np.array_equal(far.to_pandas()["t"].to_numpy(), far.t)
