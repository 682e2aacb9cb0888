"""The restriction: normals into the shell from both sides, anomalies out of it, each averaged over its violators."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from sdgad.detectors.sdgad.restriction import Restriction, radius

SHELL = Restriction(r_max=0.4, gamma=0.9, margin=0.1)  # r_min 0.36, r' 0.5
CAP = 3.0  # of the exponent in the weight of a violation


def at(*radii: float, width: int = 5, seed: int = 0) -> Tensor:
    """Points with these n(x), in random directions: n = √(‖x‖² + 1) − 1, so ‖x‖ = √((n + 1)² − 1)."""
    n = torch.tensor(radii, dtype=torch.float64)
    direction = torch.randn(len(n), width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    direction /= direction.norm(dim=1, keepdim=True)
    return (direction * ((n + 1) ** 2 - 1).sqrt()[:, None]).requires_grad_()


def violation(n: float, anomalous: bool, shell: Restriction) -> float:
    """δ, negative where nothing is violated."""
    if anomalous:
        return shell.r_max + shell.margin - n
    return max(n - shell.r_max, shell.gamma * shell.r_max - n)


def by_hand(x: Tensor, anomalous: Tensor, shell: Restriction) -> tuple[float, Tensor]:
    """The loss event by event, and its gradient with the exponential as a constant weight."""
    costs: dict[bool, list[float]] = {False: [], True: []}
    slopes: dict[bool, list[tuple[int, Tensor]]] = {False: [], True: []}
    for i, (point, odd) in enumerate(zip(x.detach(), anomalous.tolist(), strict=True)):
        n = math.sqrt(sum(v * v for v in point.tolist()) + 1) - 1
        delta = violation(n, odd, shell)
        if delta < 0:
            continue
        weight = math.exp(min(delta, CAP))
        costs[odd].append(math.log1p(math.exp(delta)) * weight)
        outwards = 1.0 if not odd and n > shell.r_max else -1.0  # sign of ∂δ/∂n
        slopes[odd].append((i, outwards * weight / (1 + math.exp(-delta)) * point / (n + 1)))
    gradient = torch.zeros_like(x)
    for group in slopes.values():
        for i, slope in group:
            gradient[i] = slope / len(group)
    return sum(sum(group) / max(len(group), 1) for group in costs.values()), gradient


@pytest.mark.parametrize("shell", [Restriction(), SHELL, Restriction(r_max=1.0, gamma=0.5, margin=0.4)])
def test_loss_and_gradient_are_those_of_the_formula_event_by_event(shell: Restriction) -> None:
    generator = torch.Generator().manual_seed(1)
    x = at(*(2 * torch.rand(40, generator=generator, dtype=torch.float64)).tolist(), 6.0, 9.0)
    anomalous = torch.rand(len(x), generator=generator) < 0.4
    anomalous[-2:] = False  # two far outliers, one on either side of the cap
    loss = shell(x, anomalous)
    loss.backward()
    expected, gradient = by_hand(x, anomalous, shell)
    assert loss.item() == pytest.approx(expected, rel=1e-10)
    torch.testing.assert_close(x.grad, gradient, rtol=1e-9, atol=1e-12)


def test_the_radius_is_the_pseudo_huber_norm_and_smooth_at_the_origin() -> None:
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0]], requires_grad=True)
    torch.testing.assert_close(radius(x), torch.tensor([0.0, math.sqrt(2) - 1, math.sqrt(26) - 1]))
    radius(x).sum().backward()
    assert x.grad is not None
    assert x.grad[0].tolist() == [0.0, 0.0]


def test_normals_in_the_shell_and_anomalies_beyond_it_cost_nothing() -> None:
    x = at(0.361, 0.38, 0.399, 0.501, 2.0)
    loss = SHELL(x, torch.tensor([False, False, False, True, True]))
    loss.backward()
    assert loss.item() == 0
    assert x.grad is not None
    assert not x.grad.any()


@pytest.mark.parametrize(("n", "anomalous"), [(0.35, False), (0.41, False), (0.38, True), (0.49, True)])
def test_just_outside_its_region_every_event_costs(n: float, anomalous: bool) -> None:
    assert SHELL(at(n), torch.tensor([anomalous])).item() >= math.log(2)


@pytest.mark.parametrize("n", [0.05, 0.2, 0.7, 3.0])
def test_a_step_down_the_gradient_brings_a_normal_closer_to_the_shell_from_both_sides(n: float) -> None:
    x = at(n)
    SHELL(x, torch.tensor([False])).backward()
    assert x.grad is not None
    moved = radius(x - 0.01 * x.grad).item()
    assert moved > n if n < 0.36 else moved < n


@pytest.mark.parametrize("n", [0.05, 0.38, 0.45])
def test_a_step_down_the_gradient_pushes_an_anomaly_outwards(n: float) -> None:
    x = at(n)
    SHELL(x, torch.tensor([True])).backward()
    assert x.grad is not None
    assert radius(x - 0.01 * x.grad).item() > n


def test_one_anomaly_is_heard_among_many_normals_and_satisfied_events_do_not_dilute() -> None:
    alone = SHELL(at(0.1), torch.tensor([True])).item()
    crowd = at(*[0.38] * 500, 0.1, *[0.9] * 30)
    anomalous = torch.zeros(len(crowd), dtype=torch.bool)
    anomalous[-30:] = True  # beyond r'
    anomalous[500] = True
    assert SHELL(crowd, anomalous).item() == pytest.approx(alone)
    violating = at(*[0.8] * 200, 0.1)
    normals = SHELL(violating[:200], torch.zeros(200, dtype=torch.bool)).item()
    both = SHELL(violating, torch.arange(201) == 200).item()
    assert both == pytest.approx(alone + normals)


@pytest.mark.parametrize("anomalous", [[False, False], [True, True], []])
def test_a_batch_without_one_of_the_classes_or_without_events_is_finite(anomalous: list[bool]) -> None:
    x = at(*[0.2] * len(anomalous))
    loss = SHELL(x, torch.tensor(anomalous, dtype=torch.bool))
    loss.backward()
    assert x.grad is not None
    assert torch.isfinite(loss)
    assert torch.isfinite(x.grad).all()


def test_a_far_outlier_and_the_origin_keep_the_gradient_finite() -> None:
    x = torch.tensor([[1e6, 0.0], [0.0, 0.0]], requires_grad=True)
    SHELL(x, torch.tensor([False, False])).backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()
    assert x.grad.norm() <= math.exp(CAP)
