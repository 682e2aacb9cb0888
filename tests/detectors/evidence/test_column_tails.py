"""Every number of a row as nats in its column: what `Tail` says of one column, for many at once."""

from __future__ import annotations

import numpy as np
import pytest

from sdgad.detectors.sdgad.evidence.column_tails import ColumnTails
from sdgad.detectors.sdgad.evidence.tail import Tail

RNG = np.random.default_rng(0)
NORMAL = np.stack([RNG.exponential(size=5_000), np.abs(RNG.standard_cauchy(5_000))], 1).astype(np.float32)


def test_each_column_has_the_tail_that_it_has_alone() -> None:
    rows = np.concatenate([NORMAL[:500] * 1.01, NORMAL.max(0, keepdims=True) * 3])
    found = ColumnTails.fit(NORMAL)(rows)
    for column in range(2):
        alone = Tail.fit(NORMAL[:, column])
        inside = rows[:, column] >= alone.value[0]
        np.testing.assert_allclose(found[inside, column], alone(rows[inside, column]), rtol=1e-6, atol=1e-9)


def test_of_equal_numbers_the_most_frequent_counts_and_what_lies_beyond_is_told() -> None:
    """A feature that most events have at its habit: no deviation is no evidence."""
    sparse = np.where(np.arange(1000) % 100 == 0, 1.0, 0.0).astype(np.float32)[:, None]
    nothing, some, more = ColumnTails.fit(sparse)(np.array([[0.0], [1.0], [2.0]], np.float32))[:, 0]
    assert nothing == pytest.approx(0, abs=0.01)
    assert some == pytest.approx(np.log(100), abs=0.2)
    assert more > some


def test_a_column_that_never_varies_has_a_tail() -> None:
    found = ColumnTails.fit(np.zeros((30, 1), np.float32))(np.array([[0.0], [1e30]], np.float32))
    assert np.isfinite(found).all()
    assert found[1, 0] > found[0, 0]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("value", np.zeros((3, 64))),
        ("value", np.full((2, 64), np.nan)),
        ("nats", -np.arange(64.0)),
        ("slope", np.array([1.0, -1.0])),
        ("other", np.zeros(1)),
    ],
)
def test_what_is_no_table_of_tails_does_not_load(name: str, wrong: np.ndarray) -> None:
    arrays = ColumnTails.fit(NORMAL).arrays()
    ColumnTails.from_arrays(arrays, 2)
    with pytest.raises(ValueError, match=r"array|described"):
        ColumnTails.from_arrays({**arrays, name: wrong}, 2)
