"""FreeDyG counts meetings, filters and weighs existing events only; one reading by hand, one slow reading of the definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from sdgad.encoders import encoders
from sdgad.encoders.cooccurrence import interaction_frequency
from sdgad.encoders.freedyg import FreeDyG, FreeDyGConfig
from sdgad.encoders.tokens import visible_events
from sdgad.history.window import NOBODY, Window

MakeWindow = Callable[..., Window]

U, V, A, B = 7, 8, 1, 2


def counts_of(window: Window, include_event: bool) -> list[list[list[float]]]:
    other = window.node.flip(1)
    nodes = torch.cat([window.past_node, other[..., None]], 2)
    found: list[list[list[float]]] = interaction_frequency(
        nodes, visible_events(window, include_event), other
    )[0].tolist()
    return found


@pytest.fixture
def meeting(make_window: MakeWindow) -> Window:
    """U met nobody, V, A, V; V met A, U, U, A."""
    past = torch.tensor([[[NOBODY, V, A, V], [A, U, U, A]]])
    window = make_window(count=1, history=4)
    return replace(window, node=torch.tensor([[U, V]]), past_node=past, mask=past >= 0)


def test_counts_of_a_small_meeting_by_hand(meeting: Window) -> None:
    """Own count, cross count. A stands once with U and twice with V. The direct count, 2 before and 3 with the event, stands
    on both sides, though V is nowhere in V's own list; the empty slot counts nothing, nor does the event that is left out."""
    nothing = [0, 0]
    assert counts_of(meeting, False) == [
        [nothing, [2, 2], [1, 2], [2, 2], nothing],
        [[2, 1], [2, 2], [2, 2], [2, 1], nothing],
    ]
    assert counts_of(meeting, True) == [
        [nothing, [3, 3], [1, 2], [3, 3], [3, 3]],
        [[2, 1], [3, 3], [3, 3], [2, 1], [3, 3]],
    ]


def test_nobody_is_not_counted(meeting: Window) -> None:
    """Two empty slots are not two meetings with the same node, whatever id lies in them, a real one among others."""
    empty = torch.full_like(meeting.past_node, NOBODY)
    assert (
        torch.tensor(counts_of(replace(meeting, past_node=empty, mask=empty >= 0), False)).flatten().tolist()
        == [0] * 20
    )
    littered = replace(meeting, past_node=meeting.past_node.masked_fill(~meeting.mask, V))
    assert counts_of(littered, True) == counts_of(meeting, True)


def test_the_event_adds_one_to_the_direct_count_and_to_nothing_else(make_window: MakeWindow) -> None:
    window = make_window(count=60, filled=0.8)
    loops = window.node[:, 0] == window.node[:, 1]
    assert loops.any()
    other = window.node.flip(1)
    with_event, without = (
        interaction_frequency(
            torch.cat([window.past_node, other[..., None]], 2), visible_events(window, include), other
        )[:, :, :-1]
        for include in (True, False)
    )
    direct = (window.past_node == other[..., None]) & window.mask
    rise = (with_event - without)[~loops]
    assert torch.equal(rise[..., 0], direct[~loops].float())
    # The counterpart's self-loops stand in its own list: its new entry there, of the asking node, is another node.
    met_self = (window.past_node == window.node[..., None]) & window.mask
    assert torch.equal(rise[..., 1], (direct | met_self)[~loops].float())


@pytest.mark.parametrize("include_event", [True, False])
@pytest.mark.parametrize("history", [4, 5])
def test_vectors_equal_a_slow_reading_of_the_definition(
    include_event: bool, history: int, make_window: MakeWindow
) -> None:
    torch.manual_seed(0)
    window = make_window(filled=0.6, history=history)
    encoder = FreeDyG(window.shape, FreeDyGConfig(width=12, layers=2, channel=6)).eval()
    events = encoder.tokens(window)
    z = torch.stack(encoder.encode(window, include_event), 1)
    for row in range(len(window)):
        ends = [int(node) for node in window.node[row]]
        slots = [
            [slot for slot in range(history) if window.mask[row, end, slot]] + [history] * include_event
            for end in (0, 1)
        ]
        ids = [
            [int(window.past_node[row, end, s]) if s < history else ends[1 - end] for s in slots[end]]
            for end in (0, 1)
        ]
        for end in (0, 1):
            x = torch.zeros(history + 1, 12)
            for slot, node in zip(slots[end], ids[end], strict=True):
                own = ids[end].count(node)
                cross = own if node == ends[1 - end] else ids[1 - end].count(node)
                codes = [encoder.count(torch.tensor([float(number)])) for number in (own, cross)]
                x[slot] = events[row, end, slot] + encoder.counted(codes[0] + codes[1])
            for spectral, block in zip(encoder.filters, encoder.blocks, strict=True):
                weights = torch.complex(*spectral.parts())
                g = x + torch.fft.irfft(torch.fft.rfft(x, dim=0) * weights, n=history + 1, dim=0)
                h, new = torch.zeros_like(x), torch.zeros_like(x)
                for slot in slots[end]:
                    h[slot] = block.norm_tokens(g[slot])
                hidden = F.gelu(F.linear(h.T, block.mix_tokens[0].weight, block.mix_tokens[0].bias))
                mixed = F.linear(hidden, block.mix_tokens[3].weight, block.mix_tokens[3].bias).T
                for slot in slots[end]:
                    y = x[slot] + mixed[slot]  # of x, not of what the filter made of it
                    new[slot] = y + block.mix_channels(block.norm_channels(y))
                x = new
            expected = sum((encoder.weigh(x[slot]) * x[slot] for slot in slots[end]), torch.zeros(12))
            torch.testing.assert_close(z[row, end], expected, atol=1e-5, rtol=1e-5)


def test_an_empty_history_without_the_event_is_zero(make_window: MakeWindow) -> None:
    window = make_window(filled=0.0)
    encoder = FreeDyG(window.shape, FreeDyGConfig()).eval()
    assert not torch.stack(encoder.encode(window, False)).any()


def test_who_met_whom_matters_and_nothing_else_of_the_counterpart(make_window: MakeWindow) -> None:
    window = make_window(filled=1.0)
    encoder = FreeDyG(window.shape, FreeDyGConfig()).eval()
    src, dst = encoder.encode(window, True)
    strangers = replace(window, past_node=window.past_node + 100)
    assert (encoder.encode(strangers, True)[0] - src).abs().max() > 1e-3
    window.past_msg[:, 1] += 1
    new_src, new_dst = encoder.encode(window, True)
    torch.testing.assert_close(new_src, src, atol=1e-6, rtol=0)
    assert not torch.allclose(new_dst, dst, atol=1e-3)


def test_the_published_sizes_are_the_published_ones() -> None:
    paper = encoders.get("freedyg").paper
    assert isinstance(paper, FreeDyGConfig)
    assert (paper.width, paper.time_width, paper.layers, paper.channel) == (172, 100, 2, 50)
    assert (paper.dropout, paper.train_time) == (0.1, False)
