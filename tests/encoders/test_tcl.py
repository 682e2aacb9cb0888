"""TCL equals a slow reading of its definition, one event at a time and without masks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from sdgad.encoders import EncoderConfig
from sdgad.encoders.tcl import TCL
from sdgad.history.window import Window

MakeWindow = Callable[..., Window]


def stream(encoder: TCL, window: Window, row: int, endpoint: int, include_event: bool) -> Tensor:
    """Self token, existing past events and, if included, the current one: `[1, T, w]`, all visible."""
    tokens = [encoder.tokens.self_token() + encoder.depth.weight[0]]
    events = encoder.tokens(window)[row, endpoint]
    history = window.mask.shape[2]
    for slot in range(history):
        if window.mask[row, endpoint, slot]:
            tokens.append(events[slot] + encoder.depth.weight[slot + 1])
    if include_event:
        tokens.append(events[history] + encoder.depth.weight[history + 1])
    return torch.stack(tokens)[None]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("include_event", [True, False])
def test_streams_attend_to_themselves_and_then_simultaneously_to_each_other(
    layers: int, include_event: bool, make_window: MakeWindow
) -> None:
    torch.manual_seed(0)
    window = make_window(filled=0.6)
    encoder = TCL(window.shape, EncoderConfig(width=16, layers=layers)).eval()
    z_src, z_dst = encoder.encode(window, include_event)
    for row in range(len(window)):
        u, v = (stream(encoder, window, row, endpoint, include_event) for endpoint in (0, 1))
        for block in encoder.blocks:
            u, v = (block(x, x, torch.ones(1, x.shape[1], dtype=torch.bool)) for x in (u, v))
            u, v = (block(x, y, torch.ones(1, y.shape[1], dtype=torch.bool)) for x, y in ((u, v), (v, u)))
        torch.testing.assert_close(z_src[row], encoder.out(u[0, 0]), atol=1e-5, rtol=0)
        torch.testing.assert_close(z_dst[row], encoder.out(v[0, 0]), atol=1e-5, rtol=0)


def test_the_source_vector_sees_the_history_of_the_destination(make_window: MakeWindow) -> None:
    window = make_window(filled=1.0)
    encoder = TCL(window.shape, EncoderConfig()).eval()
    before = encoder.encode(window, False)[0]
    window.past_msg[:, 1] += 1
    assert ((encoder.encode(window, False)[0] - before).abs().amax(-1) > 1e-4).all()
