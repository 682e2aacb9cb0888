"""Times on the grid of the data, and as round as its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdgad.events.clock import Clock
from sdgad.events.injection import PRESETS, inject
from sdgad.events.injection.grid import Grid
from sdgad.events.stream import EventStream

from .small_streams import TIMES, small, types


@pytest.mark.parametrize(
    ("t", "step"),
    [
        ([0, 7, 21], 7),
        ([3, 10, 24], 7),
        ([-60, 0, 120], 60),
        ([0.0, 60.0, 180.0], 60),
        ([0.5, 1.0, 4.0], 0.5),
        ([1_700_000_000.001, 1_700_000_000.004], 0.003),
        ([1_700_000_000.123457, 1_700_000_001.123458], 1.000001),
        ([0.1, 0.2, 0.4], 0.1),
        ([1_700_000_000_000_000_001, 1_700_000_000_000_000_004], 3),
        ([1.7e18, 1.7e18 + 2048], 2048),
        ([0.0, np.pi, 9.0], None),
    ],
)
def test_the_step_is_what_all_times_have_in_common(t: list[float], step: float | None) -> None:
    grid = Grid.of(np.array(t), Clock())
    if step is None:
        assert not grid.steps
    else:
        assert grid.tick == pytest.approx(step)
        assert grid.steps[0] == pytest.approx(step * grid.scale)


@given(
    times=st.lists(st.integers(-(10**12), 10**12), min_size=2, max_size=20, unique=True),
    decimals=st.integers(0, 3),
    fraction=st.floats(0, 0.999),
)
def test_times_of_the_grid_stay_and_others_go_down_to_it(
    times: list[int], decimals: int, fraction: float
) -> None:
    times = sorted(times)
    t = np.array(times) if decimals == 0 else np.array(times) / 10**decimals
    grid = Grid.of(t, Clock())
    counted = grid.count(t)
    assert np.array_equal(grid.down(counted), counted)
    assert np.array_equal(grid.restored(counted, t), t)
    assert all(grid.near(x, 0) == x or grid.roundness(np.array([x]))[0] > 0 for x in counted.tolist())
    between = counted[0] + fraction * (counted[-1] - counted[0])
    below = float(grid.down(np.array([between]))[0])
    slack = 0.01 * grid.tick  # of what a float64 can tell
    assert below - slack <= between < below + grid.tick + slack
    assert (round(below * grid.scale) + grid.zero - grid.origin) % grid.steps[0] == 0


def test_times_near_a_time_are_as_round_as_they_should() -> None:
    for t, clock in (
        (np.array([0, 1, 86_400]), Clock()),
        (1_700_006_400_000_000_000 + np.array([0, 1, 86_400 * 10**9]), Clock("ns")),
        (np.array([0.0, 0.01, 600.0]), Clock()),
        (np.array([0, 1, 14_400]), Clock("min")),
    ):
        grid = Grid.of(t, clock)
        assert len(grid.steps) > 2
        for rung in range(len(grid.steps)):
            for wanted in np.random.default_rng(0).uniform(*grid.count(t)[[0, -1]], 50).tolist():
                near = grid.near(wanted, rung)
                assert grid.roundness(np.array([near])).tolist() == [rung]
                assert abs(near - wanted) <= 1.5 * grid.step(rung) + 1


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("times", TIMES)
def test_injected_times_are_written_as_real_ones_are(times: str, preset: str) -> None:
    events = small(times)
    found = inject(events, {"T": 0.5, "S": 0.3, "dormant": 0.2}, preset=preset)  # type: ignore[arg-type]
    before, after = Grid.of(events.t, events.clock), Grid.of(found.t, events.clock)
    assert (before.scale, before.origin, before.steps) == (after.scale, after.origin, after.steps)
    if times == "continuous":
        made = found.t[types(found) == "T"]
        assert (np.round(made, 6) != made).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_nanoseconds_since_1970_are_exact(preset: str) -> None:
    """A float64 would move them by up to 128 ns: off their grid, and off the times that they are to share."""
    rng = np.random.default_rng(0)
    base = 1_700_000_000_000_000_123
    t = base + 1000 * np.sort(rng.integers(0, 10**9, 150)).repeat(2)
    events = EventStream(rng.integers(0, 20, 300), rng.integers(0, 20, 300), t)
    assert events.clock == Clock("ns", wall_clock=True)
    found = inject(events, {"T": 0.3, "S": 0.3}, preset=preset)  # type: ignore[arg-type]
    assert found.t.dtype == np.int64
    assert ((found.t - base) % 1000 == 0).all()
    kind = "S" if preset == "paper" else "T"
    shared = np.isin(found.t[types(found) == kind], events.t)
    assert shared.all()
    whole = EventStream(events.src, events.dst, np.sort(base + rng.integers(0, 3 * 10**17, 300)))
    years = inject(whole, {"S": 0.3}, preset="paper")  # more nanoseconds than a float64 can count
    assert np.isin(years.t[types(years) == "S"], whole.t).all()
