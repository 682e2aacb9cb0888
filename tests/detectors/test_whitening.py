"""The start of the projection: a whitened cloud of norm 1, in which what drifts counts for less."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from sdgad.detectors.sdgad.whitening import BLOCKS, whitening

SIZES = [(500, 6, 6), (500, 6, 3), (500, 6, 15), (4, 12, 5), (3, 2, 8), (1, 3, 4)]


def correlated(rows: int, columns: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    mix = torch.randn(columns, columns, dtype=torch.float64, generator=generator)
    return torch.randn(rows, columns, dtype=torch.float64, generator=generator) @ mix * 20 + 100


def stationary(columns: int) -> Tensor:
    """The same stretch of time, ten times over: no drift at all, to the last bit of its means."""
    return correlated(300, columns).repeat(BLOCKS, 1)


def weights(matrix: Tensor) -> Tensor:
    """How much each column of the values is stretched."""
    return matrix.norm(dim=0)


@pytest.mark.parametrize(("rows", "columns", "width"), [size for size in SIZES if size[0] > 1])
def test_the_mean_square_norm_is_one_whether_narrowed_or_widened(rows: int, columns: int, width: int) -> None:
    torch.manual_seed(0)
    values = correlated(rows, columns)
    matrix = whitening(values, width)
    assert matrix.shape == (width, columns)
    assert matrix.dtype == torch.float32
    x = (values - values.mean(0)) @ matrix.double().T
    assert x.square().sum(1).mean().item() == pytest.approx(1, rel=1e-4)


def test_without_drift_the_covariance_becomes_a_multiple_of_the_identity() -> None:
    torch.manual_seed(0)
    values = stationary(6)
    before = values.T.cov()
    assert (before - before.diag().diag()).abs().max() > 100
    after = (values @ whitening(values, 6).double().T).T.cov(correction=0)
    torch.testing.assert_close(after, torch.eye(6, dtype=torch.float64) / 6, atol=1e-3, rtol=0)


def test_a_drifting_column_counts_less_than_a_stationary_one_of_the_same_variance() -> None:
    torch.manual_seed(0)
    trend = torch.linspace(-1.7, 1.7, 2000)
    shuffled = trend[torch.randperm(len(trend))]
    drifting, still = weights(whitening(torch.stack([trend, shuffled], 1), 2)).tolist()
    assert drifting < 0.4 * still  # 1 / √(1 + 10) where all of the variance is drift

    order = torch.randperm(len(trend))  # the same numbers in no order of time
    one, other = weights(whitening(torch.stack([trend, shuffled], 1)[order], 2)).tolist()
    assert one == pytest.approx(other, rel=0.1)


def test_widening_keeps_the_geometry_and_narrowing_is_a_part_of_it() -> None:
    """AᵀA says what norms A gives; a rotation into more dimensions leaves it as it is."""
    values = correlated(400, 5)
    square, wide, narrow = (whitening(values, width).double() for width in (5, 12, 2))
    torch.testing.assert_close(wide.T @ wide, square.T @ square, rtol=1e-4, atol=1e-8)
    assert torch.linalg.matrix_rank(narrow, rtol=1e-3) == 2


def test_constant_columns_change_nothing_for_the_others_and_stay_bounded() -> None:
    torch.manual_seed(0)
    values = stationary(3)
    constant = torch.cat([values, torch.full((len(values), 2), 7.0, dtype=torch.float64)], 1)
    plain, more = whitening(values, 5).double(), whitening(constant, 5).double()
    assert torch.isfinite(more).all()
    torch.testing.assert_close((more.T @ more)[:3, :3], plain.T @ plain, rtol=1e-3, atol=1e-8)
    # no direction is stretched more than tenfold: 1/√FLOOR = 10, over a scale of √3 for three whitened columns
    assert weights(more)[3:].tolist() == pytest.approx([10 / 3**0.5] * 2, rel=1e-3)


@pytest.mark.parametrize(("rows", "columns", "width"), SIZES)
def test_any_number_of_rows_gives_finite_numbers(rows: int, columns: int, width: int) -> None:
    assert torch.isfinite(whitening(correlated(rows, columns), width)).all()
    assert torch.isfinite(whitening(torch.ones(rows, columns), width)).all()


def test_where_the_values_lie_has_no_say() -> None:
    values = correlated(200, 4)
    one, other = whitening(values, 4), whitening(values + 1e4, 4)
    torch.testing.assert_close(one.T @ one, other.T @ other, rtol=1e-3, atol=1e-7)
