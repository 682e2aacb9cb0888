"""The temporal subgraph of an endpoint: which events are in it, and which node is at the end of which event."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from sdgad.encoders.tokens import visible_events
from sdgad.history.window import Window


@dataclass(frozen=True)
class Subgraph:
    """Of each endpoint x: T = L + 1 events of its own (L past, then the current one), and H of each one's other node.

    Its nodes are the T other nodes and, last, x itself. A node that is the other end of several events stands at several
    places; all of them see the same, as one node does.
    """

    msg: Tensor  # [B, 2, T, d] of its own events
    context: Tensor  # [B, 2, T, C]
    gap: Tensor  # [B, 2, T]
    seen: Tensor  # [B, 2, T] bool, whether the event is in the subgraph
    incident: Tensor  # [B, 2, T + 1, T] bool, whether a node is an end of x's event
    hop_msg: Tensor  # [B, 2, T, H, d] of the other nodes' events
    hop_context: Tensor  # [B, 2, T, H, C]
    hop_gap: Tensor  # [B, 2, T, H]
    hop_seen: Tensor  # [B, 2, T, H] bool

    @staticmethod
    def of(window: Window, include_event: bool | Tensor) -> Subgraph:
        """Neighbours by their last H events before the root's time (`Needs(at="root")`), but for those that lead back to x.

        The other node of the current event is the other endpoint: its last events are part of the Window.
        """
        hop = window.hop
        assert hop is not None
        length = hop.mask.shape[-1]

        def with_current(past: Tensor, now: Tensor) -> Tensor:
            return torch.cat([past, now[:, None, None].expand(-1, 2, 1, -1)], 2)

        def with_partner(of_neighbours: Tensor, past: Tensor) -> Tensor:
            return torch.cat([of_neighbours, past.flip(1)[:, :, None, -length:]], 2)

        root = window.node[:, :, None]
        other = torch.cat([window.past_node, window.node.flip(1)[:, :, None]], 2)
        seen = visible_events(window, include_event)
        loop = other == root  # x is its own neighbour: its events are there already
        same = (other[..., :, None] == other[..., None, :]) | loop[..., None]
        incident = torch.cat([same, torch.ones_like(same[:, :, :1])], 2)
        hop_other = with_partner(hop.node, window.past_node)
        leads_on = (hop_other != root[..., None]) & ~loop[..., None]
        return Subgraph(
            msg=with_current(window.past_msg, window.msg),
            context=with_current(window.past_context, window.context),
            gap=F.pad(window.past_gap, (0, 1)),
            seen=seen,
            incident=incident,
            hop_msg=with_partner(hop.msg, window.past_msg),
            hop_context=with_partner(hop.context, window.past_context),
            hop_gap=with_partner(hop.gap, window.past_gap),
            hop_seen=with_partner(hop.mask, window.mask) & leads_on,
        )
