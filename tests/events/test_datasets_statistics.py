"""Figures of a stream: as the paper prints them where it does, as counted by hand elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdgad.events.clock import Clock
from sdgad.events.datasets.dataset import Figures, datasets
from sdgad.events.datasets.loading import load_dataset
from sdgad.events.datasets.statistics import compare, describe
from sdgad.events.stream import EventStream

from .published import shared


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("wikipedia", (9_227, 157_474, 18_257, 152_757)),
        ("mooc", (7_144, 411_749, 178_443, 345_600)),
        ("enron", (184, 125_235, 3_125, 22_632)),
        ("uci", (1_899, 59_835, 20_296, 58_911)),
    ],
)
def test_streams_have_the_figures_of_the_paper(name: str, counts: tuple[int, ...]) -> None:
    found = describe(load_dataset(name, data=shared(name)))
    assert (found.nodes, found.events, found.pairs, found.times) == counts
    figures = datasets.get(name).figures
    different = [each.name for each in compare(found, figures) if each.equal is False]
    assert different == (["features"] if name == "wikipedia" else [])  # our copy of it has none


@pytest.mark.parametrize(
    ("name", "overall", "by_part"),
    [("wikipedia", "0.14", ("0.14", "0.15", "0.13")), ("mooc", "0.99", ("1.14", "0.86", "0.90"))],
)
def test_anomaly_ratios_are_those_of_the_paper(name: str, overall: str, by_part: tuple[str, ...]) -> None:
    found = describe(load_dataset(name, data=shared(name)))
    assert found.anomaly_ratio is not None
    assert f"{100 * found.anomaly_ratio:.2f}" == overall
    assert tuple(f"{100 * (ratio or 0):.2f}" for ratio in found.anomaly_ratio_by_part) == by_part


def test_darpa_counts_minutes() -> None:
    found = describe(load_dataset("darpa", data=shared("darpa")))
    assert found.granularity == 60
    assert all(each.equal is not False for each in compare(found, datasets.get("darpa").figures))


def test_a_stream_counted_by_hand() -> None:
    events = EventStream(
        ["a", "a", "b", "a", "c"], ["b", "b", "a", "b", "c"], [0, 10, 10, 10, 25], label=[0, 1, np.nan, 0, 1]
    )
    found = describe(events)
    assert (found.nodes, found.events, found.pairs, found.times, found.features) == (3, 5, 3, 3, 0)
    assert (found.labelled, found.anomalies, found.anomaly_ratio) == (4, 2, 0.5)
    assert found.anomaly_ratio_by_part == (0.5, None, 0.5)
    assert found.density == 3 / 9
    assert found.repeated == pytest.approx(2 / 5)
    assert found.tied == pytest.approx(3 / 5)
    assert (found.granularity, found.span) == (5.0, 25.0)


def test_sources_and_destinations_apart_have_their_own_density() -> None:
    events = EventStream([0, 0, 1], [0, 1, 0], [0.0, 1.0, 2.0], bipartite=True)
    assert describe(events).density == 3 / 4


def test_a_part_has_the_figures_of_its_own_events() -> None:
    events = EventStream([0, 1, 2, 3], [4, 5, 6, 7], np.arange(4.0))
    found = describe(events[1:3])
    assert (found.nodes, found.events, found.density) == (4, 2, 2 / 16)


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_any_events_are_no_error(count: int) -> None:
    found = describe(EventStream(np.arange(count), np.arange(count), np.arange(float(count)) + 5))
    assert (found.events, found.times, found.granularity, found.span) == (count, count, None, 0.0)
    assert found.anomaly_ratio is None


@pytest.mark.parametrize(
    ("t", "unit", "step"),
    [
        (np.array([5, 65, 185]), "s", 60.0),
        (np.array([0, 250, 1_000]), "ms", 0.25),
        (np.array([0.0, 0.02, 0.05]), "s", 0.01),
        (1.7e9 + np.array([0.0, 0.5, 2.0]), "s", 0.5),
        (np.array([0.0, 1 / 3, np.pi]), "s", None),
        (np.array([0.0, 2.0, 6.0]), "min", 120.0),
    ],
)
def test_the_time_step_is_in_seconds(t: np.ndarray, unit: str, step: float | None) -> None:
    found = describe(EventStream([0] * 3, [1] * 3, t, clock=Clock(unit)))
    assert found.granularity == (None if step is None else pytest.approx(step))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40))
def test_counts_are_those_of_sets(rows: list[tuple[int, int, int]]) -> None:
    src, dst, t = (list(column) for column in zip(*rows, strict=True))
    found = describe(EventStream(src, dst, np.array(t)))
    assert found.nodes == len({*src, *dst})
    assert found.pairs == len(set(zip(src, dst, strict=True)))
    assert found.times == len(set(t))
    assert found.tied == pytest.approx(sum(t.count(each) > 1 for each in t) / len(t))


def test_shares_are_rounded_as_they_were_printed() -> None:
    events = EventStream([0] * 1000, [1] * 1000, np.arange(1000.0), label=np.arange(1000) == 0)
    stated = Figures(2, 1000, 1, 1000, 0, anomalies="0.1", anomalies_by_part=("0.250", "0.0", "0.1"))
    equal = {each.name: each.equal for each in compare(describe(events), stated)}
    assert equal["anomalies"]
    assert equal["anomalies in train"]
    assert equal["anomalies in validation"]
    assert not equal["anomalies in test"]
    assert all(each.equal is None for each in compare(describe(events), None))
