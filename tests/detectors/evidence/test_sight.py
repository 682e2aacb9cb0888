"""What tells made-up events from real ones, and what follows for what it says."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.sdgad.evidence.sight import MOST, say_of_densities, sight, trust


def test_sight_is_twice_the_auroc_less_one_and_nothing_where_made_up_events_look_more_real() -> None:
    real = np.arange(10.0)
    assert sight(real, real + 100) == 1.0
    assert sight(real, real) == 0.0
    assert sight(real, real - 100) == 0.0
    assert sight(real, np.repeat([-1.0, 100.0], [1, 3])) == pytest.approx(0.5)
    assert sight(real, real[:0]) == 0.0


def test_a_contrast_that_sees_little_is_trusted_little() -> None:
    assert [trust(seen) for seen in (0.0, 0.7, 0.8, 1.0)] == [0.0, 1.0, 1.0, 1.0]
    assert trust(0.35) == pytest.approx(1 / 16)
    assert (np.diff([trust(seen) for seen in np.linspace(0.05, 0.7, 20)]) > 0).all()


def test_densities_say_less_where_a_contrast_sees_what_they_do_not() -> None:
    assert say_of_densities(0.9, [0.1, 0.9]) == MOST
    assert say_of_densities(0.9, [0.1, 0.4]) == pytest.approx(MOST * (4 / 9) ** 1.5)
    assert say_of_densities(0.9, []) == 0.0
    said = [say_of_densities(0.9, [seen]) for seen in np.linspace(0, 0.9, 20)]
    assert (np.diff(said) > 0).all()


def test_of_a_contrast_that_sees_nothing_nothing_follows() -> None:
    assert say_of_densities(0.0, [0.0]) == 1.0
    assert say_of_densities(0.2, [0.0]) == pytest.approx(1.0, abs=0.01)
