"""Dropout keeps the mean, and pairs masks only where it is asked to."""

from __future__ import annotations

import pytest
import torch

from sdgad.encoders.dropout import Dropout, paired_dropout, without_dropout


def test_entries_are_dropped_or_scaled_so_that_the_mean_stays() -> None:
    torch.manual_seed(0)
    y = Dropout(0.25)(torch.ones(400, 100))
    assert y.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert y.mean().item() == pytest.approx(1, abs=0.02)


def test_halves_share_a_mask_inside_the_context_only() -> None:
    torch.manual_seed(0)
    layer, x = Dropout(0.5), torch.ones(20, 3, 5)
    with paired_dropout():
        first, second = layer(x).chunk(2)
    assert torch.equal(first, second)
    assert not torch.equal(*layer(x).chunk(2))
    assert not torch.equal(*first.chunk(2))


def test_nothing_is_dropped_in_evaluation() -> None:
    x = torch.randn(4, 3)
    assert Dropout(0.9).eval()(x) is x


def test_nothing_is_dropped_where_something_is_kept_for_later() -> None:
    layer, x = Dropout(0.9), torch.randn(4, 3)
    with without_dropout():
        assert layer(x) is x
    assert not torch.equal(layer(x), x)


def test_a_batch_that_cannot_be_halved_is_an_error() -> None:
    with paired_dropout(), pytest.raises(RuntimeError):
        Dropout(0.5)(torch.ones(3, 2))
