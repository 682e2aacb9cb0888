"""The two boundaries: a running quantile of normals, and losses that pull each class to its own side."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from sdgad.detectors.sdgad.boundary import MOMENTUM, Boundary, Form

FORMS: tuple[Form, ...] = ("bi", "single", "none", "printed")


def softplus(value: float) -> float:
    return math.log1p(math.exp(value))


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def by_hand(form: Form, ell: list[float], anomalous: list[bool], normal: float, tau: float) -> float:
    """The docstring's formulas, and the paper's printed one as it stands, event by event."""
    normals = [e for e, odd in zip(ell, anomalous, strict=True) if not odd]
    anomalies = [e for e, odd in zip(ell, anomalous, strict=True) if odd]
    if form == "none":
        return 0.0
    if form == "printed":
        return sum(abs(min(softplus(e - normal), 0)) for e in normals) + sum(
            abs(max(softplus(e - (normal - tau)), 0)) for e in anomalies
        )
    far = normal - (0.0 if form == "single" else tau)
    return mean([softplus(normal - e) for e in normals if e <= normal]) + mean(
        [softplus(e - far) for e in anomalies if e >= far]
    )


def drawn(count: int = 200, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    ell = torch.randn(count, generator=generator, dtype=torch.float64)
    return ell, torch.rand(count, generator=generator) < 0.3


def boundary_at(value: float, form: Form = "bi", tau: float = 0.5) -> Boundary:
    boundary = Boundary(form, alpha=0.05, tau=tau)
    boundary.normal.fill_(value)
    return boundary


# ---------------------------------------------------------------------- B_n and B_a
@pytest.mark.parametrize(
    ("count", "alpha", "place"),
    [(200, 0.01, 2), (199, 0.01, 1), (200, 0.001, 0), (200, 0.005, 1), (10, 0.5, 5), (1, 0.99, 0)],
)
def test_after_one_batch_the_boundary_is_the_quantile_of_its_normals(
    count: int, alpha: float, place: int
) -> None:
    """The element at ⌊αN⌋ of the N normals in ascending order; anomalies, however low, do not count."""
    ell = torch.cat([torch.randperm(count, generator=torch.Generator().manual_seed(0)), torch.arange(-50, 0)])
    boundary = Boundary("bi", alpha, tau=0.1)
    boundary.follow(ell.float(), ell < 0)
    assert boundary.normal.item() == place
    assert boundary.anomalous.item() == pytest.approx(place - 0.1)


def test_later_batches_move_it_with_momentum() -> None:
    boundary = Boundary("bi", alpha=0.1, tau=0.1)
    expected = 0.0
    for step in range(5):
        ell = drawn(seed=step)[0].float() + 3 * step
        boundary.follow(ell, torch.zeros(len(ell), dtype=torch.bool))
        here = ell.sort().values[20].item()
        expected = here if step == 0 else MOMENTUM * expected + (1 - MOMENTUM) * here
        assert boundary.normal.item() == pytest.approx(expected, rel=1e-6)


def test_a_batch_without_normals_moves_nothing_and_is_no_start() -> None:
    boundary = Boundary("bi", alpha=0.1, tau=0.1)
    everything = torch.ones(4, dtype=torch.bool)
    boundary.follow(torch.full((4,), 9.0), everything)
    assert boundary.normal.item() == 0
    boundary.follow(torch.full((4,), 5.0), ~everything)  # still the first batch that counts
    assert boundary.normal.item() == 5
    boundary.follow(torch.full((4,), 9.0), everything)
    assert boundary.normal.item() == 5


def test_the_running_estimate_is_saved_and_goes_on_where_it_ended() -> None:
    first, second = Boundary("bi", 0.1, 0.1), Boundary("bi", 0.1, 0.1)
    ell, nobody = drawn()[0].float(), torch.zeros(200, dtype=torch.bool)
    first.follow(ell, nobody)
    second.load_state_dict(first.state_dict())
    for boundary in (first, second):
        boundary.follow(ell + 1, nobody)
    assert first.normal.item() == second.normal.item()


def test_following_leaves_no_gradient_behind() -> None:
    ell = torch.randn(20, requires_grad=True)
    boundary = Boundary("bi", 0.1, 0.1)
    boundary.follow(ell, torch.zeros(20, dtype=torch.bool))
    assert not boundary.normal.requires_grad


# ---------------------------------------------------------------------- the loss
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normal", [-1.0, 0.0, 1.5])
def test_every_form_is_its_formula(form: Form, normal: float) -> None:
    ell, anomalous = drawn()
    loss = boundary_at(normal, form)(ell, anomalous)
    expected = by_hand(form, ell.tolist(), anomalous.tolist(), normal, tau=0.5)
    assert loss.item() == pytest.approx(expected, rel=1e-9)


def test_the_forms_differ() -> None:
    ell, anomalous = drawn()
    assert len({boundary_at(0.0, form)(ell, anomalous).item() for form in FORMS}) == len(FORMS)


@pytest.mark.parametrize("form", ["bi", "single"])
def test_violators_are_pushed_to_their_side_and_nobody_else_moves(form: Form) -> None:
    ell, anomalous = drawn()
    ell.requires_grad_()
    boundary = boundary_at(0.0, form)
    boundary(ell, anomalous).backward()
    assert ell.grad is not None
    low_normal = ~anomalous & (ell <= 0)
    high_anomaly = anomalous & (ell >= boundary.anomalous)
    assert low_normal.any()
    assert high_anomaly.any()
    assert (ell.grad[low_normal] < 0).all()  # a step down the gradient raises ℓ
    assert (ell.grad[high_anomaly] > 0).all()
    assert not ell.grad[~low_normal & ~high_anomaly].any()


def test_as_printed_normals_get_no_gradient() -> None:
    """The paper's slip: softplus is positive, so |min(softplus(·), 0)| is 0 for every normal."""
    ell, anomalous = drawn()
    ell.requires_grad_()
    boundary_at(0.0, "printed")(ell, anomalous).backward()
    assert ell.grad is not None
    assert not ell.grad[~anomalous].any()
    assert (ell.grad[anomalous] > 0).all()  # violators or not


@pytest.mark.parametrize("form", FORMS)
def test_no_violator_or_no_event_at_all_costs_nothing(form: Form) -> None:
    boundary = boundary_at(0.0, form)
    empty, nobody = torch.zeros(0), torch.zeros(0, dtype=torch.bool)
    assert boundary(empty, nobody).item() == 0
    safe = torch.tensor([0.5, 2.0])
    assert boundary(safe, torch.tensor([False, False])).item() == 0
    if form != "printed":
        assert boundary(-safe - 1, torch.tensor([True, True])).item() == 0
