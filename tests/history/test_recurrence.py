"""Decayed counts in blocks are what one step after another gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.history.recurrence import BLOCK, decayed_counts, linear_recurrence


def one_after_another(decay: np.ndarray, add: np.ndarray, start: np.ndarray) -> np.ndarray:
    starts, state, out = set(start.tolist()), 0.0, []
    for i, (factor, term) in enumerate(zip(decay.tolist(), add.tolist(), strict=True)):
        state = term if i in starts else factor * state + term
        out.append(state)
    return np.array(out)


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 511, 512, 513, 256 * 256, 256 * 256 + 1])
@pytest.mark.parametrize("decay", ["none", "slow", "fast", "any"])
def test_one_sequence_of_any_length(count: int, decay: str) -> None:
    rng = np.random.default_rng(count)
    low, high = {"none": (1.0, 1.0), "slow": (0.99, 1.0), "fast": (0.0, 1e-3), "any": (0.0, 1.0)}[decay]
    factor, add = rng.uniform(low, high, count), rng.uniform(0, 2, count)
    start = np.zeros(min(count, 1), np.int64)
    expected = one_after_another(factor, add, start)
    np.testing.assert_allclose(linear_recurrence(factor, add, start), expected, rtol=1e-12)


@settings(max_examples=200, deadline=None)
@given(
    lengths=st.lists(
        st.sampled_from([1, 2, 3, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3]), min_size=1, max_size=9
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_many_sequences_start_anew(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = np.cumsum([0, *lengths[:-1]])
    factor, add = rng.uniform(0.5, 1, sum(lengths)), rng.uniform(0, 2, sum(lengths))
    expected = one_after_another(factor, add, start)
    np.testing.assert_allclose(linear_recurrence(factor, add, start), expected, rtol=1e-12)


@settings(max_examples=200, deadline=None)
@given(
    before=st.integers(0, 2 * BLOCK),
    length=st.integers(1, 3 * BLOCK),
    later=st.integers(0, 2 * BLOCK),
    after=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_sequence_depends_on_nothing_but_its_own_past(
    before: int, length: int, later: int, after: int, seed: int
) -> None:
    """To the last bit: whatever stands beside it in the array, whatever is appended to it."""
    rng = np.random.default_rng(seed)
    total = before + length + later + after
    factor, add = rng.uniform(0.5, 1, total), rng.uniform(0, 2, total)
    start = np.unique([0, before, *([before + length + later] if after else [])])
    mine = slice(before, before + length)
    alone = linear_recurrence(factor[mine], add[mine], np.array([0]))
    np.testing.assert_array_equal(linear_recurrence(factor, add, start)[mine], alone)


def test_inputs_are_left_alone() -> None:
    factor, add = np.full(600, 0.5), np.ones(600)
    linear_recurrence(factor, add, np.array([0]))
    assert (factor == 0.5).all()
    assert (add == 1).all()


def test_a_count_decays_by_a_factor_e_per_scale() -> None:
    counts = decayed_counts(np.array([0.0, 10.0, 20.0]), np.array([0]), 10.0)
    assert counts.tolist() == pytest.approx([1, 1 + np.exp(-1), 1 + np.exp(-2) * (1 + np.exp(-1))])
