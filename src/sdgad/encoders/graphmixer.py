"""GraphMixer: an MLP-mixer over each endpoint's history."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.encoders.linear import Linear
from sdgad.encoders.mixer import MixerBlock
from sdgad.encoders.norm import LayerNorm
from sdgad.encoders.pooling import visible_mean
from sdgad.encoders.published import by_dataset
from sdgad.encoders.tokens import TokenEncoder
from sdgad.history.window import WindowShape


@encoders.register("graphmixer")
class GraphMixer(TokenEncoder):
    """GraphMixer (Cong et al. 2023), link encoder.

    x = tokens of the L past events and the current one; x ← MixerBlock(x) per layer;
    z = W · mean_visible(LN(x)) + b. The endpoints do not see each other. The published φ is frozen.

    Intended instead of DyGLib's: norms over channels and a last norm before pooling, as in GraphMixer's
    paper; invisible tokens are zero where tokens mix (DyGLib's keep the bias of the token layer) and out of
    the mean (DyGLib averages them in, which shrinks short histories). An empty history without the event
    gives b, a learned "nothing yet". The node encoder is left out: without node features it adds zero.
    """

    paper: ClassVar[EncoderConfig] = EncoderConfig(
        width=172, time_width=100, layers=2, heads=2, dropout=0.1, train_time=False, log_gap=False
    )
    paper_by_dataset = by_dataset(history=(30, 10, 20, 10, 20, 20), dropout=(0.5, 0.5, 0.4, 0.0, 0.5, 0.4))

    def __init__(self, shape: WindowShape, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.blocks = nn.ModuleList(
            MixerBlock(shape.history + 1, config.width, config.dropout) for _ in range(config.layers)
        )
        self.norm = LayerNorm(config.width)
        self.out = Linear(config.width, config.width)

    def mix(self, tokens: Tensor, visible: Tensor) -> Tensor:
        x, seen = tokens.flatten(0, 1), visible.flatten(0, 1)
        for block in self.blocks:
            x = block(x, seen)
        z: Tensor = self.out(visible_mean(self.norm(x), seen))
        return z.reshape(len(tokens), 2, z.shape[-1])
