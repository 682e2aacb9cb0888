"""Attention sees exactly the visible keys."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from sdgad.encoders.attention import MultiHeadAttention
from sdgad.errors import InputError


def naive(layer: MultiHeadAttention, x: Tensor, memory: Tensor, visible: Tensor) -> Tensor:
    """One query at a time, over a list of the keys that it may see."""
    out = torch.zeros_like(x)
    width = x.shape[-1]
    size = width // layer.heads
    for n in range(len(x)):
        kept = memory[n][visible[n]]
        if len(kept) == 0:
            continue
        key, value = layer.key_value(kept).split(width, -1)
        for q in range(x.shape[1]):
            query = layer.query(x[n, q])
            heads = []
            for h in range(layer.heads):
                part = slice(h * size, (h + 1) * size)
                weight = torch.softmax(key[:, part] @ query[part] / math.sqrt(size), 0)
                heads.append(weight @ value[:, part])
            out[n, q] = layer.out(torch.cat(heads))
    return out


def inputs(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    visible = torch.rand(6, 7, generator=g) < 0.5
    visible[2] = False
    return torch.randn(6, 4, 8, generator=g), torch.randn(6, 7, 8, generator=g), visible


def test_fused_and_explicit_attention_equal_a_loop_over_visible_keys() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 2, dropout=1e-9)
    x, memory, visible = inputs()
    expected = naive(layer, x, memory, visible)
    torch.testing.assert_close(layer.eval()(x, memory, visible), expected)
    torch.testing.assert_close(layer.train()(x, memory, visible), expected)


@pytest.mark.parametrize("training", [False, True])
def test_a_row_with_nothing_to_see_gives_zeros_and_finite_gradients(training: bool) -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 2, dropout=0.3).train(training)
    x, memory, visible = inputs()
    memory.requires_grad_()
    out = layer(x, memory, visible)
    assert (out[2] == 0).all()
    assert (out[0] != 0).any()
    out.sum().backward()
    assert memory.grad is not None
    assert memory.grad.isfinite().all()
    assert (memory.grad[~visible] == 0).all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in layer.parameters())


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(InputError, match="heads=3"):
        MultiHeadAttention(8, 3, dropout=0.0)


def test_a_key_that_is_there_so_often_is_as_many_equal_keys() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 2, dropout=1e-9)
    x, memory, _ = inputs()
    times = torch.randint(0, 4, (6, 7), generator=torch.Generator().manual_seed(1))
    times[2] = 0
    repeated, most = torch.zeros(6, 21, 8), torch.zeros(6, 21, dtype=torch.bool)
    for row in range(6):
        keys = memory[row].repeat_interleave(times[row], 0)
        repeated[row, : len(keys)], most[row, : len(keys)] = keys, True
    for training in (False, True):
        expected = layer.train(training)(x, repeated, most)
        torch.testing.assert_close(layer(x, memory, times.float()), expected)
