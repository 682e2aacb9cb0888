"""GraphMixer mixes and averages existing events only, each endpoint for itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from sdgad.encoders import EncoderConfig
from sdgad.encoders.graphmixer import GraphMixer
from sdgad.history.window import Window

MakeWindow = Callable[..., Window]


@pytest.mark.parametrize("include_event", [True, False])
def test_vectors_equal_a_slow_reading_of_the_definition(include_event: bool, make_window: MakeWindow) -> None:
    torch.manual_seed(0)
    window = make_window(filled=0.6)
    encoder = GraphMixer(window.shape, EncoderConfig(width=12, layers=2)).eval()
    events = encoder.tokens(window)
    z = torch.stack(encoder.encode(window, include_event), 1)
    for row in range(len(window)):
        for endpoint in (0, 1):
            slots = [slot for slot in range(5) if window.mask[row, endpoint, slot]] + [5] * include_event
            x = {slot: events[row, endpoint, slot] for slot in slots}
            for block in encoder.blocks:
                grid = torch.zeros(6, 12)
                for slot in slots:
                    grid[slot] = block.norm_tokens(x[slot])
                hidden = F.gelu(F.linear(grid.T, block.mix_tokens[0].weight, block.mix_tokens[0].bias))
                mixed = F.linear(hidden, block.mix_tokens[3].weight, block.mix_tokens[3].bias).T
                x = {slot: x[slot] + mixed[slot] for slot in slots}
                x = {slot: y + block.mix_channels(block.norm_channels(y)) for slot, y in x.items()}
            codes = [encoder.norm(y) for y in x.values()]
            mean = torch.stack(codes).mean(0) if codes else torch.zeros(12)
            torch.testing.assert_close(z[row, endpoint], encoder.out(mean), atol=1e-5, rtol=0)


def test_endpoints_do_not_see_each_other(make_window: MakeWindow) -> None:
    window = make_window(filled=1.0)
    encoder = GraphMixer(window.shape, EncoderConfig()).eval()
    src, dst = encoder.encode(window, True)
    window.past_msg[:, 1] += 1
    new_src, new_dst = encoder.encode(window, True)
    torch.testing.assert_close(new_src, src, atol=1e-6, rtol=0)
    assert not torch.allclose(new_dst, dst, atol=1e-3)


def test_an_empty_history_without_the_event_is_the_learned_nothing(make_window: MakeWindow) -> None:
    window = make_window(filled=0.0)
    encoder = GraphMixer(window.shape, EncoderConfig()).eval()
    assert torch.equal(encoder.encode(window, False)[0], encoder.out.bias.expand(len(window), -1))
