"""Tails: p-values are shares of the sample, and go on smoothly beyond it."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.explaining.tails import Tails


def test_the_p_value_of_a_flag_is_its_share() -> None:
    flag = np.zeros((999, 1))
    flag[:37] = 1
    np.testing.assert_allclose(
        np.exp(-Tails.fit(flag)(np.array([[1.0], [0.0]])))[:, 0], [0.037, 0.999], rtol=1e-5
    )


@pytest.mark.parametrize("size", [4, 50, 4096])
def test_nats_never_fall_and_rise_beyond_the_sample(size: int) -> None:
    draw = np.random.default_rng(size)
    tails = Tails.fit(draw.exponential(size=(size, 2)))
    nats = tails(np.repeat(np.linspace(-1, 40, 500)[:, None], 2, 1))
    assert (np.diff(nats, axis=0) >= 0).all()
    assert (np.diff(nats[-100:], axis=0) > 0).all()


def test_p_values_are_true_where_there_are_events_to_tell() -> None:
    draw = np.random.default_rng(0)
    tails = Tails.fit(draw.normal(size=(4096, 1)))
    p = np.exp(-tails(draw.normal(size=(20_000, 1))))[:, 0]
    for share in (0.5, 0.1, 0.01):
        assert np.mean(p <= share) == pytest.approx(share, rel=0.25)


def test_arrays_bring_it_back() -> None:
    tails = Tails.fit(np.random.default_rng(0).normal(size=(100, 3)))
    x = np.random.default_rng(1).normal(size=(10, 3)) * 4
    np.testing.assert_array_equal(Tails.from_arrays(tails.arrays())(x), tails(x))
