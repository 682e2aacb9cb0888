"""The training loop keeps the best epoch, stops in time, and survives Ctrl-C."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from sdgad.detectors.record import Record
from sdgad.detectors.step import Schedule, Step
from sdgad.detectors.training import train

BATCHES = 3
SCHEDULE = {"epochs": 6, "patience": 10, "learning_rate": 0.05, "weight_decay": 0.0}


class Line(nn.Module):
    """A regression, with a buffer that counts the batches it saw."""

    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.inner = nn.Linear(3, 4)
        self.outer = nn.Linear(4, 1)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.outer(torch.tanh(self.inner(x)))
        return out[:, 0]


def copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


class Run:
    """One training of a Line whose validation figures are given; keeps what was seen on the way."""

    def __init__(self, select: list[float], *, stop_at: tuple[int, int] | None = None) -> None:
        self.select = select
        self.stop_at = stop_at  # epoch and batch in which Ctrl-C is pressed
        self.model = Line()
        self.before_step: list[dict[str, Tensor]] = []
        self.validated: list[dict[str, Tensor]] = []
        self.in_training: list[bool] = []
        self.in_validation: list[bool] = []
        self.epoch = self.batch = 0

    def batches(self, epoch: int) -> Iterator[Tensor]:
        self.epoch, self.batch = epoch, 0
        generator = torch.Generator().manual_seed(epoch)
        return iter([torch.randn(8, 3, generator=generator) for _ in range(BATCHES)])

    def losses(self, x: Tensor) -> dict[str, Tensor]:
        self.batch += 1
        if self.stop_at == (self.epoch, self.batch):
            raise KeyboardInterrupt
        self.in_training.append(self.model.training)
        self.before_step.append(copy(self.model))
        self.model.seen += 1
        error = (self.model(x) - x.sum(1)).square().mean()
        return {"error": error, "size": 0.01 * self.model.outer.weight.square().sum()}

    def validate(self) -> dict[str, float]:
        self.in_validation.append(self.model.training)
        assert not torch.is_grad_enabled()
        self.validated.append(copy(self.model))
        return {"select": self.select[len(self.validated) - 1]}

    def __call__(self, *, progress: bool = False, **schedule: float) -> Record:
        plan = Schedule(**{**SCHEDULE, **schedule})  # type: ignore[arg-type]
        step = Step(self.model, plan, self.losses)
        return train(self.model, plan, self.batches, BATCHES, step, self.validate, progress=progress)


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def differ(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return any(not torch.equal(value, other[name]) for name, value in one.items())


# ---------------------------------------------------------------------- which epoch is kept
@pytest.mark.parametrize("average", [0.0, 0.9])
def test_the_weights_and_buffers_of_the_best_epoch_are_kept_not_the_last(average: float) -> None:
    run = Run([0.1, 0.5, 0.9, 0.3, 0.2, 0.1])
    record = run(average=average)
    assert record.best_epoch == 3
    assert [entry["epoch"] for entry in record.epochs] == [1, 2, 3, 4, 5, 6]
    assert_same(copy(run.model), run.validated[2])
    assert differ(run.validated[2], run.validated[5])
    assert run.model.seen == 3 * BATCHES
    assert not run.model.training


def test_of_equal_epochs_the_earlier_is_kept() -> None:
    run = Run([0.1, 0.7, 0.7, 0.7, 0.2, 0.7])
    assert run().best_epoch == 2
    assert_same(copy(run.model), run.validated[1])


@pytest.mark.parametrize(("patience", "epochs"), [(1, 3), (2, 4), (3, 6), (10, 6)])
def test_patience_counts_the_epochs_since_the_best(patience: int, epochs: int) -> None:
    run = Run([0.1, 0.6, 0.5, 0.4, 0.7, 0.1])
    record = run(patience=patience)
    assert len(record.epochs) == epochs
    assert record.best_epoch == (5 if epochs > 4 else 2)


def test_negative_figures_and_figures_that_are_no_number_lose_to_better_ones() -> None:
    assert Run([-3.0, -1.0, -2.0, -4.0, -5.0, -6.0])().best_epoch == 2
    assert Run([math.nan, -math.inf, 0.1, math.nan, 0.05, 0.0])().best_epoch == 3
    assert Run([math.nan] * 6)().best_epoch == 1


def test_the_model_learns_in_training_mode_and_is_judged_in_evaluation_mode() -> None:
    run = Run([0.0] * 6)
    run()
    assert all(run.in_training)
    assert not any(run.in_validation)
    assert not run.model.training


def test_the_record_holds_mean_loss_parts_and_figures_of_every_epoch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run, parts = Run([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), []
    original = run.losses

    def losses(x: Tensor) -> dict[str, Tensor]:
        found = original(x)
        parts.append({name: value.item() for name, value in found.items()})
        return found

    run.losses = losses  # type: ignore[method-assign]
    with caplog.at_level(logging.INFO, "sdgad.training"):
        record = run()
    for epoch, entry in enumerate(record.epochs):
        here = parts[epoch * BATCHES : (epoch + 1) * BATCHES]
        for name in ("error", "size"):
            assert entry[name] == pytest.approx(sum(part[name] for part in here) / BATCHES, rel=1e-5)
        assert entry["select"] == run.select[epoch]
    assert record.epochs[-1]["error"] < record.epochs[0]["error"]
    assert "epoch 6: error" in caplog.text


# ---------------------------------------------------------------------- Ctrl-C
@pytest.mark.parametrize("average", [0.0, 0.9])
def test_an_interrupted_training_keeps_the_best_epoch_so_far(average: float) -> None:
    run = Run([0.2, 0.8, 0.5], stop_at=(4, 2))
    record = run(average=average)
    assert record.interrupted
    assert (record.best_epoch, len(record.epochs)) == (2, 3)
    assert_same(copy(run.model), run.validated[1])
    assert not run.model.training


def test_interrupted_in_its_first_epoch_it_keeps_what_was_learned(caplog: pytest.LogCaptureFixture) -> None:
    run = Run([], stop_at=(1, 3))
    with caplog.at_level(logging.WARNING, "sdgad.training"):
        record = run()
    assert record.interrupted
    assert (record.best_epoch, record.epochs) == (0, [])
    assert "interrupted" in caplog.text
    assert differ(copy(run.model), run.before_step[0])
    assert run.model.seen == 2


def test_interrupted_in_validation_it_keeps_the_best_epoch_so_far() -> None:
    run = Run([0.2, 0.1])
    original = run.validate

    def validate() -> dict[str, float]:
        if len(run.validated) == 2:
            raise KeyboardInterrupt
        return original()

    run.validate = validate  # type: ignore[method-assign]
    record = run(average=0.9)
    assert record.interrupted
    assert_same(copy(run.model), run.validated[0])


def test_a_training_that_ends_by_itself_is_not_marked() -> None:
    assert not Run([0.1] * 6)().interrupted


# ---------------------------------------------------------------------- running average
@pytest.mark.parametrize("decay", [0.5, 0.99])
def test_the_running_average_is_that_of_a_plain_computation(decay: float) -> None:
    """w̄ ← β w̄ + (1 − β) w after every step, β = min(decay, n / (n + 10)) at step n; raw weights go their way."""
    epochs = 4
    averaged, raw = Run([0.1, 0.2, 0.3, 0.4]), Run([0.1, 0.2, 0.3, 0.4])
    averaged(epochs=epochs, average=decay)
    raw(epochs=epochs)
    path = [*raw.before_step, copy(raw.model)]  # weights before the first step and after each
    for one, other in zip(averaged.before_step, raw.before_step, strict=True):
        assert_same(one, other)
    for name, _ in raw.model.named_parameters():
        mean = path[0][name].double()
        for step, weights in enumerate(path[1:], 1):
            beta = min(decay, step / (step + 10))
            mean = beta * mean + (1 - beta) * weights[name].double()
            if step % BATCHES == 0:
                validated = averaged.validated[step // BATCHES - 1][name]
                torch.testing.assert_close(validated.double(), mean, rtol=1e-5, atol=1e-6)
        assert not torch.equal(averaged.model.state_dict()[name], raw.model.state_dict()[name])


# ---------------------------------------------------------------------- optimiser
def step_once(
    model: nn.Module, loss: Callable[[], Tensor], clip_apart: tuple[nn.Module, ...] = (), **schedule: float
) -> None:
    plan = Schedule(**{**SCHEDULE, "epochs": 1, **schedule})  # type: ignore[arg-type]
    step: Step[None] = Step(model, plan, lambda _: {"loss": loss()}, clip_apart)
    train(model, plan, lambda _: [None], 1, step, lambda: {"select": 0.0})


def test_weight_decay_acts_on_matrices_alone() -> None:
    model = Line()
    model.outer.weight.requires_grad_(False)
    before = copy(model)
    step_once(
        model, lambda: 0.0 * sum(p.sum() for p in model.parameters()), learning_rate=0.1, weight_decay=0.5
    )
    after = copy(model)
    torch.testing.assert_close(after["inner.weight"], before["inner.weight"] * (1 - 0.1 * 0.5))
    for name in ("inner.bias", "outer.bias", "outer.weight"):  # vectors, and what is frozen
        assert torch.equal(after[name], before[name]), name
    assert before["inner.bias"].any()


def test_gradients_are_clipped_in_groups_apart() -> None:
    """The large gradient of one module does not shrink that of another."""
    model = nn.ModuleList([nn.Linear(2, 2) for _ in range(4)])
    size = [1e3, 1e-2, 1e4, 1e-3]  # summed over the parameters of each: norms √6 times that

    def loss() -> Tensor:
        return sum(
            s * torch.cat([p.flatten() for p in m.parameters()]).sum()
            for s, m in zip(size, model, strict=True)
        )

    def norm(*modules: nn.Module) -> float:
        return torch.cat([p.grad.flatten() for m in modules for p in m.parameters()]).norm().item()

    step_once(model, loss, clip=0.5, clip_apart=(model[2], model[3]))
    assert norm(model[0], model[1]) == pytest.approx(0.5, rel=1e-4)
    assert norm(model[1]) == pytest.approx(0.5e-5, rel=1e-3)  # shares the group of a large one
    assert norm(model[2]) == pytest.approx(0.5, rel=1e-4)
    assert norm(model[3]) == pytest.approx(6**0.5 * 1e-3, rel=1e-3)  # small, and left alone


# ---------------------------------------------------------------------- progress
def test_a_progress_bar_needs_no_terminal_writes_nothing_to_stdout_and_changes_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    quiet, shown = Run([0.1, 0.3, 0.2, 0.1, 0.1, 0.1]), Run([0.1, 0.3, 0.2, 0.1, 0.1, 0.1])
    one, other = quiet(), shown(progress=True)
    assert (one.epochs, one.best_epoch) == (other.epochs, other.best_epoch)
    assert_same(copy(quiet.model), copy(shown.model))
    written = capfd.readouterr()
    assert written.out == ""
    assert "error" in written.err  # loss parts by name


def test_an_interrupted_bar_is_taken_down() -> None:
    record = Run([0.2], stop_at=(2, 1))(progress=True)
    assert record.interrupted
    assert Run([0.1] * 6)(progress=True).best_epoch == 1  # a second bar could not start beside a live one
