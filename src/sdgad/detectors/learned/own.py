"""The current event's own features, and how far they lie from what its endpoints do."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sdgad.encoders.dropout import Dropout
from sdgad.encoders.linear import Linear
from sdgad.encoders.piecewise import PiecewiseLinear
from sdgad.history.habits import deviations
from sdgad.history.window import Window, WindowShape


class OwnFeatures(nn.Module):
    """Context, edge features and deviations of the event, each number by piecewise-linear quantile bins, then a small MLP.

    Deviations are the plainest residual: the event's edge features, and its hour and weekday, minus their mean over the past
    events of the source, of the destination, and of the source with this very destination (0 where there are none). An
    amount that is ordinary for the stream and wrong for this pair, or an hour that is not this account's, is told by these.
    """

    def __init__(self, shape: WindowShape, bins: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.phases = shape.phases
        self.plain = shape.context + shape.msg + 3 * (shape.msg + shape.phases)
        self.bins = PiecewiseLinear(self.plain, bins)
        self.layers = nn.Sequential(
            Linear(self.bins.width, hidden), nn.ReLU(), Dropout(dropout),
            Linear(hidden, hidden), nn.ReLU(), Dropout(dropout),
        )  # fmt: skip

    def fit(self, window: Window) -> None:
        """Bin edges from a sample of events."""
        self.bins.fit(self.values(window))

    def values(self, window: Window) -> Tensor:
        """The event's own numbers, `[B, plain]`."""
        return torch.cat([window.context, window.msg, deviations(window, self.phases)], 1)

    def forward(self, values: Tensor) -> Tensor:
        out: Tensor = self.layers(self.bins(values))
        return out
