"""JODIE: a memory of every node, projected over the time since it was written."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.encoders.dropout import Dropout
from sdgad.encoders.gap_scale import GapScale
from sdgad.encoders.linear import Linear
from sdgad.encoders.memory_vector import MemoryVectorConfig, MemoryVectorEncoder
from sdgad.encoders.published import by_dataset
from sdgad.history.window import Window, WindowShape


@encoders.register("jodie")
class JODIE(MemoryVectorEncoder):
    """JODIE (Kumar et al. 2019, equations 1 to 4), as TGN's authors and DyGLib have it.

    m ← tanh(W_i message + W_h m + b), one cell for sources and destinations; z_x = dropout(m_x ⊙ (1 + w gap' + b)), gap'
    the standardised time since m_x was written (`GapScale`), 0 seconds with the event: JODIE's own classifier also reads the
    embedding just after the interaction. The L past events are not looked at: the memory tells of them.

    Other than in DyGLib: gap' is of log(1 + gap) unless `log_gap=False`, and cut at ±8. A node's first event counts for no
    gap: DyGLib takes the time since the stream began, which the projection never meets. The gap before an event counts for the
    role that the node has in it, whatever its role was before, since there is one memory for both. The original has two
    cells, a learned first memory and unit length; there is no one-hot node here, so that newcomers need no row.
    """

    paper: ClassVar[EncoderConfig] = MemoryVectorConfig(
        width=172, time_width=100, layers=1, heads=2, dropout=0.1, train_time=True, log_gap=False, messages=1
    )
    paper_by_dataset = by_dataset(history=10, dropout=(0.1, 0.1, 0.2, 0.3, 0.1, 0.4))

    def __init__(self, shape: WindowShape, config: MemoryVectorConfig) -> None:
        super().__init__(shape, config)
        self.cell = nn.RNNCell(self.message_width, config.width)
        self.gap = GapScale(config.log_gap)
        self.project = Linear(1, config.width)
        self.dropout = Dropout(config.dropout)

    def fit_scales(self, sample: Window) -> None:
        self.gap.fit(sample)

    def read(self, own: Tensor, age: Tensor) -> Tensor:
        z: Tensor = self.dropout(own * (1 + self.project(self.gap(age)[..., None])))
        return z
