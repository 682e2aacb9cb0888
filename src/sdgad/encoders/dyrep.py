"""DyRep: a memory of every node, to which its partners tell of their own surroundings."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from sdgad.encoders.base import EncoderConfig, encoders
from sdgad.encoders.memory_vector import MemoryVectorConfig, MemoryVectorEncoder
from sdgad.encoders.published import by_dataset
from sdgad.encoders.temporal_attention import TemporalAttention
from sdgad.history.window import Window, WindowShape


@encoders.register("dyrep")
class DyRep(MemoryVectorEncoder):
    """DyRep (Trivedi et al. 2019) in the form of TGN's authors and DyGLib.

    The message of event (x, y, t) to x is [m_x ; a_y ; φ(t − t_x) ; edge features ; context features] with
    a_y = MERGE(TATT(m_y, {m_n, event, φ(t − t_n)}), m_y) over the L past events of y (in the paper "localized embedding
    propagation": attention over the neighbours of the other end); m ← tanh(W_i message + W_h m + b); z_x = m_x. The
    event itself is not among the past events of y, since the rest of the message tells of it: "with the event" adds one
    message, no more.

    In messages that wait a_y is what it was then, without gradient, as all that `commit` writes. Published codes read
    off memory before the event alone, so their attention stays as it was drawn at random; here the message of the current
    event lets attention, its clock and, through the memory of neighbours, the cell learn. Nothing is dropped from messages
    that wait, other than published. Left out: the original's intensities, and the attention matrix that they move.
    """

    paper: ClassVar[EncoderConfig] = MemoryVectorConfig(
        width=172, time_width=100, layers=1, heads=2, dropout=0.1, train_time=True, log_gap=False, messages=1
    )
    paper_by_dataset = by_dataset(history=10, dropout=(0.1, 0.1, 0.0, 0.0, 0.0, 0.0))
    neighbours = True

    def __init__(self, shape: WindowShape, config: MemoryVectorConfig) -> None:
        super().__init__(shape, config)
        self.cell = nn.RNNCell(self.message_width, config.width)
        self.attend = TemporalAttention(shape, config, self.clock)

    def partner(self, own: Tensor, window: Window) -> Tensor:
        assert window.memory is not None
        parts = (
            own,
            self.now(window.memory.row[:, :, 1:]),
            window.past_msg,
            window.past_context,
            window.past_gap,
            window.mask,
        )
        a: Tensor = self.attend(*(part.flatten(0, 1) for part in parts))
        return a.view_as(own).flip(1)

    def read(self, own: Tensor, age: Tensor) -> Tensor:  # noqa: ARG002
        return own
