"""Random Windows, as a history would make them, with exactly the fields that an encoder needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sdgad.encoders.base import Encoder
from sdgad.history.memory import NodeMemory
from sdgad.history.needs import NONE, Needs
from sdgad.history.window import NOBODY, Hop, Memory, Window, WindowShape

NODES = 6  # few enough to meet again
REMEMBERED = 4  # of these, those that a memory was written about
NOW = 1e7  # seconds, later than all that was written


@dataclass(frozen=True)
class Sizes:
    """Of a random Window: a share `filled` of endpoints has a past, of 1 to `history` events; the same for second hops."""

    count: int = 7
    history: int = 5
    msg: int = 3
    context: int = 4
    filled: float = 0.7
    seed: int = 0

    @property
    def shape(self) -> WindowShape:
        return WindowShape(self.history, self.msg, self.context)


def random_window(sizes: Sizes, needs: Needs = NONE, *, nodes: int = NODES, start: float = NOW) -> Window:
    """Gaps from seconds to days; without memory, which `with_memory` puts in."""
    draw = torch.Generator().manual_seed(sizes.seed)
    count, history = sizes.count, sizes.history
    mask = _filled((count, 2), history, sizes.filled, draw)
    window = Window(
        node=torch.randint(0, nodes, (count, 2), generator=draw),
        msg=torch.randn(count, sizes.msg, generator=draw),
        context=torch.randn(count, sizes.context, generator=draw),
        past_node=torch.randint(0, nodes, mask.shape, generator=draw).masked_fill(~mask, NOBODY),
        past_gap=_gaps(mask, draw),
        past_msg=torch.randn(*mask.shape, sizes.msg, generator=draw) * mask[..., None],
        past_context=torch.randn(*mask.shape, sizes.context, generator=draw) * mask[..., None],
        mask=mask,
    )
    if needs.stamped:
        time = start + torch.arange(count, dtype=torch.float64)
        window = replace(window, time=time, event=1000 + torch.arange(count))
    return replace(window, hop=_second_hop(sizes, mask, needs.hop, nodes, draw)) if needs.hop else window


def with_memory(window: Window, encoder: Encoder, sizes: Sizes) -> Window:
    """The Window with what the encoder itself wrote about some of the nodes: first of nothing, then of what it had written."""
    device = window.node.device
    memory = NodeMemory(encoder.needs, encoder.commit, device)
    with torch.no_grad():
        for number in (1, 2):
            earlier = replace(sizes, count=8, seed=sizes.seed + 100 * number)
            block = random_window(earlier, encoder.needs, nodes=REMEMBERED, start=1000.0 * number)
            memory.commit(block.to(device))
    return memory.attach(window)


def memory_of_nobody(window: Window, needs: Needs) -> Memory:
    """What a Window holds before anything was written."""
    places = 1 + window.mask.shape[2] if needs.neighbours else 1
    known = torch.zeros(len(window), 2, places, dtype=torch.bool, device=window.node.device)
    row = torch.zeros(*known.shape, needs.memory, device=window.node.device)
    return Memory(row=row, age=torch.zeros_like(row[..., 0]) if needs.memory else known.float(), known=known)


def renamed(window: Window) -> Window:
    """The same among nodes of other numbers."""
    draw = torch.Generator().manual_seed(2)
    number = torch.randperm(1000, generator=draw).to(window.node.device)

    def other(node: Tensor) -> Tensor:
        return torch.where(node >= 0, number[node], NOBODY)

    hop = None if window.hop is None else replace(window.hop, node=other(window.hop.node))
    return replace(window, node=other(window.node), past_node=other(window.past_node), hop=hop)


def swapped(window: Window) -> Window:
    """The same with source and destination in each other's place."""
    ends = ("node", "past_node", "past_gap", "past_msg", "past_context", "mask")
    flipped = {name: getattr(window, name).flip(1) for name in ends}
    hop, memory = window.hop, window.memory
    if hop is not None:
        hop = Hop(hop.node.flip(1), hop.gap.flip(1), hop.msg.flip(1), hop.context.flip(1), hop.mask.flip(1))
    if memory is not None:
        memory = Memory(memory.row.flip(1), memory.age.flip(1), memory.known.flip(1))
    return replace(window, **flipped, hop=hop, memory=memory)


def littered(window: Window) -> Window:
    """The same with something lying in the empty slots of the past, of the second hop, and of past partners' memory."""
    empty = ~window.mask
    hop, memory = window.hop, window.memory
    if hop is not None:
        hop = replace(
            hop,
            node=hop.node.masked_fill(~hop.mask, 3),
            gap=hop.gap.masked_fill(~hop.mask, 77.0),
            msg=hop.msg.masked_fill(~hop.mask[..., None], 5.0),
            context=hop.context.masked_fill(~hop.mask[..., None], -5.0),
        )
    if memory is not None and memory.known.shape[2] > 1:
        nobody = torch.cat([torch.zeros_like(empty[:, :, :1]), empty], 2)
        memory = replace(memory, row=memory.row.masked_fill(nobody[..., None], 0.75))
    return replace(
        window,
        past_node=window.past_node.masked_fill(empty, 3),
        past_gap=window.past_gap.masked_fill(empty, 77.0),
        past_msg=window.past_msg.masked_fill(empty[..., None], 5.0),
        past_context=window.past_context.masked_fill(empty[..., None], -5.0),
        hop=hop,
        memory=memory,
    )


def _filled(ends: tuple[int, ...], length: int, share: float, draw: torch.Generator) -> Tensor:
    """Right-aligned masks `[…, length]`."""
    some = torch.rand(*ends, 1, generator=draw) < share
    lengths = some * torch.randint(1, length + 1, (*ends, 1), generator=draw)
    if share >= 1:
        lengths = torch.full_like(lengths, length)
    return torch.arange(length) >= length - lengths


def _gaps(mask: Tensor, draw: torch.Generator) -> Tensor:
    return (10 ** (6 * torch.rand(mask.shape, generator=draw))).sort(-1, descending=True).values * mask


def _second_hop(sizes: Sizes, past: Tensor, length: int, nodes: int, draw: torch.Generator) -> Hop:
    mask = _filled(tuple(past.shape), length, sizes.filled, draw) & past[..., None]
    return Hop(
        node=torch.randint(0, nodes, mask.shape, generator=draw).masked_fill(~mask, NOBODY),
        gap=_gaps(mask, draw),
        msg=torch.randn(*mask.shape, sizes.msg, generator=draw) * mask[..., None],
        context=torch.randn(*mask.shape, sizes.context, generator=draw) * mask[..., None],
        mask=mask,
    )
