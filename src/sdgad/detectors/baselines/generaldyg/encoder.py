"""GeneralDyG's encoder: an event as the mean of the edges around it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.detectors.baselines.generaldyg.config import GeneralDyGConfig
from sdgad.detectors.baselines.generaldyg.edge_transformer import EdgeTransformer
from sdgad.detectors.baselines.generaldyg.ego import ROLES, EgoGraph
from sdgad.detectors.baselines.generaldyg.graph_network import NodeEdgeLayer
from sdgad.encoders.base import Encoder
from sdgad.encoders.linear import Linear
from sdgad.encoders.norm import LayerNorm
from sdgad.encoders.pooling import visible_mean
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

PLACES = 3  # that a node can have: source, destination, neighbour


class EgoEncoder(Encoder):
    """z = LN(mean over edges of Transformer(GNN(ego-graph), edges)): one vector of the event, the same for both its endpoints.

    An edge starts as a linear map of [edge features ; context features ; φ(gap) ; role], a node as a learned vector of its
    role. (The published code gives each edge and node a random vector of its number instead, and knows no features,
    times or roles. Roles, of the event itself, of an endpoint's events and of those between neighbours, are what the
    paper says of special tokens.) Batch norm before the head is a layer norm here: a batch may be one event.
    """

    def __init__(self, shape: WindowShape, config: GeneralDyGConfig) -> None:
        sizes = config.encoder_config()
        super().__init__(shape, sizes)
        self._needs = config.needs(shape)
        self._edges = config.edges
        width = sizes.width
        self.clock = TimeEncoding(sizes.time_width, sizes.train_time, sizes.log_gap)
        self.raw = Linear(shape.msg + shape.context + self.clock.width, width)
        self.role = nn.Embedding(ROLES, width)
        self.place = nn.Embedding(PLACES, width)
        for kind in (self.role, self.place):
            nn.init.normal_(kind.weight, std=width**-0.5)  # so that they do not drown the features
        self.layers = nn.ModuleList(NodeEdgeLayer(width, sizes.dropout) for _ in range(sizes.layers))
        self.transformer = EdgeTransformer(width, sizes.heads, config.depth, config.feed, sizes.dropout)
        self.norm = LayerNorm(width)

    @property
    def needs(self) -> Needs:
        return self._needs

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        z = self.vector(window, include_event)
        return z, z

    def vector(self, window: Window, include_event: bool | Tensor = True) -> Tensor:
        """`[B, width]`."""
        graph = EgoGraph.of(window, self._edges, include_event)
        incidence = graph.incidence()
        raw: Tensor = self.raw(torch.cat([graph.msg, graph.context, self.clock(graph.gap)], -1))
        raw = raw + self.role(graph.role)
        edges, nodes = raw, self._nodes(graph)
        for layer in self.layers:
            nodes, edges = layer(nodes, edges, incidence)
        z: Tensor = self.norm(visible_mean(self.transformer(edges, raw, graph.real), graph.real))
        return z

    def _nodes(self, graph: EgoGraph) -> Tensor:
        place = torch.arange(graph.nodes, device=graph.ends.device).clamp(max=PLACES - 1)
        found: Tensor = self.place(place)
        return found.expand(len(graph.ends), -1, -1)
