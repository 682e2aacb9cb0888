"""Densities of normal representations, by name: normalizing flows, and a Gaussian as the one that is no flow."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.detectors.sdgad.coupling import CouplingFlow, start_at_identity
from sdgad.registry import Registry

LOWEST = -50.0  # of ℓ, as far as a loss takes it at its word


class DensityModel(nn.Module, ABC):
    """p(x) through a latent z: log p(x) = log N(z; 0, I) + log |det ∂z/∂x| (paper, equation of the log-likelihood)."""

    name: ClassVar[str]

    def __init__(self, width: int, transforms: int) -> None:
        super().__init__()
        self.width = width
        self.transforms = transforms

    @abstractmethod
    def latent(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """z and log |det ∂z/∂x|."""

    def forward(self, x: Tensor) -> Tensor:
        """ℓ = log p(x) / d per event: one definition for loss, boundary and score.

        Normals lie near the unit sphere, so their coordinates are of size 1/√d; the latent map sees √d·x, of size 1.
        """
        z, log_det = self.latent(x * self.width**0.5)
        log_prob = -0.5 * (z.square().sum(-1) + self.width * math.log(2 * math.pi / self.width)) + log_det
        return log_prob / self.width


def tamed(ell: Tensor) -> Tensor:
    """ℓ in a loss: as it is down to −50, and from there on −50 − log(1 − 50 − ℓ), whose gradient fades.

    Six blocks may stretch what lies off the shell of normals by 10¹⁸. As it stands, one such event among normals decides the
    step, and the next batch holds more of them: at published sizes training ended at a mean likelihood of −10¹⁸.
    """
    beyond = (LOWEST - ell).clamp(min=0.0)
    return ell.clamp(min=LOWEST) - beyond.log1p()


densities: Registry[DensityModel] = Registry("density", "sdgad.densities", base=DensityModel)


class ZukoFlow(DensityModel):
    """A normalizing flow from zuko."""

    def __init__(self, width: int, transforms: int) -> None:
        super().__init__(width, transforms)
        self.flow = self.make_flow()
        start_at_identity(self.flow)

    @abstractmethod
    def make_flow(self) -> Any:
        """The zuko flow."""

    def latent(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z, log_det = self.flow.transform(None).call_and_ladj(x)
        return z, log_det


@densities.register("realnvp")
class RealNVP(DensityModel):
    """Coupling blocks with two-layer subnetworks, as in the paper (appendix on complexity: six of them)."""

    def __init__(self, width: int, transforms: int) -> None:
        super().__init__(width, transforms)
        self.flow = CouplingFlow(width, transforms)

    def latent(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z, log_det = self.flow(x)
        return z, log_det


@densities.register("maf")
class MaskedAutoregressive(ZukoFlow):
    """A masked autoregressive flow: more expressive per block, one pass for densities."""

    def make_flow(self) -> Any:
        from zuko import flows

        return flows.MAF(self.width, transforms=self.transforms, hidden_features=(self.width, self.width))


@densities.register("nsf")
class NeuralSpline(ZukoFlow):
    """A neural spline flow: monotonic splines instead of affine maps."""

    def make_flow(self) -> Any:
        from zuko import flows

        return flows.NSF(
            self.width, transforms=max(1, self.transforms // 2), hidden_features=(self.width, self.width)
        )


@densities.register("gaussian")
class Gaussian(DensityModel):
    """One Gaussian with full covariance, x = m + L⁻¹ z: what the flow has to beat."""

    def __init__(self, width: int, transforms: int) -> None:
        super().__init__(width, transforms)
        self.mean = nn.Parameter(torch.zeros(width))
        self.log_scale = nn.Parameter(torch.zeros(width))
        self.lower = nn.Parameter(torch.zeros(width, width))

    def latent(self, x: Tensor) -> tuple[Tensor, Tensor]:
        centred = x - self.mean
        z = (centred + centred @ torch.tril(self.lower, -1).T) * self.log_scale.exp()
        return z, self.log_scale.sum().expand(len(x))
