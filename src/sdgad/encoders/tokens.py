"""Events as tokens: the layer that every token encoder starts with."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from sdgad.encoders.base import Encoder, EncoderConfig
from sdgad.encoders.dropout import paired_dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.time_encoding import TimeEncoding
from sdgad.history.window import Window, WindowShape


def visible_events(window: Window, include_event: bool | Tensor) -> Tensor:
    """`[B, 2, L + 1]` bool: which of the L past events exist, then whether the current one is included."""
    if isinstance(include_event, bool):
        include_event = window.mask.new_full((len(window),), include_event)
    return torch.cat([window.mask, include_event[:, None, None].expand(-1, 2, 1)], 2)


class EventTokens(nn.Module):
    """token = W_edge · edge features + W_context · context features + W_time · φ(gap) + b, for L + 1 events.

    The current event (gap 0) is token L of both endpoints. Features of width 0 have no map.
    """

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__()
        self.clock = TimeEncoding(config.time_width, config.train_time, config.log_gap)
        self.time = Linear(self.clock.width, config.width)
        self.edge = Linear(shape.msg, config.width, bias=False) if shape.msg else None
        self.context = Linear(shape.context, config.width, bias=False) if shape.context else None

    def forward(self, window: Window) -> Tensor:
        """`[B, 2, L + 1, width]`, whatever the mask says: who reads them must mask them."""
        past = self._embed(window.past_msg, window.past_context, window.past_gap)
        now = self._embed(window.msg, window.context, window.past_gap.new_zeros(len(window)))
        return torch.cat([past, now[:, None, None].expand(-1, 2, 1, -1)], 2)

    def self_token(self) -> Tensor:
        """`[width]`: the endpoint itself, with no features and gap 0."""
        token: Tensor = self.time(self.clock(self.time.weight.new_zeros(())))
        return token

    def _embed(self, msg: Tensor, context: Tensor, gap: Tensor) -> Tensor:
        token: Tensor = self.time(self.clock(gap))
        if self.edge is not None:
            token = token + self.edge(msg)
        if self.context is not None:
            token = token + self.context(context)
        return token


class TokenEncoder(Encoder):
    """An encoder to which including the event means no more than to unmask its token.

    The two branches of a residual then share their tokens, which are embedded once.
    """

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.tokens = EventTokens(shape, config)

    @abstractmethod
    def mix(self, tokens: Tensor, visible: Tensor) -> Tensor:
        """Tokens `[N, 2, L + 1, width]`, visible `[N, 2, L + 1]` → the endpoints' vectors `[N, 2, width]`."""

    def of_branch(self, tokens: Tensor, window: Window, visible: Tensor) -> Tensor:  # noqa: ARG002
        """The tokens of one branch; an encoder that looks at who is visible in it adds that to them here."""
        return tokens

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        visible = visible_events(window, include_event)
        z_src, z_dst = self.mix(self.of_branch(self.tokens(window), window, visible), visible).unbind(1)
        return z_src, z_dst

    def both(self, window: Window) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        tokens = self.tokens(window)
        branches = [visible_events(window, include_event) for include_event in (True, False)]
        visible = torch.cat(branches)
        with paired_dropout():
            z = self.mix(torch.cat([self.of_branch(tokens, window, seen) for seen in branches]), visible)
        src, dst = self._checked((z[:, 0], z[:, 1]), len(visible))
        count = len(window)
        return (src[:count], dst[:count]), (src[count:], dst[count:])
