"""The network of SDGAD: Window → h → x → ℓ, and the losses that train it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from sdgad.detectors.learned.detector import LearnedModel
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.own import OwnFeatures
from sdgad.detectors.precision import ExactLinear, gradient_of_input
from sdgad.detectors.sdgad.boundary import Boundary
from sdgad.detectors.sdgad.config import SDGADConfig
from sdgad.detectors.sdgad.density import densities, tamed
from sdgad.detectors.sdgad.known import KnownCentre
from sdgad.detectors.sdgad.restriction import Restriction
from sdgad.detectors.sdgad.whitening import whitening
from sdgad.encoders.base import encoders
from sdgad.history.window import Window, WindowShape

LEAST_SPREAD = 0.02  # of normal evidence: less is rounding, not difference (the demo has 0.12)
START_SHARE = 0.01  # of the encoder in the projection at the start


@dataclass(frozen=True)
class Evidence:
    """Per event: ℓ of the density, and the log-odds of a known anomaly (None without the second centre)."""

    ell: Tensor
    odds: Tensor | None

    @classmethod
    def cat(cls, parts: Sequence[Evidence]) -> Evidence:
        """Those of several batches."""
        odds = [part.odds for part in parts if part.odds is not None]
        return cls(torch.cat([part.ell for part in parts]), torch.cat(odds) if odds else None)

    def take(self, chosen: Tensor) -> Evidence:
        """Some of the events, by a bool mask or by number."""
        return Evidence(self.ell[chosen], None if self.odds is None else self.odds[chosen])


@dataclass(frozen=True)
class Join:
    """How density and odds become one ℓ: which of them leads, and the weight of what the other finds outstanding."""

    lead: Literal["odds", "density", "neither"]
    weight: float


class SDGADModel(LearnedModel):
    """Event vector h, projection x = W h, density of x, boundary, known centre.

    L = L_ML + λ₁ L_BO + λ₂ L_RR + λ₃ L_known (paper, "Overall Training Objective", plus the last term).

    Who trains what: the likelihood sees detached x and trains the flow alone unless `joint` (trained jointly, the encoder
    lowers it without bound by mapping every event to one point). L_BO reaches x through the flow and leaves the flow alone.
    L_known trains the encoder. L_RR and L_BO train the projection, and the encoder with the share `shell_gradient`: beside
    L_known that share is 0 by default, because even a tenth of it made the encoder collapse (docs/method.md); without L_known
    it is 1, as in the paper.
    """

    spread: Tensor
    odds_high: Tensor
    odds_spread: Tensor
    bounds: ClassVar[dict[str, dict[str, Any]]] = {
        name: {"low": 1e-9, "high": 1e9} for name in ("spread", "odds_spread")
    }

    def __init__(self, config: SDGADConfig, shape: WindowShape) -> None:
        super().__init__()
        self.config = config
        encoder = encoders.get(config.encoder)(shape, config.encoder_config())
        own = OwnFeatures(shape, config.bins, config.hidden, config.head_dropout) if config.context else None
        self.event = EventVector(
            encoder, own, config.hidden, residual=config.residual, dropout=config.head_dropout
        )
        self.project = ExactLinear(self.event.width + self.event.plain, config.projection, bias=False)
        self.density = densities.get(config.density)(config.projection, config.transforms)
        self.boundary = Boundary(config.boundary, config.alpha, config.tau)
        self.restriction = (
            Restriction(config.r_max, config.gamma, config.margin) if config.restriction else None
        )
        self.known = KnownCentre(self.event.width) if config.known else None
        self.share = config.shell_gradient if config.known else 1.0
        for name in ("spread", "odds_high", "odds_spread"):
            self.register_buffer(name, torch.ones(()))

    def losses(self, window: Window, anomalous: Tensor, weight: Tensor) -> dict[str, Tensor]:
        """The parts of L; `anomalous` is bool `[B]`, `weight` the say of each event in the cross-entropy."""
        config = self.config
        h, plain = self.event(window)
        x = self.project(torch.cat([h.detach() + self.share * (h - h.detach()), plain], 1))
        point = x.detach().requires_grad_()
        ell = tamed(self.density(point))
        # the same numbers; `joint` lets their gradient into the encoder whatever the share of the shell's
        likely = tamed(self.density(self.project(torch.cat([h, plain], 1)))) if config.joint else ell
        normal = (~anomalous).to(x.dtype)
        parts = {"likelihood": -(likely * normal).sum() / normal.sum().clamp(min=1)}
        self.boundary.follow(ell, anomalous)
        if config.boundary != "none":
            parts["boundary"] = config.lambda_boundary * _of_point(self.boundary(ell, anomalous), point, x)
        if self.restriction is not None:
            parts["restriction"] = config.lambda_restriction * self.restriction(x, anomalous)
        if self.known is not None:
            parts["known"] = config.lambda_known * self.known.loss(h, anomalous, weight)
        return parts

    def evidence(self, window: Window) -> Evidence:
        """What the model knows about the events of a Window."""
        h, plain = self.event(window)
        return Evidence(
            self.density(self.project(torch.cat([h, plain], 1))),
            None if self.known is None else self.known(h),
        )

    @torch.no_grad()
    def fit_scales(self, context: Tensor, msg: Tensor, sample: Window, training: int) -> None:
        """Scales of the inputs, bin edges from a sample, and a projection that starts by whitening the event's own numbers.

        In many dimensions whitened normals concentrate near a sphere (the soap bubble of the paper's section on restriction);
        scaled to E‖x‖² = 1 that is the shell between r_min and r_max, and what is rare lies outside from the first step on.
        """
        self.event.fit_scales(context, msg, sample, training)
        if self.event.own is not None:
            plain = self.event.own.values(self.event.scale(sample))
            self.project.weight[:, : self.event.width] *= START_SHARE
            self.project.weight[:, self.event.width :] = whitening(
                plain, self.config.projection, self.config.seed
            )

    @torch.no_grad()
    def fit_units(self, normal: Evidence) -> None:
        """B_n and the spread of ℓ; the high end and the spread of the odds: so that both kinds of evidence have a unit."""
        self.boundary.normal.copy_(_quantile(normal.ell, self.config.alpha))
        self.spread.copy_(_spread(normal.ell))
        if normal.odds is not None:
            self.odds_high.copy_(_quantile(normal.odds, 1 - self.config.alpha))
            self.odds_spread.copy_(_spread(normal.odds))

    def join(self, evidence: Evidence, join: Join) -> Tensor:
        """One ℓ from two kinds of evidence, negative where an event is anomalous.

        Surprise e = (B_n − ℓ)/spread is how far an event lies beyond the normal boundary, f = (odds − high)/spread how far
        its odds lie beyond those of normals; softplus of either is near 0 for normals. One kind leads and ranks everywhere,
        the other adds what it finds outstanding:

        - led by the odds (labels tell the known kinds): ℓ_joint = −(odds + weight · softplus(e)) / d;
        - led by the density (no labels): ℓ_joint = −(e + weight · softplus(f)) / d;
        - led by neither: ℓ_joint = −(softplus(e) + weight · softplus(f)) / d.
        """
        if evidence.odds is None:
            return evidence.ell
        surprise = (self.boundary.normal - evidence.ell) / self.spread
        if join.lead == "odds":
            anomaly = evidence.odds + join.weight * F.softplus(surprise)
        else:
            outstanding = F.softplus((evidence.odds - self.odds_high) / self.odds_spread)
            leading = surprise if join.lead == "density" else F.softplus(surprise)
            anomaly = leading + join.weight * outstanding
        return -anomaly / self.config.projection


def _of_point(loss: Tensor, point: Tensor, x: Tensor) -> Tensor:
    """A loss that was computed at `point`, a copy of x: the same number, with a gradient for x and for nothing else.

    One forward pass of the density serves two losses, each with a backward pass of its own: the likelihood's reaches the flow,
    the boundary's reaches x. Added before that, each would reach both.
    """
    return loss.detach() + (gradient_of_input(loss, point) * (x - x.detach())).sum()


def _quantile(values: Tensor, share: float) -> Tensor:
    ranked = values.sort().values
    return ranked[min(int(share * len(ranked)), len(ranked) - 1)]


def _spread(values: Tensor) -> Tensor:
    return values.std(unbiased=False).clamp(min=LEAST_SPREAD)
