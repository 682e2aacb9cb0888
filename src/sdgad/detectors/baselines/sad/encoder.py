"""SAD's encoder: two rounds of attention over a temporal subgraph, under the same weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.detectors.baselines.sad.log_time import LogTime
from sdgad.detectors.baselines.sad.subgraph import Subgraph
from sdgad.encoders.base import Encoder, EncoderConfig
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape


class SubgraphEncoder(Encoder):
    """h_i ← W₂ relu(W₁ [Σ_j α_ij v_ij ; h_i]) + h_i, twice under the same weights; z_x = h_x.

    α_ij = softmax_j(q_i · k_ij / √d) per head over the events at node i and a self-loop, q_i = relu(W_q [h_i ; φ(0)]),
    k_ij = relu(W_k [h_j ; e_ij ; φ(Δ_ij)]), v_ij = W_v [h_j ; e_ij ; φ(Δ_ij)], Δ from the event to the root's time. An
    event tells both its ends of each other; the self-loop has e = 0 and φ(0). Edge features (context features beside them)
    pass W relu(W ·), and so would node features: without any, h⁰ is one vector that is learned.

    The published code means to have weights for each round and uses the last ones in both: that is kept. It has no current
    event; here that is one more event of the endpoint, at Δ = 0. An event between two neighbours tells of each where it
    is among the last H of the one it is told to, and is told once.

    Since all nodes are alike in the first round, an event has one logit there, whoever hears of it.
    """

    def __init__(
        self, shape: WindowShape, config: EncoderConfig, needs: Needs, *, drop_edges: float = 0.0
    ) -> None:
        super().__init__(shape, config)
        width, features = config.width, shape.msg + shape.context
        self._needs = needs
        self.clock = LogTime(config.time_width)
        self.start = nn.Parameter(torch.randn(width) * width**-0.5)
        self.edge = (
            nn.Sequential(Linear(features, width), nn.ReLU(), Linear(width, width)) if features else None
        )
        self.query = Linear(width + self.clock.width, width)
        self.of_event = Linear((width if features else 0) + self.clock.width, 2 * width)
        self.of_node = Linear(width, 2 * width, bias=False)
        self.merge = nn.Sequential(Linear(2 * width, width), nn.ReLU(), Linear(width, width))
        self.drop = Dropout(drop_edges)

    @property
    def needs(self) -> Needs:
        return self._needs

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        graph = Subgraph.of(window, include_event)
        return self._encode(graph, self._messages(graph), graph.seen, graph.hop_seen)

    def views(self, window: Window) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The vectors with the event, and those of another view, in which a share of the past events is left out."""
        graph = Subgraph.of(window, True)
        messages = self._messages(graph)
        kept, hop_kept = (self.drop(torch.ones_like(gap)) > 0 for gap in (graph.gap, graph.hop_gap))
        kept = torch.cat([kept[..., :-1], torch.ones_like(kept[..., -1:])], -1)  # the event itself stays
        other = self._encode(graph, messages, graph.seen & kept, graph.hop_seen & hop_kept)
        return self._encode(graph, messages, graph.seen, graph.hop_seen), other

    # ------------------------------------------------------------------ what events say
    def _messages(self, graph: Subgraph) -> tuple[Tensor, Tensor, Tensor]:
        """The part of keys and values that is the event's own: of x's events, of the neighbours', of a self-loop."""
        own = self._of_event(graph.msg, graph.context, graph.gap)
        hop = self._of_event(graph.hop_msg, graph.hop_context, graph.hop_gap)
        nothing = [] if self.edge is None else [self.start.new_zeros(self.config.width)]
        return own, hop, self.of_event(torch.cat([*nothing, self._now()]))

    def _of_event(self, msg: Tensor, context: Tensor, gap: Tensor) -> Tensor:
        told = [] if self.edge is None else [self.edge(torch.cat([msg, context], -1))]
        found: Tensor = self.of_event(torch.cat([*told, self.clock(gap)], -1))
        return found

    def _now(self) -> Tensor:
        code: Tensor = self.clock(self.start.new_zeros(()))
        return code

    # ------------------------------------------------------------------ two rounds
    def _encode(
        self, graph: Subgraph, messages: tuple[Tensor, Tensor, Tensor], seen: Tensor, hop_seen: Tensor
    ) -> tuple[Tensor, Tensor]:
        own, hop, loop = messages
        h = self._first(graph.incident & seen[..., None, :], own, hop, loop, hop_seen)
        z_src, z_dst = self._second(h, own, loop, seen).unbind(1)
        return z_src, z_dst

    def _first(self, incident: Tensor, own: Tensor, hop: Tensor, loop: Tensor, hop_seen: Tensor) -> Tensor:
        """h of the T other nodes and of x itself, `[B, 2, T + 1, w]`."""
        query, sender = self._query(self.start), self.of_node(self.start)
        (own_logit, own_value), (hop_logit, hop_value), (loop_logit, loop_value) = (
            self._heard(query, part + sender) for part in (own, hop, loop)
        )
        nodes = incident.shape[:3]
        own_logit = own_logit[:, :, None].expand(*nodes, -1, -1).masked_fill(~incident[..., None], -torch.inf)
        hop_logit = hop_logit.masked_fill(~hop_seen[..., None], -torch.inf)
        hop_logit = nn.functional.pad(hop_logit, (0, 0, 0, 0, 0, 1), value=-torch.inf)  # x has none
        logit = torch.cat([own_logit, hop_logit, loop_logit.expand(*nodes, 1, -1)], 3)
        by_own, by_hop, by_loop = torch.split(logit.softmax(3), [incident.shape[3], hop.shape[3], 1], 3)
        mixed = torch.einsum("bentk,betkd->benkd", by_own, own_value)
        of_neighbours = torch.einsum("benhk,benhkd->benkd", by_hop[:, :, :-1], hop_value)
        mixed = mixed + nn.functional.pad(of_neighbours, (0, 0, 0, 0, 0, 1))
        mixed = mixed + by_loop[:, :, :, 0, :, None] * loop_value
        return self._merged(mixed.flatten(3), self.start.expand(*nodes, -1))

    def _second(self, h: Tensor, own: Tensor, loop: Tensor, seen: Tensor) -> Tensor:
        """h of x, `[B, 2, w]`: nobody asks for that of the others."""
        events = torch.cat([own, loop.expand(*own.shape[:2], 1, -1)], 2)
        logit, value = self._heard(self._query(h[:, :, -1])[:, :, None], events + self.of_node(h))
        seen = torch.cat([seen, torch.ones_like(seen[..., :1])], -1)
        share = logit.masked_fill(~seen[..., None], -torch.inf).softmax(2)
        return self._merged((share[..., None] * value).sum(2).flatten(2), h[:, :, -1])

    def _query(self, h: Tensor) -> Tensor:
        asked: Tensor = self.query(torch.cat([h, self._now().expand(*h.shape[:-1], -1)], -1))
        return asked.relu()

    def _heard(self, query: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        """Logits `[…, heads]` and values `[…, heads, w / heads]`."""
        heads = self.config.heads
        key, value = told.chunk(2, -1)
        by_head = (*key.shape[:-1], heads, key.shape[-1] // heads)
        logit = (key.relu() * query).reshape(by_head).sum(-1) * by_head[-1] ** -0.5
        return logit, value.reshape(by_head)

    def _merged(self, mixed: Tensor, h: Tensor) -> Tensor:
        new: Tensor = self.merge(torch.cat([mixed, h], -1))
        return new + h
