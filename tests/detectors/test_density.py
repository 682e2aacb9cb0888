"""Densities: true log-determinants, mass one, a start at the standard Gaussian, and flows that can be frozen."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from sdgad.detectors.precision import gradient_of_input
from sdgad.detectors.sdgad.coupling import CouplingFlow
from sdgad.detectors.sdgad.density import LOWEST, DensityModel, densities, tamed

WIDTH = 4


@pytest.fixture(params=densities.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(name: str, width: int = WIDTH, *, away: float = 0.4, seed: int = 0) -> DensityModel:
    """A density, in float64, whose parameters are this far from their start."""
    torch.manual_seed(seed)
    model = densities.get(name)(width, 4).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=away)
    return model


def points(count: int, width: int = WIDTH, seed: int = 1) -> Tensor:
    return torch.randn(count, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def numerical_jacobian(model: DensityModel, x: Tensor, step: float = 1e-5) -> Tensor:
    """∂z/∂x at one point by central differences."""
    moves = step * torch.eye(len(x), dtype=x.dtype)
    return ((model.latent(x + moves)[0] - model.latent(x - moves)[0]) / (2 * step)).T


def test_the_registry_knows_flows_and_one_density_that_is_none() -> None:
    assert {"realnvp", "gaussian"} <= set(densities.names())


@pytest.mark.parametrize("seed", range(3))
def test_the_log_determinant_is_that_of_a_numerical_jacobian(name: str, seed: int) -> None:
    model = make(name, seed=seed)
    x = points(6)
    _, log_det = model.latent(x)
    assert log_det.abs().max() > 0.05  # the perturbation did something
    for point, value in zip(x, log_det.tolist(), strict=True):
        jacobian = numerical_jacobian(model, point)
        assert value == pytest.approx(torch.linalg.slogdet(jacobian).logabsdet.item(), abs=1e-4)


def test_a_perturbed_density_mixes_the_coordinates(name: str) -> None:
    """Otherwise the Jacobian above would be diagonal, and its determinant easy."""
    jacobian = numerical_jacobian(make(name), points(1)[0])
    assert (jacobian - jacobian.diag().diag()).abs().max() > 0.01


@pytest.mark.parametrize("width", [2, WIDTH, 7])
def test_it_starts_as_the_standard_gaussian_of_root_d_times_x(name: str, width: int) -> None:
    model = make(name, width, away=0.0)
    x = points(20, width)
    y = math.sqrt(width) * x
    gaussian = torch.distributions.Normal(0.0, 1.0).log_prob(y).sum(1) + width * math.log(math.sqrt(width))
    torch.testing.assert_close(model(x), gaussian / width)
    _, log_det = model.latent(y)
    torch.testing.assert_close(log_det, torch.zeros_like(log_det))


@pytest.mark.parametrize("away", [0.0, 0.2])
@torch.no_grad()
def test_its_mass_is_one(name: str, away: float) -> None:
    """∫ exp(d·ℓ(x)) dx = 1: the constant, the factor √d and the division by d are all right."""
    axis = torch.linspace(-10, 10, 401, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    cell = (axis[1] - axis[0]).item() ** 2
    mass = (2 * make(name, 2, away=away)(grid)).exp().sum().item() * cell
    assert mass == pytest.approx(1, abs=1e-3)


def test_freezing_lets_gradient_through_but_not_in_and_leaves_no_trace(name: str) -> None:
    model = make(name)
    already = next(model.parameters()).requires_grad_(False)
    before = [p.requires_grad for p in model.parameters()]
    assert any(before)

    x = points(5).requires_grad_()
    model(x).sum().backward()
    open_gradient = x.grad
    assert open_gradient is not None
    assert any(p.grad is not None for p in model.parameters())

    model.zero_grad(set_to_none=True)
    found = gradient_of_input(model(x).sum(), x)
    torch.testing.assert_close(found, open_gradient)
    assert found.abs().min() > 0
    assert all(p.grad is None for p in model.parameters())
    assert [p.requires_grad for p in model.parameters()] == before
    assert not already.requires_grad


@pytest.mark.parametrize("width", [2, 5, 48])
@pytest.mark.parametrize("transforms", [1, 2, 6])
def test_the_coupling_flow_computes_what_zukos_does_under_the_same_names(width: int, transforms: int) -> None:
    """z (but for the order of its coordinates), log-determinant, and the gradients of point and weights."""
    from zuko import flows

    torch.manual_seed(0)
    oracle = flows.RealNVP(width, transforms=transforms, hidden_features=(width, width)).double()
    for parameter in oracle.parameters():
        nn.init.normal_(parameter, std=width**-0.5)
    own = CouplingFlow(width, transforms).double()
    own.load_state_dict(oracle.state_dict())
    assert own.state_dict().keys() == oracle.state_dict().keys()
    x = torch.randn(7, width, dtype=torch.float64).requires_grad_()
    y = x.detach().clone().requires_grad_()
    z, log_det = own(x)
    order = torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    expected, ladj = oracle.transform(None).call_and_ladj(y)
    torch.testing.assert_close(z, expected[:, order], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(log_det, ladj, rtol=1e-9, atol=1e-9)
    for value in (z.square().sum() + log_det.sum(), expected.square().sum() + ladj.sum()):
        value.backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-9, atol=1e-9)
    for (name, one), other in zip(own.named_parameters(), oracle.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-9, atol=1e-9, msg=name)


def test_maximum_likelihood_finds_a_shifted_and_stretched_cloud(name: str) -> None:
    """Trained, ℓ of the data is much nearer to the truth than at the start."""
    torch.manual_seed(0)
    cloud = torch.randn(800, 2) @ torch.tensor([[0.3, 0.25], [0.0, 0.1]]) + torch.tensor([0.8, -0.5])
    truth = torch.distributions.MultivariateNormal(cloud.mean(0), cloud.T.cov()).log_prob(cloud).mean() / 2
    model = densities.get(name)(2, 4)
    start = model(cloud).mean().item()
    optimiser = torch.optim.Adam(model.parameters(), 0.03)
    for _ in range(150):
        loss = -model(cloud).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    end = model(cloud).mean().item()
    assert end > start + 0.5 * (truth.item() - start)


def test_a_loss_takes_a_density_at_its_word_but_for_absurd_ones_whose_gradient_fades() -> None:
    ell = torch.tensor([3.0, -49.0, -51.0, -1e6, -1e20], requires_grad=True)
    found = tamed(ell)
    found.sum().backward()
    assert found[:2].tolist() == ell[:2].tolist()
    assert found[2:].tolist() == pytest.approx([LOWEST - math.log1p(each) for each in (1, 1e6 - 50, 1e20)])
    assert ell.grad is not None
    assert ell.grad.tolist() == pytest.approx([1, 1, 1 / 2, 1e-6, 1e-20], rel=1e-3)


def test_one_absurd_event_among_normals_does_not_decide_the_step() -> None:
    torch.manual_seed(0)
    flow = CouplingFlow(6, 6)
    for parameter in flow.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # a flow that stretches what lies far out
    density = densities.get("realnvp")(6, 6)
    density.flow = flow  # type: ignore[assignment]
    usual = 0.1 * torch.randn(99, 6)

    def gradient(x: Tensor) -> Tensor:
        flow.zero_grad()
        (-tamed(density(x))).mean().backward()
        return torch.cat(
            [parameter.grad.flatten() for parameter in flow.parameters() if parameter.grad is not None]
        )

    absurd = torch.full((1, 6), 1e3)
    assert density(absurd).item() < 1e3 * LOWEST
    alone, beside = gradient(usual), gradient(torch.cat([usual, absurd]))
    assert torch.cosine_similarity(alone, beside, dim=0) > 0.9
