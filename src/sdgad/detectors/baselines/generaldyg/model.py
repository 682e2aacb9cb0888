"""The network of GeneralDyG."""

from __future__ import annotations

from torch import Tensor

from sdgad.detectors.baselines.generaldyg.config import GeneralDyGConfig
from sdgad.detectors.baselines.generaldyg.encoder import EgoEncoder
from sdgad.detectors.learned.detector import LearnedModel
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.odds import odds_head
from sdgad.detectors.learned.own import OwnFeatures
from sdgad.history.window import Window, WindowShape


class EgoVector(EventVector):
    """h = z ‖ own: the ego-graph's one vector, and the event's own features where there is context."""

    def __init__(self, encoder: EgoEncoder, own: OwnFeatures | None, hidden: int) -> None:
        super().__init__(encoder, own, hidden, residual=False, dropout=0.0)
        self.width -= encoder.config.width

    def forward(self, window: Window) -> tuple[Tensor, Tensor]:
        h, plain = super().forward(window)
        return h[:, self.encoder.config.width :], plain  # the vector is the same for both endpoints


class GeneralDyGModel(LearnedModel):
    """log-odds = MLP(h); the published head is one linear map (`head=()`)."""

    def __init__(self, config: GeneralDyGConfig, shape: WindowShape) -> None:
        super().__init__()
        own = OwnFeatures(shape, config.bins, config.hidden, config.head_dropout) if config.context else None
        self.event = EgoVector(EgoEncoder(shape, config), own, config.hidden)
        self.head = odds_head(self.event.width, config.head, config.head_dropout)

    def forward(self, window: Window) -> Tensor:
        """Log-odds of an anomaly, `[B]`."""
        odds: Tensor = self.head(self.event(window)[0])
        return odds[:, 0]
