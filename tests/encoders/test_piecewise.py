"""Piecewise-linear codes are monotone, bounded and whole for every kind of feature."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sdgad.encoders.piecewise import PiecewiseLinear
from sdgad.errors import InputError

numbers = st.lists(st.sampled_from([-2.0, 0.0, 0.0, 0.25, 1.0, 7.5]), min_size=1, max_size=40)


def test_bins_below_are_full_the_own_is_a_fraction_those_above_are_empty() -> None:
    layer = PiecewiseLinear(1, bins=4).fit(torch.linspace(0, 4, 401)[:, None])
    torch.testing.assert_close(layer.edges, torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0]]))
    torch.testing.assert_close(layer(torch.tensor([2.25])), torch.tensor([1.0, 1.0, 0.25, 0.0]))


def test_values_beyond_the_training_range_are_clipped() -> None:
    layer = PiecewiseLinear(1, bins=3).fit(torch.linspace(-1, 1, 100)[:, None])
    assert torch.equal(
        layer(torch.tensor([[-50.0], [50.0]])), torch.tensor([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    )


def test_features_keep_their_own_columns() -> None:
    values = torch.randn(500, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 10.0, 0.1])
    layer = PiecewiseLinear(3, bins=8).fit(values)
    code = layer(values.reshape(50, 10, 3))
    assert code.shape == (50, 10, 24) == (50, 10, layer.width)
    alone = PiecewiseLinear(1, bins=8).fit(values[:, 1:2])(values[:, 1:2])
    torch.testing.assert_close(code.reshape(500, 3, 8)[:, 1], alone)


def test_a_constant_tells_only_what_lies_above_it() -> None:
    layer = PiecewiseLinear(1, bins=5).fit(torch.full((30, 1), 2.0))
    code = layer(torch.tensor([[1.0], [2.0], [2.5]]))
    assert code.isfinite().all()
    assert code.sum(-1).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("ones", [1, 50, 99])
def test_a_binary_feature_is_told_apart(ones: int) -> None:
    values = (torch.arange(100) < ones).float()[:, None]
    zero, one = PiecewiseLinear(1, bins=16).fit(values)(torch.tensor([[0.0], [1.0]]))
    assert (zero == 0).all()
    assert one.sum() >= 1


def test_a_frequent_value_does_not_repeat_its_column() -> None:
    values = torch.cat([torch.zeros(900), torch.linspace(1, 2, 100)])[:, None]
    layer = PiecewiseLinear(1, bins=20).fit(values)
    assert (
        layer(torch.tensor([0.5])).gt(0).sum() == 2
    )  # a step at zero, and the way from zero to the next edge


@given(numbers, st.integers(1, 12))
def test_codes_are_finite_monotone_and_tell_training_values_apart_at_the_edges(
    values: list[float], bins: int
) -> None:
    column = torch.tensor(values)[:, None]
    layer = PiecewiseLinear(1, bins).fit(column)
    points = torch.linspace(-3, 9, 200)[:, None]
    code = layer(points)
    assert code.isfinite().all()
    assert ((code >= 0) & (code <= 1)).all()
    assert (code.diff(dim=0) >= 0).all()
    low, high = layer(column.min(0).values), layer(column.max(0).values)
    assert (high.sum() > low.sum()) == bool(column.max() > column.min())


def test_codes_have_finite_gradients() -> None:
    layer = PiecewiseLinear(1, bins=6).fit(torch.tensor([[0.0], [0.0], [0.0], [0.0], [1.0]]))
    x = torch.tensor([[-1.0], [0.0], [0.5], [3.0]], requires_grad=True)
    layer(x).sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_edges_travel_with_the_state_dict() -> None:
    fitted = PiecewiseLinear(2, bins=4).fit(torch.randn(99, 2, generator=torch.Generator().manual_seed(1)))
    fresh = PiecewiseLinear(2, bins=4)
    fresh.load_state_dict(fitted.state_dict())
    assert torch.equal(fresh.edges, fitted.edges)


def test_no_features_and_no_rows() -> None:
    assert PiecewiseLinear(0, bins=4)(torch.zeros(5, 0)).shape == (5, 0)
    with pytest.raises(InputError, match="at least one training row"):
        PiecewiseLinear(2).fit(torch.zeros(0, 2))
