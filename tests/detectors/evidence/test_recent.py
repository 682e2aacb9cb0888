"""What is usual follows the stream, and no attack becomes usual."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.sdgad.evidence.recent import BLOCK, REACH, YOUNG, Recent

RNG = np.random.default_rng(0)
VALIDATION = RNG.exponential(size=6000)


def at(count: int, start: float = 0.0) -> np.ndarray:
    return start + np.arange(count, dtype=float)


@pytest.fixture(scope="module")
def fitted() -> Recent:
    return Recent.start(VALIDATION).after(VALIDATION, at(6000))[1]


def share_above(measured: np.ndarray) -> float:
    return float((measured >= np.quantile(VALIDATION, 0.99)).mean())


@pytest.mark.parametrize("drift", [0.5, 1.0, 2.5])
def test_where_a_stream_drifts_as_many_events_stand_out_as_before(fitted: Recent, drift: float) -> None:
    nats = drift * RNG.exponential(size=20_000)
    measured, _ = fitted.after(nats, at(20_000, 6000.0))
    assert 0.005 < share_above(measured[2 * REACH :]) < 0.02


def test_a_lasting_attack_does_not_become_usual(fitted: Recent) -> None:
    nats = RNG.exponential(size=60_000)
    attack = RNG.random(60_000) < 0.5
    nats[attack] += 8.0
    measured, _ = fitted.after(nats, at(60_000, 6000.0))
    last = slice(40_000, None)
    assert share_above(measured[last][attack[last]]) > 0.99
    assert share_above(measured[last][~attack[last]]) < 0.02


def test_that_a_stream_has_changed_needs_two_witnesses(fitted: Recent) -> None:
    ordinary = np.sort(fitted.ordinary)
    top = slice(int(0.96 * len(ordinary)), None)
    wilder, calmer = ordinary.copy(), ordinary.copy()
    wilder[top] *= 1.5
    calmer[top] = np.maximum(calmer[top] / 1.5, ordinary[top.start])
    scale = fitted.ruler.scale
    assert scale(wilder) == pytest.approx(1.0, abs=0.02)
    assert scale(calmer) == pytest.approx(1.0, abs=0.02)
    assert scale(1.5 * ordinary) == pytest.approx(1 / 1.5, rel=0.02)
    assert scale(ordinary / 1.5) == pytest.approx(1.5, rel=0.02)


def test_a_folder_that_does_not_say_which_quantile_was_held_meant_the_80_percent_one(fitted: Recent) -> None:
    held = fitted.arrays()
    ordinary = VALIDATION[fitted.ruler.limit >= VALIDATION]
    middle, usual = np.quantile(ordinary, (0.8, 0.98))
    plain = np.array([middle, usual, *held["recent.plain"][2:4]])
    ruler = Recent.from_arrays({**held, "recent.plain": plain}).ruler
    assert ruler.scale(1.5 * ordinary) == pytest.approx(1 / 1.5, rel=1e-6)
    wilder = np.where(ordinary > np.quantile(ordinary, 0.9), 1.5 * ordinary, ordinary)
    assert ruler.scale(wilder) == pytest.approx(1.0, rel=1e-6)


def test_measures_depend_on_the_stream_and_not_on_how_it_is_cut(fitted: Recent) -> None:
    nats = np.linspace(1, 3, 3000) * RNG.exponential(size=3000)
    seconds = 6000.0 + np.arange(3000) // 7  # ties reach over the ends of blocks
    whole, after = fitted.after(nats, seconds)
    recent, parts = fitted, []
    for cut in np.array_split(np.arange(3000), 41):
        part, recent = recent.after(nats[cut], seconds[cut])
        parts.append(part)
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    for name, array in after.arrays().items():
        np.testing.assert_array_equal(recent.arrays()[name], array)
    scale = whole / nats
    for second in np.unique(seconds):
        assert np.ptp(scale[seconds == second]) < 1e-12  # those of one time are measured alike


def test_late_events_are_measured_as_those_of_their_time_and_change_nothing(fitted: Recent) -> None:
    nats = np.linspace(1, 3, 20 * BLOCK) * RNG.exponential(size=20 * BLOCK)
    seconds = at(20 * BLOCK, 6000.0)
    measured, after = fitted.after(nats, seconds)
    again, later = after.after(nats[:-1], seconds[:-1])
    np.testing.assert_array_equal(again, measured[:-1])
    for name, array in after.arrays().items():
        np.testing.assert_array_equal(later.arrays()[name], array)
    assert after.after(np.ones(1), np.array([-5.0]))[0][0] == 1.0  # before validation


def test_files_bring_back_what_is_recent_and_refuse_what_is_not(fitted: Recent) -> None:
    again = Recent.from_arrays(fitted.arrays())
    nats, seconds = RNG.exponential(size=1000), at(1000, 6000.0)
    np.testing.assert_array_equal(again.after(nats, seconds)[0], fitted.after(nats, seconds)[0])
    with pytest.raises(ValueError, match="scales"):
        Recent.from_arrays({**fitted.arrays(), "recent.scales": np.ones(1)})


# ---------------------------------------------------------------------- a fit on a few events
def young(count: int = 10) -> Recent:
    few = VALIDATION[:count]
    measured, recent = Recent.start(few).after_validation(few, at(count))
    assert np.array_equal(measured, few)
    return recent


def growing(count: int) -> np.ndarray:
    """Events after a fit on fifty: everything is more and more beyond what was learned from."""
    return RNG.exponential(size=count) * np.linspace(5.0, 200.0, count)


@pytest.mark.parametrize("count", [4, 10, 80])
def test_after_a_fit_on_few_events_not_everything_stands_out(count: int) -> None:
    recent, nats = young(count), growing(400)
    measured, _ = recent.after(nats, at(400, float(count)))
    assert (nats > VALIDATION[:count].max()).mean() > 0.8
    assert (measured > VALIDATION[:count].max()).mean() < 0.35


def test_whoever_has_seen_enough_is_as_before() -> None:
    assert not Recent.start(VALIDATION[:YOUNG]).ruler.young
    assert Recent.start(VALIDATION[: YOUNG - 1]).ruler.young


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_young_ruler_measures_alike_however_events_are_cut(size: int) -> None:
    nats, seconds = growing(150), np.repeat(at(75, 10.0), 2)
    whole, after = young().after(nats, seconds)
    recent, parts = young(), []
    for start in range(0, 150, size):
        measured, recent = recent.after(nats[start : start + size], seconds[start : start + size])
        parts.append(measured)
    assert np.array_equal(np.concatenate(parts), whole)
    for name, array in after.arrays().items():
        assert np.array_equal(recent.arrays()[name], array)


def test_a_young_ruler_survives_a_folder_and_older_folders_have_none() -> None:
    recent = young()
    assert Recent.from_arrays(recent.arrays()).ruler == recent.ruler
    before = {**recent.arrays(), "recent.plain": recent.arrays()["recent.plain"][:5]}
    assert not Recent.from_arrays(before).ruler.young


def test_what_a_young_ruler_shrank_many_times_comes_back_from_a_folder() -> None:
    nats = np.concatenate([np.ones(60), np.full(60, 50.0)])
    measured, recent = young().after(nats, at(120, 100.0))
    assert measured[-1] < 0.2 * nats[-1]
    again = Recent.from_arrays(recent.arrays())
    np.testing.assert_array_equal(again.scales, recent.scales)
