"""The network of SAD."""

from __future__ import annotations

import torch
from torch import Tensor

from sdgad.detectors.baselines.sad.bank import MemoryBank
from sdgad.detectors.baselines.sad.config import SADConfig
from sdgad.detectors.baselines.sad.contrast import contrast_loss
from sdgad.detectors.baselines.sad.deviation import DeviationNetwork, deviation_loss
from sdgad.detectors.baselines.sad.encoder import SubgraphEncoder
from sdgad.detectors.learned.detector import LearnedModel
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.odds import cross_entropy, odds_head
from sdgad.detectors.learned.own import OwnFeatures
from sdgad.history.window import Window, WindowShape


class SADModel(LearnedModel):
    """h = z_src ‖ z_dst (‖ own); log-odds = MLP(h), deviation by the score a(h) against the bank."""

    def __init__(self, config: SADConfig, shape: WindowShape) -> None:
        super().__init__()
        self.config = config
        encoder = SubgraphEncoder(
            shape, config.encoder_config(), config.needs(shape), drop_edges=config.drop_edges
        )
        own = OwnFeatures(shape, config.bins, config.hidden, config.head_dropout) if config.context else None
        self.event = EventVector(encoder, own, config.hidden, residual=False, dropout=0.0)
        self.head = odds_head(self.event.width, config.head, config.head_dropout)
        self.deviation = DeviationNetwork(self.event.width, config.width)
        self.bank = MemoryBank(config.bank, config.drawn)

    def forward(self, window: Window) -> Tensor:
        """Log-odds of an anomaly, `[B]`."""
        odds: Tensor = self.head(self.event(window)[0])
        return odds[:, 0]

    def losses(self, window: Window, anomalous: Tensor, weight: Tensor) -> dict[str, Tensor]:
        """Of the three parts; an event of weight 0 has a say in the contrast and in the bank."""
        config, event, bank = self.config, self.event, self.bank
        assert isinstance(event.encoder, SubgraphEncoder)
        assert window.time is not None
        scaled = event.scale(window)
        vectors, others = (torch.cat(view, 1) for view in event.encoder.views(scaled))
        own = [] if event.own is None else [event.own(event.own.values(scaled))]
        h = torch.cat([vectors, *own], 1)
        score, drawn = self.deviation(h), bank.draw()
        deviation = bank.deviation(score, window.time, drawn)
        pseudo_label = bank.plain_deviation(score.detach(), drawn)
        contrast = contrast_loss(vectors, others, pseudo_label, config.temperature)
        if self.training:
            bank.write(score, window.time, ~anomalous)
        return {
            "cross-entropy": cross_entropy(self.head(h)[:, 0], anomalous, weight),
            "deviation": config.deviation * deviation_loss(deviation, anomalous, weight, config.margin),
            "contrast": config.contrast * contrast,
        }
