"""The autoencoder of NetWalk (Yu et al., KDD 2018): nodes that stand in one walk lie close, and each is still told apart."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

TABLES = ("encoder", "encoder_bias", "decoder", "decoder_bias")


class Autoencoder(nn.Module):
    """Code h = σ(W₁ x + b₁) of a node x given as one of N; reconstruction σ(W₂ h + b₂), N numbers.

    One-hot nodes make W₁ and W₂ tables with a row per node, which grow by a row for every newcomer.
    """

    def __init__(self, tables: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.encoder, self.encoder_bias, self.decoder, self.decoder_bias = (
            nn.Parameter(tables[name].clone()) for name in TABLES
        )

    def tables(self) -> dict[str, Tensor]:
        return {name: getattr(self, name).detach() for name in TABLES}

    def codes(self, node: Tensor) -> Tensor:
        return torch.sigmoid(self.encoder[node] + self.encoder_bias)

    def losses(
        self, walks: Tensor, others: Tensor, *, gamma: float, beta: float, rho: float, decay: float
    ) -> dict[str, Tensor]:
        """Clique + γ/2 reconstruction + β sparsity + λ/2 decay, of walks `[B, l]` (section 3.2 of the paper).

        The reconstruction error is the sum over outputs: 1 is due at the node itself, 0 at all `others`.
        """
        code = self.codes(walks)
        flat, node = code.flatten(0, 1), walks.flatten()
        own = torch.sigmoid((flat * self.decoder[node]).sum(1) + self.decoder_bias[node])
        rest = torch.sigmoid(flat @ self.decoder[others].T + self.decoder_bias[others])
        zeros = (rest.square() * (others[None] != node[:, None])).sum(1)
        return {
            "clique": clique(code).mean(),
            "reconstruction": gamma / 2 * ((1 - own).square() + zeros).mean(),
            "sparsity": beta * divergence(rho, flat.mean(0)).mean(),
            "decay": decay / 2 * (self.encoder.square().mean() + self.decoder.square().mean()),
        }


def clique(code: Tensor) -> Tensor:
    """Σ over pairs of a walk of ‖h_a − h_b‖², `[B]` of codes `[B, l, d]`: l Σ ‖h‖² − ‖Σ h‖²."""
    return code.shape[1] * code.square().sum((1, 2)) - code.sum(1).square().sum(1)


def divergence(rho: float, mean: Tensor) -> Tensor:
    """KL(ρ ‖ mean) of two coins, for each unit."""
    mean = mean.clamp(1e-6, 1 - 1e-6)
    return rho * (rho / mean).log() + (1 - rho) * ((1 - rho) / (1 - mean)).log()
