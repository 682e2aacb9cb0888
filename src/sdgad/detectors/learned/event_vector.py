"""Event vectors: residual representation encoding (paper, section "Residual Representation Encoding"), and
without the residual."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.detectors.learned.own import OwnFeatures
from sdgad.detectors.learned.scaling import WindowScale
from sdgad.encoders.base import Encoder
from sdgad.encoders.dropout import Dropout, without_dropout
from sdgad.history.window import Window


class EventVector(nn.Module):
    """h = Δ_src ‖ Δ_dst ‖ own with Δ_v = Enc(history of v + event) − Enc(history of v).

    Both encodings run in one doubled batch under the same dropout masks; the missing event's slot is masked, not shifted.
    `residual=False` takes Enc(history + event) instead (the paper's ablation). `own`, the event's own features, is there when
    context features are.
    """

    def __init__(
        self, encoder: Encoder, own: OwnFeatures | None, hidden: int, *, residual: bool, dropout: float
    ) -> None:
        super().__init__()
        self.scale = WindowScale(encoder.shape)
        self.encoder = encoder
        self.own = own
        self.residual = residual
        self.drop = Dropout(dropout)
        self.plain = 0 if own is None else own.plain
        self.width = 2 * encoder.config.width + (hidden if own else 0)

    @torch.no_grad()
    def fit_scales(self, context: Tensor, msg: Tensor, sample: Window, training: int) -> None:
        """Means and spreads from training events; bin edges from a sample of events, whose labels have no say; units of the
        encoder from the first `training` of the sample, which are training events."""
        self.scale.fit(context, msg)
        sample = self.scale(sample)
        if self.own is not None:
            self.own.fit(sample)
        self.encoder.fit_scales(sample.take(slice(training)))

    def forward(self, window: Window) -> tuple[Tensor, Tensor]:
        """h, and the event's own numbers as they are, `[B, plain]`."""
        window = self.scale(window)
        if self.residual:
            (src, dst), (src_before, dst_before) = self.encoder.both(window)
            parts = [src - src_before, dst - dst_before]
        else:
            parts = list(self.encoder.encode(window, True))
        plain = window.context[:, :0]
        if self.own is not None:
            plain = self.own.values(window)
            parts.append(self.own(plain))
        h: Tensor = self.drop(torch.cat(parts, 1))
        return h, plain

    def commit(self, window: Window) -> Tensor:
        """What the encoder's memory holds of both endpoints after each event, `[B, 2, R]`."""
        with without_dropout():  # in training as in scoring, and live
            return self.encoder.commit(self.scale(window))
