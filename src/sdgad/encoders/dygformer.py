"""DyGFormer: a transformer over patches of both histories, with co-occurrence counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdgad.configuration import option
from sdgad.encoders.base import Encoder, EncoderConfig, encoders
from sdgad.encoders.cooccurrence import cooccurrence
from sdgad.encoders.linear import Linear
from sdgad.encoders.pooling import visible_mean
from sdgad.encoders.published import by_dataset
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.encoders.tokens import visible_events
from sdgad.encoders.transformer import PreNormBlock
from sdgad.history.window import Window, WindowShape


@dataclass(frozen=True)
class DyGFormerConfig(EncoderConfig):
    """`patch` positions make one token; each feature channel is projected to `channel` numbers."""

    patch: int = option(1, "consecutive positions that make one token")
    channel: int = option(8, "numbers that each kind of feature is projected to")


@encoders.register("dygformer")
class DyGFormer(Encoder):
    """DyGFormer (Yu et al. 2023).

    Sequence of an endpoint: self (no features, gap 0), L past events, current event. Channels per position:
    edge features, context features, φ(gap), and co-occurrence MLP(own count) + MLP(cross count), where a
    position's node is counted in both sequences, the self positions among them. P consecutive positions are
    flattened per channel and mapped to c numbers, channels side by side; the patches of both endpoints form
    one sequence for pre-norm blocks without positions; z_u = W · mean over u's visible patches + b, likewise
    z_v.

    Intended instead of DyGLib's: the sequence length is fixed (there it is that of the batch's longest, so
    that a vector depends on its neighbours in the batch) and padding is masked: its channels are zero (there
    biases still fire), a patch is visible if any of its positions is, and neither attention nor mean sees the
    others. Histories are right-aligned with the empty slots after the self position, which the blocks cannot
    tell from left-aligned but for the borders of patches. Channels of width 0 (and the node features, which
    are all zero in the published runs) are left out; the width of the blocks is c times the number of
    channels.
    """

    config_type: ClassVar[type[EncoderConfig]] = DyGFormerConfig
    paper: ClassVar[EncoderConfig] = DyGFormerConfig(
        width=172, time_width=100, layers=2, heads=2, dropout=0.1, train_time=True, log_gap=False, channel=50
    )
    paper_by_dataset = by_dataset(
        history=(30, 62, 254, 510, 254, 30), patch=(1, 2, 8, 16, 8, 1), dropout=(0.1, 0.2, 0.1, 0.1, 0.0, 0.1)
    )

    def __init__(self, shape: WindowShape, config: DyGFormerConfig) -> None:
        super().__init__(shape, config)
        self.patch = config.patch
        # Slots before the L + 1 events: the self position, then as many empty ones as fill the last patch.
        self.lead = 1 + -(shape.history + 2) % config.patch
        self.clock = TimeEncoding(config.time_width, config.train_time, config.log_gap)
        c = config.channel
        self.count = nn.Sequential(Linear(1, c), nn.ReLU(), Linear(c, c))
        widths = {"edge": shape.msg, "context": shape.context, "time": self.clock.width, "count": c}
        self.project = nn.ModuleDict(
            {name: Linear(config.patch * width, c) for name, width in widths.items() if width}
        )
        width = c * len(self.project)
        self.blocks = nn.ModuleList(
            PreNormBlock(width, config.heads, config.dropout, lonely=False) for _ in range(config.layers)
        )
        self.out = Linear(width, config.width)

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        nodes, visible = self._positions(window, include_event)
        channels = self._channels(window)
        channels["count"] = self.count(cooccurrence(nodes, visible)[..., None]).sum(-2)
        patches = torch.cat([self._patches(name, channels[name], visible) for name in self.project], -1)
        seen = visible.reshape(*patches.shape[:3], self.patch).any(-1)
        x, keys = patches.flatten(1, 2), seen.flatten(1, 2)
        for block in self.blocks:
            x = block(x, keys)
        z_src, z_dst = self.out(visible_mean(x.reshape(patches.shape), seen)).unbind(1)
        return z_src, z_dst

    def _positions(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        """The node at each position, and whether the position is visible: `[B, 2, T]` each."""
        empty = self.lead - 1
        own, other = window.node[..., None], window.node.flip(1)[..., None]
        nodes = torch.cat([own, own.expand(-1, -1, empty), window.past_node, other], 2)
        events = visible_events(window, include_event)
        start = events.new_ones(len(window), 2, 1)
        return nodes, torch.cat([start, events.new_zeros(len(window), 2, empty), events], 2)

    def _channels(self, window: Window) -> dict[str, Tensor]:
        """Edge, context and time features at each position, `[B, 2, T, ·]`."""

        def laid_out(past: Tensor, now: Tensor) -> Tensor:
            events = torch.cat([past, now[:, None, None].expand(-1, 2, 1, -1)], 2)
            return F.pad(events, (0, 0, self.lead, 0))

        return {
            "edge": laid_out(window.past_msg, window.msg),
            "context": laid_out(window.past_context, window.context),
            "time": self.clock(F.pad(window.past_gap, (self.lead, 1))),
        }

    def _patches(self, name: str, channel: Tensor, visible: Tensor) -> Tensor:
        """`[B, 2, T, ·]` → `[B, 2, T / P, c]`."""
        count, ends, positions, width = channel.shape
        flat = channel.masked_fill(~visible[..., None], 0.0)
        flat = flat.reshape(count, ends, positions // self.patch, self.patch * width)
        projected: Tensor = self.project[name](flat)
        return projected
