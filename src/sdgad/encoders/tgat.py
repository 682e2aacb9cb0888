"""TGAT: temporal attention over an endpoint's past, and over the past of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from sdgad.configuration import option
from sdgad.encoders.base import Encoder, EncoderConfig, encoders
from sdgad.encoders.dropout import paired_dropout
from sdgad.encoders.published import by_dataset
from sdgad.encoders.temporal_attention import TemporalAttention
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.encoders.tokens import visible_events
from sdgad.errors import InputError
from sdgad.history.needs import NONE, Needs
from sdgad.history.window import Window, WindowShape


@dataclass(frozen=True)
class TGATConfig(EncoderConfig):
    """The second layer sees the last `hop` events of each neighbour, if they are among the latest `reach` of the stream."""

    layers: int = option(2, "1: an endpoint's own past; 2: also that of its neighbours")
    hop: int | None = option(
        None, "events of a neighbour that are seen; by default as many as of an endpoint"
    )
    reach: int = option(1 << 16, "latest events of the stream among which those of a neighbour are seen")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers > 2:
            raise InputError(f"layers={self.layers}: TGAT has 1 or 2.")


@encoders.register("tgat")
class TGAT(Encoder):
    """TGAT (Xu et al. 2020): h¹_x(t) = A₁(∅, {e_n, φ(t − t_n)}), z_x = A₂(h¹_x(t), {h¹_n(t_n), e_n, φ(t − t_n)}).

    A is `TemporalAttention`, with weights of its own in each layer and one φ for both. Nothing is known of a node but its
    events: h⁰, which is zero without node features, is left out, and so is the raw feature that MERGE gets beside it. A
    neighbour is seen as it was at its event n: by what it had done before t_n (`Window.hop`). With one layer z_x = h¹_x(t). The
    endpoints do not see each other but as neighbours.

    The current event is one more token of its endpoints, in both layers. Its neighbour, the other endpoint, is seen as it
    was before the event, or the event would come back through it. A node without a past attends to nothing.
    """

    config_type: ClassVar[type[EncoderConfig]] = TGATConfig
    check_options: ClassVar[Mapping[str, Any]] = {"reach": 100}
    paper: ClassVar[EncoderConfig] = TGATConfig(
        width=172, time_width=100, layers=2, heads=2, dropout=0.1, train_time=True, log_gap=False
    )
    paper_by_dataset = by_dataset(history=20, dropout=(0.1, 0.1, 0.1, 0.1, 0.2, 0.1))

    def __init__(self, shape: WindowShape, config: TGATConfig) -> None:
        super().__init__(shape, config)
        hop = shape.history if config.hop is None else config.hop
        self._needs = Needs(hop=hop, reach=config.reach) if config.layers == 2 else NONE
        self.clock = TimeEncoding(config.time_width, config.train_time, config.log_gap)
        self.first = TemporalAttention(shape, config, self.clock, known=0, again=False)
        self.second = (
            TemporalAttention(shape, config, self.clock, again=False) if config.layers == 2 else None
        )

    @property
    def needs(self) -> Needs:
        return self._needs

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        return self._encode(window, self._neighbours(window), visible_events(window, include_event))

    def both(self, window: Window) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Neighbours are the same with the event and without it: most of the work is done once."""
        neighbours, count = self._neighbours(window), len(window)
        visible = torch.cat([visible_events(window, True), visible_events(window, False)])
        with paired_dropout():
            doubled = replace(window, hop=None).doubled()
            src, dst = self._encode(doubled, torch.cat([neighbours, neighbours]), visible)
        return (src[:count], dst[:count]), (src[count:], dst[count:])

    def _neighbours(self, window: Window) -> Tensor:
        """`[B, 2, L, w]`: h¹ of the other node of each past event, as that event saw it; of width 0 for one layer."""
        if self.second is None:
            return window.past_gap.new_zeros(*window.mask.shape, 0)
        assert window.hop is not None
        hop = window.hop
        return self._own_past(hop.msg, hop.context, hop.gap, hop.mask)

    def _encode(self, window: Window, neighbours: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
        def with_current(past: Tensor, now: Tensor) -> Tensor:
            return torch.cat([past, now[:, None, None].expand(-1, 2, 1, -1)], 2)

        msg = with_current(window.past_msg, window.msg)
        context = with_current(window.past_context, window.context)
        gap = F.pad(window.past_gap, (0, 1))
        z = self._own_past(msg, context, gap, visible)
        if self.second is not None:
            partner = self._own_past(window.past_msg, window.past_context, window.past_gap, window.mask).flip(
                1
            )
            others = torch.cat([neighbours, partner[:, :, None]], 2)
            events = (others, msg, context, gap, visible)
            z = self.second(z.flatten(0, 1), *(part.flatten(0, 1) for part in events)).view_as(z)
        z_src, z_dst = z.unbind(1)
        return z_src, z_dst

    def _own_past(self, msg: Tensor, context: Tensor, gap: Tensor, visible: Tensor) -> Tensor:
        """h¹ of nodes `[…]` over events `[…, K]` → `[…, w]`."""
        nodes = visible.shape[:-1]
        rows, last = nodes.numel(), len(nodes) - 1
        nothing = gap.new_zeros(rows, 0)
        found: Tensor = self.first(
            nothing,
            nothing[:, None].expand(-1, visible.shape[-1], -1),
            *(part.flatten(0, last) for part in (msg, context, gap, visible)),
        )
        return found.reshape(*nodes, found.shape[-1])
