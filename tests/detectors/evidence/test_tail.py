"""Any number as nats: −log p among normals, without ties, and with the size of an extreme."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.sdgad.evidence.tail import Tail

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "draw", [RNG.normal, RNG.exponential, RNG.standard_cauchy], ids=["normal", "exp", "cauchy"]
)
def test_so_many_normals_have_so_many_nats(draw: object) -> None:
    tail = Tail.fit(draw(size=20_000))  # type: ignore[operator]
    nats = tail(draw(size=200_000))  # type: ignore[operator]
    for share in (0.5, 0.1, 0.01, 0.001):
        assert np.mean(nats >= -np.log(share)) == pytest.approx(share, rel=0.35)


def test_nats_rise_strictly_from_far_below_all_normals_to_far_beyond() -> None:
    normal = RNG.normal(size=5_000)
    number = np.concatenate([np.linspace(-50, 50, 20_001), normal])
    nats = Tail.fit(normal)(np.sort(np.unique(number)))
    assert (np.diff(nats) > 0).all()


def test_twice_as_far_beyond_is_twice_as_many_nats_as_long_as_that_is_credible() -> None:
    tail = Tail.fit(RNG.exponential(size=10_000))
    end = tail.value[-1]
    one, two = tail(end + np.array([2.0, 4.0])) - tail(np.array([end]))
    assert two == pytest.approx(2 * one)
    assert one == pytest.approx(2, rel=0.3)  # of an exponential: a nat per unit


def test_no_number_claims_a_chance_that_so_many_normals_cannot_know_of() -> None:
    tail = Tail.fit(RNG.exponential(size=10_000))
    assert tail(np.array([1e4]))[0] < np.log(10_000) + 20


@pytest.mark.parametrize("normal", [np.zeros(30), np.arange(2.0), np.array([3.0]), np.repeat([0.0, 1.0], 50)])
def test_few_normals_and_equal_ones_have_a_tail(normal: np.ndarray) -> None:
    tail = Tail.fit(normal)
    nats = tail(np.array([-5.0, normal.min(), normal.max(), normal.max() + 1e-3, 1e6]))
    assert np.isfinite(nats).all()
    assert (np.diff(nats) >= 0).all()
    assert nats[0] < nats[1]
    assert nats[2] < nats[3] < nats[4]


def test_arrays_give_the_same_tail_back() -> None:
    tail = Tail.fit(RNG.normal(size=500))
    number = RNG.normal(size=100) * 5
    np.testing.assert_array_equal(Tail.from_arrays(tail.arrays())(number), tail(number))
