"""The quick step is the plain one: examples, losses, gradients, clipping, AdamW, and scores under equal weights.

The plain path is written out here: Windows one kind after the other, a flow of zuko, two passes through it with the flow
frozen in the second, a quantile that asks for numbers, torch's own clipping and AdamW. On a GPU, the recorded step is compared
with the same step run plainly.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.detectors import make_detector
from sdgad.detectors.baselines.sad.model import SADModel
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.detectors.learned.examples import FEW_WEIGHT, PSEUDO_WEIGHT, ExampleMaker, Examples
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.detectors.registry import detectors
from sdgad.detectors.sdgad.detector import SDGAD
from sdgad.detectors.sdgad.model import SDGADModel
from sdgad.detectors.step import Schedule, Step
from sdgad.detectors.task import Task
from sdgad.encoders.base import encoders
from sdgad.events.simulator import simulate_payments
from sdgad.history.window import Window

EVENTS = simulate_payments(700, anomaly_rate=0.05, seed=1)
TRAIN, VAL, TEST = EVENTS.split(train=0.5, val=0.25)
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
LEARNED = [name for name in detectors.names() if issubclass(detectors.get(name), LearnedDetector)]
RESIDENTS = [
    (detector, encoder)
    for detector in LEARNED
    for encoder in (encoders.names() if detector in ("sdgad", "classifier") else ["default"])
]
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def make(detector: str, encoder: str, device: str, **options: Any) -> LearnedDetector:
    chosen = {} if encoder == "default" else {"encoder": encoder}
    made = make_detector(
        detector, **{**detectors.get(detector).check_options, "batch": 48, "precision": "fp32", "device": device}
        | chosen | options,
    )  # fmt: skip
    assert isinstance(made, LearnedDetector)
    return made


def task_of(detector: LearnedDetector, labels: str) -> Task:
    train, val = (part.with_labels(labels, k=3, seed=0).label for part in (TRAIN, VAL))
    label = torch.from_numpy(np.concatenate([train, val])).to(detector.view.device)
    archive = detector._archive
    return Task(archive.log, archive.border, detector.view, 0, len(TRAIN), label)


def batches_of(detector: LearnedDetector, labels: str) -> Iterator[tuple[Examples, Examples]]:
    """Batches of an epoch: as they are made, and made plainly from the same draws."""
    task = task_of(detector, labels)
    memory = detector._new_memory(task.view.needs) if task.view.needs.memory else None
    reader, generator = Reader(task, memory), torch.Generator(task.view.device).manual_seed(3)
    maker = ExampleMaker(reader, generator, batch=48, shuffled=True, pseudo_below=20)
    list(maker.epoch(1)) if memory is None else None  # the second epoch refills the tables of the first
    state = generator.get_state()
    epoch = maker.epoch(2)
    first = next(epoch)  # what an epoch draws is drawn by now
    generator.set_state(state)
    rows, anomalies = task.train, task.train[task.train_label == 1]
    few = len(anomalies) < 20
    always = anomalies if few and memory is None else anomalies[:0]
    if len(always):
        rows = rows[task.train_label != 1]
    if memory is None:
        rows = rows[torch.randperm(len(rows), generator=generator, device=generator.device)]
    sizes = reader.sizes(rows, 48) if memory is None else None
    start, anchors = 0, []
    for size in sizes or _sizes_with_memory(detector, task, rows):
        anchors.append(rows[start : start + size : 2])
        start += size
    made = None
    if len(anomalies) < 20:
        pseudo = PseudoAnomalies(task.index, task.train[task.train_label != 1])
        made = pseudo.draw(torch.cat(anchors), generator)
    done = 0
    for number, places in enumerate([first, *_rest(epoch, memory is None)]):
        here = torch.cat([rows[places], always])
        window, anomalous = reader.rows(here), task.label[here] == 1
        weight = torch.ones(len(here), device=here.device)
        if len(always):
            weight[anomalous] = FEW_WEIGHT * len(here) / len(always)
        elif few and memory is not None:
            weight[anomalous] = FEW_WEIGHT * len(here)
        if made is not None:
            count = len(anchors[number])
            extra = reader.made(made.take(slice(done, done + count)))
            done += count
            window = window.joined(extra)
            anomalous = torch.cat([anomalous, torch.ones(count, dtype=torch.bool, device=here.device)])
            weight = torch.cat([weight, torch.full((count,), PSEUDO_WEIGHT, device=here.device)])
        made_up = torch.ones(len(window) - len(here), dtype=torch.bool, device=here.device)
        known = torch.cat([~task.label[here].isnan(), made_up])
        yield maker(places), Examples(window, anomalous, weight, known)


def _rest(epoch: Iterator[Tensor], steady: bool) -> list[Tensor]:
    return list(epoch) if steady else []  # a memory moves on with the batches: the first one must do


def _sizes_with_memory(detector: LearnedDetector, task: Task, rows: Tensor) -> list[int]:
    return Reader(task, detector._new_memory(task.view.needs)).sizes(rows, 48)


# ---------------------------------------------------------------------- the plain path
def zuko_density(model: SDGADModel) -> Any:
    from zuko import flows

    width = model.config.projection
    flow = flows.RealNVP(width, transforms=model.config.transforms, hidden_features=(width, width))
    flow.to(model.project.weight.device).load_state_dict(model.density.flow.state_dict())

    def ell(x: Tensor) -> Tensor:
        z, log_det = flow.transform(None).call_and_ladj(x * width**0.5)
        normal = torch.distributions.Normal(0.0, width**-0.5 * width**0.5)
        return (normal.log_prob(z).sum(-1) + log_det) / width + 0.5 * np.log(width)

    return flow, ell


def plain_losses(detector: LearnedDetector, examples: Examples) -> tuple[Tensor, dict[str, Tensor]]:
    """The sum of the loss parts, and gradients of all parameters by name."""
    model = detector._model
    params = dict(model.named_parameters())
    if isinstance(model, SADModel):
        loss = plain_sad(model, examples)
        return loss, _named(loss, params)
    if not isinstance(model, SDGADModel):
        odds = model.head(model.event(examples.window)[0])[:, 0]
        cost = F.binary_cross_entropy_with_logits(odds, examples.anomalous.float(), reduction="none")
        loss = (cost * examples.weight).sum() / examples.weight.sum()
        return loss, _named(loss, params)
    config = model.config
    flow, density = zuko_density(model)
    h, plain = model.event(examples.window)
    x = F.linear(torch.cat([h.detach(), plain], 1), model.project.weight)
    anomalous = examples.anomalous
    ell = density(x.detach())
    likelihood = -ell[~anomalous].mean()
    normals = ell.detach()[~anomalous].sort().values
    bound = normals[min(int(config.alpha * len(normals)), len(normals) - 1)].item()
    for parameter in flow.parameters():
        parameter.requires_grad_(False)
    again = density(x)
    low, high = (bound - again)[~anomalous], (again - bound + config.tau)[anomalous]
    boundary = sum(
        (F.softplus(part[part >= 0]).mean() if (part >= 0).any() else 0.0 * part.sum())
        for part in (low, high)
    )
    radius = (x.square().sum(1) + 1).sqrt() - 1
    inner, outer = config.gamma * config.r_max, config.r_max
    off = torch.maximum(radius - outer, inner - radius)[~anomalous]
    near = (outer + config.margin - radius)[anomalous]
    shell = sum(
        (F.softplus(p[p >= 0]) * p[p >= 0].detach().clamp(max=3).exp()).mean() if (p >= 0).any() else 0.0 * p.sum()
        for p in (off, near)
    )  # fmt: skip
    assert model.known is not None
    odds = F.linear(h, model.known.ratio.weight, model.known.ratio.bias)[:, 0]
    cost = F.binary_cross_entropy_with_logits(odds, anomalous.float(), reduction="none")
    known = (cost * examples.weight).sum() / examples.weight.sum()
    rest = config.lambda_boundary * boundary + config.lambda_restriction * shell + config.lambda_known * known
    for parameter in flow.parameters():
        parameter.requires_grad_(True)
    found = _named(rest, params)
    flow_gradients = torch.autograd.grad(likelihood, list(flow.parameters()))
    for (name, _), gradient in zip(flow.named_parameters(), flow_gradients, strict=True):
        found[f"density.flow.{name}"] = gradient
    return likelihood + rest, found


def plain_sad(model: SADModel, examples: Examples) -> Tensor:
    """Event by event, with labels that are known; nothing is dropped, so that the other view is the same."""
    config, bank, window = model.config, model.bank, examples.window
    h, _ = model.event(window)
    vectors = F.normalize(h[:, : 2 * config.width], dim=1)
    score = model.deviation(h)
    reference, then = bank.score[:-1], bank.time[:-1]
    plain = ((score - reference.mean()) / (reference.std(unbiased=False) + 1e-6)).detach().clamp(-5, 5)
    costs, pulls = [], []
    for row in range(len(window)):
        share = 1 / (1 + torch.log1p((window.time[row] - then).abs() / 3600)).float()
        share = share / share.sum()
        mean = (share * reference).sum()
        deviation = (score[row] - mean) / ((share * (reference - mean).square()).sum().sqrt() + 1e-6)
        anomalous = bool(examples.anomalous[row])
        odds = F.linear(model.head[:-1](h[row]), model.head[-1].weight, model.head[-1].bias)[0]
        entropy = F.softplus(-odds if anomalous else odds)
        apart = (config.margin - deviation).clamp(min=0) if anomalous else deviation.abs()
        if examples.known[row]:
            costs.append(examples.weight[row] * (entropy + config.deviation * apart))
        others = [other for other in range(2 * len(window)) if other != row]
        similar = vectors.repeat(2, 1)[others] @ vectors[row] / config.temperature
        far = (plain.repeat(2)[others] - plain[row]).abs()
        log_share = similar - similar.logsumexp(0)
        pulls.append((log_share / (1 + far))[far <= 1].mean())
    weight = examples.weight[examples.known].sum()
    return (
        torch.stack(costs).sum() / weight - config.contrast * config.temperature * torch.stack(pulls).mean()
    )


def _named(loss: Tensor, params: dict[str, nn.Parameter]) -> dict[str, Tensor]:
    gradients = torch.autograd.grad(loss, list(params.values()), allow_unused=True, retain_graph=True)
    return {
        name: torch.zeros_like(p) if g is None else g
        for (name, p), g in zip(params.items(), gradients, strict=True)
    }


def close(one: Tensor | np.ndarray, other: Tensor | np.ndarray, what: str) -> None:
    arrays = (np.asarray(torch.as_tensor(values).detach().cpu()) for values in (one, other))
    np.testing.assert_allclose(*arrays, err_msg=what, **CLOSE)


def fields_of(window: Window) -> dict[str, Any]:
    return {name: value for name, value in vars(window).items() if isinstance(value, Tensor)}


# ---------------------------------------------------------------------- one step
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("detector", "encoder"), RESIDENTS, ids=str)
def test_losses_gradients_and_scores_are_those_of_the_plain_path(
    detector: str, encoder: str, device: str
) -> None:
    fitted = make(detector, encoder, device).fit(TRAIN, val=VAL, epochs=1)
    model = fitted._model.eval()  # nothing is dropped
    quick, plain = next(batches_of(fitted, "few-shot"))
    for name, value in fields_of(plain.window).items():
        close(getattr(quick.window, name).double(), value.double(), name)
    close(quick.weight, plain.weight, "weight")
    assert torch.equal(quick.anomalous, plain.anomalous)
    if isinstance(model, SDGADModel):
        model.boundary.started.zero_()
    expected, gradients = plain_losses(fitted, plain)
    parts = fitted._losses(quick)
    loss = torch.stack(list(parts.values())).sum()
    close(loss, expected, "loss")
    model.zero_grad(set_to_none=True)
    loss.backward()
    assert any(gradient.any() for gradient in gradients.values())
    for name, parameter in model.named_parameters():
        found = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        close(found, gradients[name], f"gradient of {name}")
    if isinstance(fitted, SDGAD):
        _, density = zuko_density(model)
        with torch.no_grad():
            h, own = model.event(quick.window)
            evidence = fitted._evidence([quick.window])
            close(evidence.ell, density(F.linear(torch.cat([h, own], 1), model.project.weight)), "ℓ")
    if not fitted.remembers:
        whole = fitted._score_window(quick.window)
        parts_of = [quick.window.take(slice(i, i + 5)) for i in range(0, len(quick.window), 5)]
        close(fitted._score_windows(parts_of), whole, "scores")


@pytest.mark.parametrize("labels", ["all", "few-shot", "none"])
@pytest.mark.parametrize("encoder", ["tcl", "tgn"])
def test_every_batch_of_an_epoch_is_what_a_plain_maker_gives(encoder: str, labels: str) -> None:
    fitted = make("classifier", encoder, "cpu").fit(TRAIN.with_labels(labels, k=3, seed=0), val=VAL, epochs=1)
    count = 0
    for quick, plain in batches_of(fitted, labels):
        count += 1
        assert torch.equal(quick.anomalous, plain.anomalous)
        assert torch.equal(quick.known, plain.known)
        close(quick.weight, plain.weight, "weight")
        for name, value in fields_of(plain.window).items():
            close(getattr(quick.window, name).double(), value.double(), name)
    assert count >= (1 if encoder == "tgn" else 7)


@pytest.mark.parametrize("device", DEVICES)
def test_a_step_clips_and_moves_as_torch_does_by_itself(device: str) -> None:
    torch.manual_seed(0)
    model = nn.ModuleList([nn.Linear(5, 4), nn.Linear(4, 3), nn.Linear(3, 1)]).to(device)
    other = copy.deepcopy(model)
    x = 9 * torch.randn(20, 5, device=device)

    def losses(of: nn.ModuleList) -> dict[str, Tensor]:
        hidden = of[1](torch.tanh(of[0](x)))
        return {"a": of[2](hidden).square().sum(), "b": hidden.abs().sum()}

    schedule = Schedule(1, 1, learning_rate=0.02, weight_decay=0.1, clip=0.7)
    step: Step[None] = Step(model, schedule, lambda _: losses(model), clip_apart=[model[2]])
    matrices, vectors = ([p for p in other.parameters() if (p.ndim > 1) == wide] for wide in (True, False))
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        lr=0.02,
        foreach=False,
        fused=False,
    )
    for _ in range(4):
        step(None)
        optimiser.zero_grad()
        sum(losses(other).values()).backward()
        nn.utils.clip_grad_norm_([*other[0].parameters(), *other[1].parameters()], 0.7, foreach=False)
        nn.utils.clip_grad_norm_(other[2].parameters(), 0.7, foreach=False)
        optimiser.step()
        for one, two in zip(model.parameters(), other.parameters(), strict=True):
            close(one.grad, two.grad, "gradient")
            close(one, two, "weight")


# ---------------------------------------------------------------------- recorded
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU to record a graph on")
@pytest.mark.parametrize("labels", ["all", "none"])
@pytest.mark.parametrize(("detector", "encoder"), RESIDENTS, ids=str)
def test_a_recorded_training_is_the_plain_one(detector: str, encoder: str, labels: str) -> None:
    """Losses of every step, figures, and scores: the recorded step draws the same numbers too."""
    runs = []
    for graphs in (True, False):
        fitted = make(detector, encoder, "cuda", graphs=graphs)
        fitted.fit(TRAIN.with_labels(labels), val=VAL, epochs=1)
        runs.append(fitted)
    recorded, plain = runs
    assert recorded.record_.in_force["graph"] == (not recorded.remembers)
    assert not plain.record_.in_force["graph"]
    for name, value in plain.record_.epochs[0].items():
        assert recorded.record_.epochs[0][name] == pytest.approx(value, rel=1e-4, abs=1e-5), name
    close(recorded.decision_function(TEST), plain.decision_function(TEST), "scores")
