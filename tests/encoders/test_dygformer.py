"""DyGFormer counts, patches and masks as defined, against slow readings of the definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from sdgad.encoders.cooccurrence import cooccurrence
from sdgad.encoders.dygformer import DyGFormer, DyGFormerConfig
from sdgad.history.window import Window

MakeWindow = Callable[..., Window]


def test_counts_equal_counting_in_lists() -> None:
    g = torch.Generator().manual_seed(0)
    nodes = torch.randint(0, 4, (30, 2, 6), generator=g)
    visible = torch.rand(30, 2, 6, generator=g) < 0.6
    counts = cooccurrence(nodes, visible)
    for n in range(30):
        lists = [nodes[n, end][visible[n, end]].tolist() for end in (0, 1)]
        for end in (0, 1):
            for position in range(6):
                node = int(nodes[n, end, position])
                expected = [lists[end].count(node), lists[1 - end].count(node)]
                if not visible[n, end, position]:
                    expected = [0, 0]
                assert counts[n, end, position].tolist() == expected


def sequence(
    window: Window, row: int, end: int, include_event: bool
) -> list[tuple[int, Tensor, Tensor, Tensor]]:
    """(node, edge features, context, gap) of every position that exists, the self position first."""
    no_msg, no_context = torch.zeros_like(window.msg[0]), torch.zeros_like(window.context[0])
    positions = [(int(window.node[row, end]), no_msg, no_context, torch.tensor(0.0))]
    for slot in range(window.mask.shape[2]):
        if window.mask[row, end, slot]:
            at = (row, end, slot)
            positions.append(
                (int(window.past_node[at]), window.past_msg[at], window.past_context[at], window.past_gap[at])
            )
    if include_event:
        other = int(window.node[row, 1 - end])
        positions.append((other, window.msg[row], window.context[row], torch.tensor(0.0)))
    return positions


@pytest.mark.parametrize("include_event", [True, False])
def test_vectors_equal_a_slow_reading_of_the_definition(include_event: bool, make_window: MakeWindow) -> None:
    torch.manual_seed(0)
    window = make_window(filled=0.6)
    encoder = DyGFormer(window.shape, DyGFormerConfig(layers=2, channel=6)).eval()
    z = torch.stack(encoder.encode(window, include_event), 1)
    for row in range(len(window)):
        both = [sequence(window, row, end, include_event) for end in (0, 1)]
        ids = [[position[0] for position in positions] for positions in both]
        tokens = []
        for end in (0, 1):
            for node, msg, context, gap in both[end]:
                counts = [torch.tensor([float(ids[side].count(node))]) for side in (end, 1 - end)]
                channels = {
                    "edge": msg,
                    "context": context,
                    "time": encoder.clock(gap),
                    "count": encoder.count(counts[0]) + encoder.count(counts[1]),
                }
                tokens.append(torch.cat([encoder.project[name](x) for name, x in channels.items()]))
        x = torch.stack(tokens)[None]
        for block in encoder.blocks:
            x = block(x, torch.ones(1, x.shape[1], dtype=torch.bool))
        cut = len(both[0])
        expected = torch.stack([encoder.out(x[0, :cut].mean(0)), encoder.out(x[0, cut:].mean(0))])
        torch.testing.assert_close(z[row], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("patch", [2, 3, 4, 16])
@pytest.mark.parametrize("history", [1, 5, 6])
def test_patches_of_any_size_fit_any_history(patch: int, history: int, make_window: MakeWindow) -> None:
    window = make_window(history=history)
    encoder = DyGFormer(window.shape, DyGFormerConfig(patch=patch)).eval()
    with_event, without = encoder.both(window)
    assert torch.stack(with_event).isfinite().all()
    assert ((with_event[0] - without[0]).abs().amax(-1) > 1e-5).all()


def test_inside_a_patch_empty_slots_are_inert(make_window: MakeWindow) -> None:
    window = make_window(filled=0.5)
    empty = ~window.mask
    littered = replace(
        window,
        past_node=window.past_node.masked_fill(empty, 3),
        past_gap=window.past_gap.masked_fill(empty, 77.0),
        past_msg=window.past_msg.masked_fill(empty[..., None], 5.0),
    )
    encoder = DyGFormer(window.shape, DyGFormerConfig(patch=3)).eval()
    for include_event in (True, False):
        expected = encoder.encode(window, include_event)
        torch.testing.assert_close(encoder.encode(littered, include_event), expected, atol=1e-6, rtol=0)


def test_who_met_whom_matters(make_window: MakeWindow) -> None:
    window = make_window(filled=1.0)
    strangers = replace(window, past_node=window.past_node + 100)
    encoder = DyGFormer(window.shape, DyGFormerConfig()).eval()
    change = encoder.encode(window, True)[0] - encoder.encode(strangers, True)[0]
    assert change.abs().max() > 1e-3
