"""CAWN: anonymous temporal walks from both endpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.configuration import option
from sdgad.encoders.base import Encoder, EncoderConfig, encoders
from sdgad.encoders.dropout import paired_dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.published import by_dataset
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.encoders.transformer import PostNormBlock
from sdgad.encoders.walk_identity import IdentityCode, shares
from sdgad.encoders.walk_recurrence import WalkRecurrence
from sdgad.encoders.walks import Walks, draw_walks
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

MOST_WALKS = 10_000


@dataclass(frozen=True)
class CAWNConfig(EncoderConfig):
    """Sizes of the walks; the second step is taken among the last `hop` events of a neighbour, as in TGAT."""

    heads: int = option(4, "heads of the attention between walks")
    walks: int = option(16, "M, walks from each endpoint beside the one through the event")
    length: int = option(
        1, "steps of a walk: 1, through an endpoint's past; 2, on through that of its neighbours"
    )
    bias: float = option(1e-4, "α, per second: a step goes through an event of age Δ as often as e^(−α Δ)")
    walk_width: int = option(
        32, "width of the recurrence over a walk, in each direction, and of the attention"
    )
    position_width: int = option(16, "width of the code that says who a node is to both endpoints")
    walk_seed: int = option(1, "another one draws other walks")
    hop: int | None = option(
        None, "events of a neighbour that are seen; by default as many as of an endpoint"
    )
    reach: int = option(1 << 16, "latest events of the stream among which those of a neighbour are seen")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length > 2:
            raise InputError(f"length={self.length}: walks of CAWN have 1 or 2 steps.")
        if self.walks > MOST_WALKS:
            raise InputError(f"walks={self.walks}: must be at most {MOST_WALKS}.")
        if not 0 <= self.bias < math.inf:
            raise InputError(f"bias={self.bias}: must be at least 0 and finite.")


@encoders.register("cawn")
class CAWN(Encoder):
    """CAWN (Wang et al. 2021): z_x = W mean_j Block({V [LSTM(features, code of walk j) ; LSTM(code of walk j)]}).

    From each endpoint M walks go back in time (`draw_walks`). A node on a walk is not named: its code says at which share of
    both endpoints' walks it is met after 0, 1, … steps (`walk_identity`). Position p of a walk is [φ(t − t_p) ; edge
    features ; context features ; code], the first one an endpoint at gap 0; a BiLSTM reads it, a second one the codes alone,
    both at the last position that there is; V maps the two to the width of post-norm blocks across an endpoint's walks.
    Node features, all zero in published runs, are left out.

    Intended instead of DyGLib's: P(i) ∝ e^{−α (t − t_i)} as the paper has it (there a softmax over cumulative ratios, by which
    the oldest event is the likeliest), among the last L events; draws by a hash of the event, not by a generator, so that a
    vector depends neither on its batch nor on what was drawn before; a node without a past has no walks, and z = the bias of
    W (there, walks that stay). Equal walks are computed once, attended to and averaged as often as they were drawn.

    The current event is one more walk of either endpoint: to the other one and, where walks have two steps, on through what that
    one had done before. It leaves codes and other walks as they are, so that the event adds exactly this walk; its code tells
    whether the endpoints have met before, which would be lost if the walk itself were counted.
    """

    config_type: ClassVar[type[EncoderConfig]] = CAWNConfig
    config: CAWNConfig
    check_options: ClassVar[Mapping[str, Any]] = {
        "walks": 4, "walk_width": 8, "position_width": 8, "heads": 2, "reach": 100
    }  # fmt: skip
    paper: ClassVar[EncoderConfig] = CAWNConfig(
        width=172, time_width=100, layers=1, heads=8, dropout=0.1, train_time=True, log_gap=False,
        walks=32, length=1, bias=1e-6, walk_width=308, position_width=172,
    )  # fmt: skip
    paper_by_dataset = by_dataset(history=(32, 32, 64, 128, 32, 64), walks=(32, 32, 64, 128, 32, 64))

    def __init__(self, shape: WindowShape, config: CAWNConfig) -> None:
        super().__init__(shape, config)
        self.clock = TimeEncoding(config.time_width, config.train_time, config.log_gap)
        code = config.position_width
        self.code = IdentityCode(config.length, code)
        self.read = WalkRecurrence(self.clock.width + shape.msg + shape.context + code, config.walk_width)
        self.read_code = WalkRecurrence(code, (code + 1) // 2)
        width = -(-config.walk_width // config.heads) * config.heads
        self.join = Linear(2 * config.walk_width + 2 * ((code + 1) // 2), width)
        self.blocks = nn.ModuleList(
            PostNormBlock(width, config.heads, config.dropout) for _ in range(config.layers)
        )
        self.out = Linear(width, config.width)

    @property
    def needs(self) -> Needs:
        config = self.config
        if config.length == 1:
            return Needs(time=True)
        hop = self.shape.history if config.hop is None else config.hop
        return Needs(hop=hop, reach=config.reach, time=True)

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        walks = self._walks(window)
        if isinstance(include_event, bool):
            include_event = window.mask.new_full((len(window),), include_event)
        z_src, z_dst = self._mixed(self._read(window, walks), _counted(walks, include_event)).unbind(1)
        return z_src, z_dst

    def both(self, window: Window) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Walks are the same with the event and without it, and are read once."""
        walks, count = self._walks(window), len(window)
        read = self._read(window, walks)
        every = window.mask.new_ones(count)
        counted = torch.cat([_counted(walks, every), _counted(walks, ~every)])
        with paired_dropout():
            z = self._mixed(torch.cat([read, read]), counted)
        src, dst = self._checked((z[:, 0], z[:, 1]), 2 * count)
        return (src[:count], dst[:count]), (src[count:], dst[count:])

    def _walks(self, window: Window) -> Walks:
        config = self.config
        return draw_walks(window, config.walks, config.length, config.bias, config.walk_seed)

    def _read(self, window: Window, walks: Walks) -> Tensor:
        """`[B, 2, K + 1, attention]`: a token per walk, the last through the current event."""
        asked = torch.cat([window.node[..., None], *(step.node for step in walks.steps)], 2)
        code = self.code(shares(asked, window.node, walks))
        start, *codes = code.split([1, *(step.node.shape[2] for step in walks.steps)], 2)
        start = start.squeeze(2)
        blank = start.new_zeros(*start.shape[:2], self.shape.msg + self.shape.context)
        first = torch.cat([self.clock(torch.zeros_like(window.past_gap[..., 0])), blank, start], -1)
        steps = [
            torch.cat([self.clock(step.gap), step.msg, step.context, code], -1)
            for step, code in zip(walks.steps, codes, strict=True)
        ]
        there = [step.there for step in walks.steps]
        token: Tensor = self.join(
            torch.cat([self.read(first, steps, there), self.read_code(start, codes, there)], -1)
        )
        return token

    def _mixed(self, tokens: Tensor, counted: Tensor) -> Tensor:
        """Tokens `[N, 2, K + 1, attention]`, each `counted` so many times → vectors of the endpoints `[N, 2, width]`."""
        x, times = tokens.flatten(0, 1), counted.flatten(0, 1)
        for block in self.blocks:
            x = block(x, x, times)
        mean = (x * times[..., None]).sum(1) / times.sum(1, keepdim=True).clamp_min(1)
        z: Tensor = self.out(mean)
        return z.view(*tokens.shape[:2], z.shape[-1])


def _counted(walks: Walks, include_event: Tensor) -> Tensor:
    """`[B, 2, K + 1]`: how often each walk counts, that through the event once or not at all."""
    return torch.cat([walks.count, include_event[:, None, None].expand(-1, 2, 1).float()], 2)
