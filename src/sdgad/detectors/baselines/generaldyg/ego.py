"""The causal ego-graph of an event: who is in it, and the newest event of every pair among them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.encoders.tokens import visible_events
from sdgad.history.window import Window

THE_EVENT, OF_AN_ENDPOINT, AMONG_NEIGHBOURS = 0, 1, 2  # roles of an edge
ROLES = 3


@dataclass(frozen=True)
class EgoGraph:
    """Of each event up to E edges, newest first: the event itself, the endpoints' events, events between their neighbours.

    Nodes are places: 0 the source, 1 the destination, 2 + i the other node of past event i (the source's, then the
    destination's). A node that has several is at the first of them. Of a pair the newest event stands for all.
    """

    ends: Tensor  # [B, E, 2] int64, places of both ends
    role: Tensor  # [B, E] int64
    gap: Tensor  # [B, E] float32
    msg: Tensor  # [B, E, d]
    context: Tensor  # [B, E, C]
    real: Tensor  # [B, E] bool, whether there is such an edge
    nodes: int

    @staticmethod
    def of(window: Window, edges: int, include_event: bool | Tensor) -> EgoGraph:
        """Nothing is asked of the device: all events of a Window are lined up, and the places of those that count are summed."""
        hop = window.hop
        assert hop is not None
        count, history = len(window), window.mask.shape[2]
        who = torch.cat([window.node, window.past_node.flatten(1)], 1)
        there = torch.cat([torch.ones_like(window.node, dtype=torch.bool), window.mask.flatten(1)], 1)
        nodes = who.shape[1]
        place = _place(who, who, there)
        begin, end = place[:, :2], place[:, 2:]

        def lined_up(now: Tensor, past: Tensor, then: Tensor) -> Tensor:
            """The event, the endpoints' past events, those of the neighbours."""
            return torch.cat([now[:, None], past.flatten(1, 2), then.flatten(1, 3)], 1)

        of_endpoint = begin[:, :, None].expand(-1, -1, history)
        of_neighbour = end.view(count, 2, history)[..., None].expand_as(hop.node)
        hop_other = _place(hop.node.flatten(1), who, there).view_as(hop.node)
        first = lined_up(begin[:, 0], of_endpoint, of_neighbour)
        second = lined_up(begin[:, 1], end.view(count, 2, history), hop_other)
        happened = lined_up(
            visible_events(window, include_event)[:, 0, -1], window.mask, hop.mask & (hop_other < nodes)
        )
        gap = lined_up(window.past_gap.new_zeros(count), window.past_gap, hop.gap)
        chosen, real = _newest_of_pairs(first, second, happened, gap, nodes, edges)

        def taken(values: Tensor) -> Tensor:
            at = chosen.view(*chosen.shape, *[1] * (values.ndim - 2)).expand(-1, -1, *values.shape[2:])
            return values.gather(1, at)

        ends = torch.stack([taken(first), taken(second)], -1)
        touches = (ends[..., None] == begin[:, None, None]).flatten(2).any(2)
        role = AMONG_NEIGHBOURS - touches.long()
        return EgoGraph(
            ends=ends,
            role=role.masked_fill(chosen == 0, THE_EVENT),
            gap=taken(gap),
            msg=taken(lined_up(window.msg, window.past_msg, hop.msg)),
            context=taken(lined_up(window.context, window.past_context, hop.context)),
            real=real,
            nodes=nodes,
        )

    def incidence(self) -> Tensor:
        """T `[B, N, E]`: 1 where a node is an end of an edge."""
        places = torch.arange(self.nodes, device=self.ends.device)[:, None]
        touched = (self.ends[:, None] == places[..., None]).any(-1) & self.real[:, None]
        return touched.to(self.gap.dtype)


def _place(node: Tensor, who: Tensor, there: Tensor) -> Tensor:
    """The first place of each node, `[B, Q]`; N where it has none."""
    nodes = who.shape[1]
    places = torch.arange(nodes, device=who.device, dtype=torch.int32)
    here = (node[:, :, None] == who[:, None]) & there[:, None]
    return torch.where(here, places, nodes).amin(2).long()


def _newest_of_pairs(
    first: Tensor, second: Tensor, happened: Tensor, gap: Tensor, nodes: int, edges: int
) -> tuple[Tensor, Tensor]:
    """The newest event of each pair, `[B, E]` numbers in the line, newest first, and whether there are so many.

    Of events of one time the first in line is the newest: the event itself, which is first of all, stays first.
    """
    order = gap.masked_fill(~happened, torch.inf).argsort(dim=1, stable=True)
    pair = torch.minimum(first, second) * (nodes + 1) + torch.maximum(first, second)
    pair = pair.masked_fill(~happened, (nodes + 1) ** 2 - 1).gather(1, order)
    rank = torch.arange(order.shape[1], device=order.device).expand_as(order)
    best = rank.new_full((len(order), (nodes + 1) ** 2), order.shape[1])
    best = best.scatter_reduce(1, pair, rank, "amin")
    counts = (best.gather(1, pair) == rank) & happened.gather(1, order)
    number = counts.cumsum(1)
    at = torch.where(
        counts & (number <= edges), number - 1, edges
    )  # what does not count goes behind the last
    chosen = order.new_zeros(len(order), edges + 1).scatter(1, at, order)[:, :edges]
    real = torch.arange(edges, device=order.device) < number[:, -1:]
    return chosen, real
