"""Three small encoders that keep the contract, one per kind of need, and others that break one promise each."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from sdgad.encoders.base import Encoder, EncoderConfig
from sdgad.encoders.pooling import visible_mean
from sdgad.encoders.tags import EncoderTags
from sdgad.encoders.tokens import EventTokens, visible_events
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

Pair = tuple[Tensor, Tensor]


class Plain(Encoder):
    """z = the mean of the visible tokens."""

    name = "tiny-plain"

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.tokens = EventTokens(shape, config)

    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return visible_mean(self.tokens(window), visible_events(window, include_event))

    def encode(self, window: Window, include_event: bool | Tensor) -> Pair:
        z_src, z_dst = self.vectors(window, include_event).unbind(1)
        return z_src, z_dst


class LooksAtTheBatch(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        z = super().vectors(window, include_event)
        return z - z.mean(0) if len(z) else z


class LeaksTheEvent(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(window, include_event) + window.msg.sum(1)[:, None, None]


class IgnoresTheEvent(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(replace(window, msg=torch.zeros_like(window.msg)), include_event)


class ReadsEmptySlots(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(window, include_event) + 1e-3 * window.past_gap.sum(2)[..., None]


class ReadsIds(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(window, include_event) + window.node[..., None]


class TreatsSidesApart(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(window, include_event) * torch.tensor([[[1.0], [2.0]]])


class BlindToPastContext(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(
            replace(window, past_context=torch.zeros_like(window.past_context)), include_event
        )


class SaysThatItIsBlind(Plain):
    tags = EncoderTags(past=False)


class DropsApart(Plain):
    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.drop = nn.Dropout(config.dropout)

    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        z: Tensor = self.drop(super().vectors(window, include_event))
        return z


class HasAnIdleLayer(Plain):
    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.idle = nn.Linear(2, 2)


class CountsItsCalls(Plain):
    calls: Tensor

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.register_buffer("calls", torch.zeros(()))

    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        self.calls = self.calls + 1
        return super().vectors(window, include_event)


class ForgetsItsUnits(Plain):
    """Vectors in units of the mean gap of a sample, which no state dict holds."""

    unit = 1.0

    def fit_scales(self, sample: Window) -> None:
        self.unit = 2 + float(sample.past_gap.mean())

    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        return super().vectors(window, include_event) / self.unit


class AsksTheHost(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        if len(window) and float(window.past_gap.max()) < -1:
            return super().vectors(window, True)
        return super().vectors(window, include_event)


class OverflowsWithoutAPast(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        z = super().vectors(window, include_event)
        return z / window.mask.any().float()


class ReadsWhatItDidNotAskFor(Plain):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        z = super().vectors(window, include_event)
        return z if window.hop is None else z + window.hop.gap.sum((2, 3))[..., None]


# ---------------------------------------------------------------------- memory
class Remembering(Plain):
    """z = mean of the visible tokens + W m; m ← m / 2 + features of the event."""

    name = "tiny-memory"

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.read = nn.Linear(shape.msg + shape.context + 1, config.width, bias=False)

    @property
    def needs(self) -> Needs:
        return Needs(memory=self.shape.msg + self.shape.context + 1, commit=30)

    def commit(self, window: Window) -> Tensor:
        assert window.memory is not None
        event = torch.cat([window.msg, window.context, torch.ones(len(window), 1)], 1)
        return window.memory.row[:, :, 0] / 2 + event[:, None]

    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        assert window.memory is not None
        z: Tensor = super().vectors(window, include_event) + self.read(window.memory.row[:, :, 0])
        return z


class ForgetsToRead(Remembering):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        assert window.memory is not None
        nothing = replace(window.memory, row=torch.zeros_like(window.memory.row))
        return super().vectors(replace(window, memory=nothing), include_event)


class WritesOfTheBlock(Remembering):
    def commit(self, window: Window) -> Tensor:
        rows = super().commit(window)
        return rows - rows.mean(0)


class WritesAtRandom(Remembering):
    def commit(self, window: Window) -> Tensor:
        rows = super().commit(window)
        return rows + torch.rand_like(rows)


class WritesOfTheEventAlone(Remembering):
    def commit(self, window: Window) -> Tensor:
        assert window.memory is not None
        nothing = replace(window.memory, row=torch.zeros_like(window.memory.row))
        return super().commit(replace(window, memory=nothing))


class WritesIntoItsWeights(Remembering):
    last: Tensor

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.register_buffer("last", torch.zeros(()))

    def commit(self, window: Window) -> Tensor:
        self.last = window.msg.sum()
        return super().commit(window)


class OverflowsAtFirst(Remembering):
    def commit(self, window: Window) -> Tensor:
        assert window.memory is not None
        rows = super().commit(window)
        some = window.memory.known.any().float()
        return (
            rows / some if len(rows) == 7 else rows
        )  # neither in a block of 8, which others rest on, nor alone


# ---------------------------------------------------------------------- second hop
class SeesTwoHops(Plain):
    """z = mean of the visible tokens + W [features of the second hop, summed]."""

    name = "tiny-hop"

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.read = nn.Linear(shape.msg + shape.context + 1, config.width, bias=False)

    @property
    def needs(self) -> Needs:
        return Needs(hop=3, reach=100)

    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        hop = window.hop
        assert hop is not None
        features = torch.cat([hop.msg, hop.context, torch.log1p(hop.gap)[..., None]], -1)
        seen = (features * hop.mask[..., None]).sum((2, 3))
        z: Tensor = super().vectors(window, include_event) + self.read(seen)
        return z


class BlindToHopGaps(SeesTwoHops):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        assert window.hop is not None
        hop = replace(window.hop, gap=torch.ones_like(window.hop.gap))
        return super().vectors(replace(window, hop=hop), include_event)


class ReadsEmptyHops(SeesTwoHops):
    def vectors(self, window: Window, include_event: bool | Tensor) -> Tensor:
        assert window.hop is not None
        hop = replace(window.hop, mask=torch.ones_like(window.hop.mask))
        return super().vectors(replace(window, hop=hop), include_event)
