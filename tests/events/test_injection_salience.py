"""The dial: at 0 nobody can tell, and the higher it is, the easier it gets."""

from __future__ import annotations

import numpy as np
import pytest

import sdgad
from sdgad.events.injection import inject
from sdgad.events.injection.recipe import towards
from sdgad.events.joining import join
from sdgad.events.stream import EventStream

from .published import shared
from .small_streams import types


def told_the_recipe(events: EventStream, kind: str, salience: float, seed: int, rate: float = 0.03) -> float:
    """AUROC of boosting that was trained on labelled anomalies of this very recipe."""
    parts = events.with_columns(label=np.zeros(len(events))).split()
    injected = [
        inject(part, {kind: rate}, seed=3 * seed + i, salience=salience) for i, part in enumerate(parts)
    ]
    ends = np.cumsum([len(part) for part in injected])
    whole = join(injected)
    train, val, test = whole[: ends[0]], whole[ends[0] : ends[1]], whole[ends[1] :]
    detector = sdgad.make_detector("boosting", seed=0).fit(train, val=val)
    found = sdgad.evaluate(test.label, detector.decision_function(test), detector.threshold_)["auroc"]
    assert found is not None
    return float(found)


@pytest.mark.parametrize("kind", ["T", "S"])
def test_boosting_is_at_chance_at_0_and_better_the_higher_it_is(kind: str) -> None:
    events = sdgad.simulate_payments(8000, seed=0)
    chance, half, full = (told_the_recipe(events, kind, salience, 0) for salience in (0.0, 0.5, 1.0))
    assert chance == pytest.approx(0.5, abs=0.09)  # 95 anomalies: ± 0.03
    assert half > chance + 0.05
    assert full > half


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["T", "S", "burst", "dormant", "swapped", "group"])
def test_on_uci_too(kind: str) -> None:
    events = sdgad.read_events(shared("uci"))
    found = [
        np.mean([told_the_recipe(events, kind, salience, seed, 0.01) for seed in range(2)])
        for salience in (0.0, 0.5, 1.0)
    ]
    assert found[0] == pytest.approx(0.5, abs=0.05)
    assert found[0] < found[1] < found[2]
    assert found[2] > 0.85


def test_times_move_farther_the_higher_it_is() -> None:
    start, target = np.zeros(3), np.array([1e4, -1e4, 0.5])
    np.testing.assert_allclose(towards(start, target, 1.0, 1.0), target)
    np.testing.assert_allclose(towards(start, target, 0.5, 1.0), [100, -100, 0.5])
    np.testing.assert_allclose(towards(start, target, 0.5, 100.0), [1000, -1000, 0.5])


@pytest.mark.parametrize("kind", ["S", "TSC", "group", "swapped"])
def test_fewer_are_strangers_the_lower_it_is(kind: str) -> None:
    events = sdgad.simulate_payments(4000, seed=1)
    if kind == "swapped":
        events = EventStream(events.src % 97, events.dst % 89, events.t)
    known = set((events.src * events.num_nodes + events.dst).tolist())
    share = []
    for salience in (0.1, 0.5, 1.0):
        found = inject(events, {kind: 0.1}, salience=salience)
        chosen = types(found) == kind
        pair = found.src[chosen] * found.num_nodes + found.dst[chosen]
        share.append(np.mean([one not in known for one in pair.tolist()]))
    assert share[0] < share[1] - 0.1
    assert share[1] < share[2] - 0.1
    assert share[2] > 0.95


def test_each_kind_has_its_own_dial() -> None:
    events = sdgad.simulate_payments(2000, seed=1)
    found = inject(events, {"T": 0.05, "S": 0.05}, salience={"T": 0})
    benign = int((events.label != 1).sum())
    assert len(found) == len(events) + int(0.05 * benign)
    assert {kind: int((types(found) == kind).sum()) for kind in "TS"} == dict.fromkeys(
        "TS", int(0.05 * benign)
    )
