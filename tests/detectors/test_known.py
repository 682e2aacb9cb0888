"""The centre of known anomalies: linear log-odds, learned by a weighted cross-entropy that reaches the encoder."""

from __future__ import annotations

import math

import pytest
import torch

from sdgad.detectors.sdgad.known import KnownCentre


@pytest.fixture
def known() -> KnownCentre:
    torch.manual_seed(0)
    return KnownCentre(4)


def test_the_log_odds_are_linear_in_h(known: KnownCentre) -> None:
    a, b = torch.randn(2, 7, 4)
    origin = known(torch.zeros(1, 4))
    torch.testing.assert_close(
        known(2 * a - 3 * b) - origin, 2 * (known(a) - origin) - 3 * (known(b) - origin)
    )
    assert known(a).shape == (7,)
    assert known(a).std() > 0


def test_the_loss_is_the_weighted_cross_entropy_event_by_event(known: KnownCentre) -> None:
    h = torch.randn(30, 4)
    anomalous = torch.rand(30) < 0.4
    weight = torch.rand(30) * 3
    total = 0.0
    for odds, odd, w in zip(known(h).tolist(), anomalous.tolist(), weight.tolist(), strict=True):
        probability = 1 / (1 + math.exp(-odds))
        total -= w * math.log(probability if odd else 1 - probability)
    expected = total / weight.sum().item()
    assert known.loss(h, anomalous, weight).item() == pytest.approx(expected, rel=1e-5)


def test_an_event_of_weight_two_counts_as_two_and_one_of_weight_zero_not_at_all(known: KnownCentre) -> None:
    h, anomalous = torch.randn(4, 4), torch.tensor([True, False, True, False])
    weighted = known.loss(h, anomalous, torch.tensor([2.0, 1.0, 0.0, 1.0]))
    rows = [0, 0, 1, 3]
    torch.testing.assert_close(weighted, known.loss(h[rows], anomalous[rows], torch.ones(4)))


def test_its_gradient_reaches_h_and_separates_the_classes(known: KnownCentre) -> None:
    h = torch.randn(6, 4, requires_grad=True)
    anomalous = torch.tensor([True, False] * 3)
    known.loss(h, anomalous, torch.ones(6)).backward()
    assert h.grad is not None
    moved = known(h - 0.1 * h.grad) - known(h)
    assert (moved[anomalous] > 0).all()
    assert (moved[~anomalous] < 0).all()


def test_nobody_with_a_say_costs_nothing(known: KnownCentre) -> None:
    assert known.loss(torch.randn(3, 4), torch.tensor([True, False, True]), torch.zeros(3)).item() == 0
    assert known.loss(torch.randn(0, 4), torch.zeros(0, dtype=torch.bool), torch.zeros(0)).item() == 0


def test_trained_on_two_gaussians_it_is_their_log_likelihood_ratio_plus_the_log_odds_of_the_prior() -> None:
    """w = Σ⁻¹(m₁ − m₀), b = log(prior odds) − (m₁ᵀΣ⁻¹m₁ − m₀ᵀΣ⁻¹m₀) / 2."""
    torch.manual_seed(1)
    root = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    precision = torch.linalg.inv(root @ root.T)
    normal, anomaly = torch.tensor([0.3, -0.2]), torch.tensor([1.0, 0.9])
    anomalous = torch.arange(40_000) < 8_000
    h = torch.where(anomalous[:, None], anomaly, normal) + torch.randn(len(anomalous), 2) @ root.T
    known = KnownCentre(2)
    optimiser = torch.optim.LBFGS(known.parameters(), max_iter=50)

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = known.loss(h, anomalous, torch.ones(len(h)))
        loss.backward()
        return loss

    optimiser.step(closure)
    weight = precision @ (anomaly - normal)
    bias = math.log(8 / 32) - (anomaly @ precision @ anomaly - normal @ precision @ normal).item() / 2
    torch.testing.assert_close(known.ratio.weight[0].detach(), weight, atol=0.08, rtol=0)
    assert known.ratio.bias.item() == pytest.approx(bias, abs=0.08)
