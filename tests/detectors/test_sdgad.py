"""SDGAD: options and presets, who trains what, switches, selection, the calibrated score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from torch import Tensor, nn

from sdgad.calibration.score import CalibratedScore, PrintedScore
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.examples import FEW_WEIGHT, PSEUDO_WEIGHT, ExampleMaker
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.sdgad.config import SDGADConfig
from sdgad.detectors.sdgad.density import densities
from sdgad.detectors.sdgad.detector import F1_SLACK, HIGH, SDGAD
from sdgad.detectors.sdgad.evidence.join import joined
from sdgad.detectors.sdgad.model import Evidence, Join, SDGADModel
from sdgad.detectors.sdgad.selection import JOINS, LABELLED, UNLABELLED, Selection, unlabelled_join
from sdgad.detectors.task import Task
from sdgad.encoders.base import Encoder, EncoderConfig, encoders, list_encoders
from sdgad.encoders.dropout import Dropout
from sdgad.errors import InputError
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream
from sdgad.history.window import Window
from sdgad.metrics import mixture

HISTORY = 3
TINY: dict[str, Any] = {
    "history": HISTORY, "width": 8, "time_width": 4, "projection": 6, "hidden": 8, "bins": 4, "transforms": 2, "batch": 50,
    "trees": 10, "device": "cpu",
}  # fmt: skip
TRAIN, VAL, TEST = simulate_payments(400, anomaly_rate=0.06, seed=1).split(train=0.5, val=0.25)
UNLABELLED_TRAIN = TRAIN.with_labels("none")


def fitted(train: EventStream = TRAIN, epochs: int = 1, **options: Any) -> SDGAD:
    return SDGAD(**{**TINY, **options}).fit(train, val=VAL, epochs=epochs)


@pytest.fixture(scope="module")
def labelled() -> SDGAD:
    return fitted(epochs=3)


@pytest.fixture(scope="module")
def unlabelled() -> SDGAD:
    return fitted(UNLABELLED_TRAIN, epochs=3)


def task_of(detector: SDGAD, *, labels: bool = True) -> Task:
    """What the detector was fitted on."""
    label = np.concatenate([TRAIN.label, VAL.label])
    known = torch.from_numpy(label if labels else np.full_like(label, np.nan))
    archive = detector._archive
    return Task(archive.log, archive.border, detector.view, 0, len(TRAIN), known)


def evidence_of(detector: SDGAD, rows: Tensor) -> Evidence:
    return detector._evidence(Reader(task_of(detector), None).windows(rows, detector.score_rows))


def selection_of(detector: SDGAD, *, labels: bool = True) -> Selection:
    validation = Validation(Reader(task_of(detector, labels=labels), None), 0, detector.score_rows)
    return Selection(detector._evidence, detector._model, validation)


# ---------------------------------------------------------------------- options and presets
@pytest.mark.parametrize(
    ("dataset", "history", "lambda_boundary"), [(None, 20, 1.0), ("wikipedia", 2, 1.0), ("mooc", 20, 0.5)]
)
def test_the_paper_preset_sets_what_is_printed(
    dataset: str | None, history: int, lambda_boundary: float
) -> None:
    config = SDGAD(preset="paper", **({} if dataset is None else {"dataset": dataset})).config
    printed = {
        "history": history, "lambda_boundary": lambda_boundary, "lambda_restriction": 0.5,
        "tau": 0.1, "gamma": 0.99, "alpha": 0.01, "r_max": 0.4, "transforms": 6,
        "batch": 200, "order": "time", "epochs": 200, "patience": 10, "select": "f1", "score": "printed",
        "residual": True, "restriction": True, "boundary": "bi",
        "context": False, "pseudo": False, "known": False, "joint": False, "average": 0.0,
    }  # fmt: skip
    assert {name: getattr(config, name) for name in printed} == printed
    assert config.learning_rate in (1e-3, 1e-4, 1e-5)  # the printed grids
    assert config.weight_decay in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


@pytest.mark.parametrize("encoder", list_encoders())
def test_the_paper_preset_takes_the_published_sizes_of_its_encoder(encoder: str) -> None:
    config = SDGAD(preset="paper", encoder=encoder).config
    assert config.encoder_config() == encoders.get(encoder).paper
    assert config.encoder_options == asdict(encoders.get(encoder).paper)
    assert encoders.get(encoder).paper != encoders.get(encoder).config_type()


def test_given_options_outrank_the_preset_and_the_rest_of_it_stays() -> None:
    config = SDGAD(preset="paper", dataset="mooc", history=7, width=8, batch=30).config
    assert (config.history, config.batch, config.encoder_options["width"]) == (7, 30, 8)
    assert (config.lambda_boundary, config.encoder_options["layers"]) == (
        0.5,
        encoders.get("tcl").paper.layers,
    )


def test_a_tiny_paper_model_fits_and_scores_as_printed() -> None:
    detector = fitted(preset="paper", dataset="wikipedia")
    assert isinstance(detector._score_map, PrintedScore)
    assert set(detector.record_.epochs[0]) == {
        "epoch", "likelihood", "boundary", "restriction", "F1", "select",
    }  # fmt: skip
    scores = detector.decision_function(TEST)
    assert ((scores >= 0) & (scores <= 1)).all()
    as_printed = fitted(preset="paper", boundary="printed", joint=True)
    assert not np.array_equal(
        as_printed.decision_function(TEST), fitted(preset="paper").decision_function(TEST)
    )


def test_a_dataset_goes_with_the_paper_preset_and_must_be_one_of_it() -> None:
    with pytest.raises(InputError, match=r"dataset= goes with preset='paper'"):
        SDGAD(dataset="mooc")
    with pytest.raises(InputError, match=r"no settings for dataset 'uci'.*mooc, wikipedia"):
        SDGAD(preset="paper", dataset="uci")


def test_options_of_the_encoder_find_their_way(window: Window) -> None:
    config = SDGAD(encoder="dygformer", width=8, patch=2, encoder_options={"channel": 4, "width": 16}).config
    assert config.encoder_options == {"channel": 4, "width": 8, "patch": 2}  # a name of its own wins
    model = SDGADModel(config, window.shape)
    assert model.event.encoder.config == config.encoder_config()
    assert (model.event.encoder.config.width, model.event.encoder.patch) == (8, 2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"histroy": 5}, r"no option 'histroy'; did you mean 'history'\?"),
        ({"widht": 5}, r"no option 'widht'; did you mean 'width'\?"),
        ({"patch": 2}, r"no option 'patch'"),  # tcl has no patches
        ({"encoder_options": {"patch": 2}}, r"no option 'patch'"),
        ({"encoder": "lstm"}, r"no encoder named 'lstm'.*; there are: .*tcl"),
        ({"density": "kde"}, r"no density named 'kde'.*; there are: .*realnvp"),
        ({"boundary": "tri"}, r"boundary='tri' should be one of 'bi', 'single', 'none', 'printed'"),
        ({"width": "wide"}, r"width='wide' should be int"),
        ({"alpha": 1.0}, r"alpha=1.0 must"),
        ({"projection": 1}, r"projection=1 must"),
        ({"epochs": 0}, r"epochs=0 must"),
        ({"history": 0}, r"history=0 must"),
        ({"dropout": 1.5}, r"^dropout=1.5"),
        ({"head_dropout": 1.0}, r"head_dropout=1.0 must"),
        ({"average": 1.0}, r"average=1.0 must"),
    ],
)
def test_wrong_options_are_refused_before_any_fit_in_one_sentence(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as refused:
        SDGAD(**options)
    assert "\n" not in str(refused.value)


def test_options_survive_the_way_out_and_in_again() -> None:
    for detector in (SDGAD(), SDGAD(preset="paper", dataset="mooc", encoder="dygformer", patch=2)):
        assert SDGAD(**detector.get_params()).config == detector.config


# ---------------------------------------------------------------------- the event vector
class Deaf(Encoder):
    """Looks at the past under dropout, never at the event."""

    def __init__(self, shape: Any, config: EncoderConfig) -> None:
        super().__init__(shape, config)
        self.layers = nn.Sequential(
            Dropout(0.5), nn.Linear(shape.history, config.width), nn.ReLU(), Dropout(0.5)
        )

    def encode(self, window: Window, include_event: bool | Tensor) -> tuple[Tensor, Tensor]:
        del include_event
        z: Tensor = self.layers(window.past_gap.log1p() + 1)
        return z[:, 0], z[:, 1]


@pytest.fixture(scope="module")
def window(labelled: SDGAD) -> Window:
    return task_of(labelled).index.rows(torch.arange(80, 180), HISTORY)


def test_under_dropout_the_residual_of_two_equal_branches_is_exactly_zero(
    labelled: SDGAD, window: Window
) -> None:
    torch.manual_seed(0)
    encoder = Deaf(task_of(labelled).index.shape(HISTORY), EncoderConfig(width=8))
    residual = EventVector(encoder, None, 8, residual=True, dropout=0.3).train()
    assert not residual(window)[0].any()
    plain = EventVector(encoder, None, 8, residual=False, dropout=0.3).train()
    assert plain(window)[0].any()
    with_event, without = encoder.encode(window, True)[0], encoder.encode(window, False)[0]
    assert not torch.equal(with_event, without)  # unpaired masks would have differed


@pytest.mark.parametrize("encoder", ["dygformer", "graphmixer", "tcl"])  # which need no more than this Window
def test_the_event_vector_is_the_difference_that_the_event_makes(encoder: str, window: Window) -> None:
    detector = fitted(encoder=encoder)
    event = detector._model.event
    h, plain = event(window)
    scaled = event.scale(window)
    ends = zip(event.encoder.encode(scaled, True), event.encoder.encode(scaled, False), strict=True)
    own = event.own(event.own.values(scaled))
    torch.testing.assert_close(h, torch.cat([*(a - b for a, b in ends), own], 1), atol=1e-5, rtol=1e-4)
    assert h[:, :16].any()
    assert torch.equal(plain, event.own.values(scaled))
    without = fitted(encoder=encoder, residual=False)._model.event
    h, _ = without(window)
    expected = torch.cat(without.encoder.encode(without.scale(window), True), 1)
    torch.testing.assert_close(h[:, :16], expected, atol=1e-5, rtol=1e-4)


# ---------------------------------------------------------------------- who trains what
def gradients(window: Window, part: str | None, **options: Any) -> dict[str, dict[str, Tensor]]:
    """Gradients of one loss part, or of their sum, by module; the model is the same for the same sizes."""
    torch.manual_seed(0)
    config = SDGAD(**{**TINY, "alpha": 0.5, **options}).config  # half of all normals violate the boundary
    model = SDGADModel(config, window.shape)
    anomalous = torch.arange(len(window)) % 4 == 0
    torch.manual_seed(1)
    with torch.no_grad():  # away from the identity, so that every parameter of the flow has a gradient
        for parameter in model.density.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    torch.manual_seed(2)  # dropout
    parts = model.losses(window, anomalous, torch.ones(len(window)))
    (sum(parts.values()) if part is None else parts[part]).backward()
    found: dict[str, dict[str, Tensor]] = {}
    for name, parameter in model.named_parameters():
        room = "encoder" if name.startswith("event.encoder") else name.partition(".")[0]
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        found.setdefault(room, {})[name] = gradient
    return found


def reached(found: dict[str, dict[str, Tensor]]) -> set[str]:
    return {room for room, all_ in found.items() if any(g.any() for g in all_.values())}


@pytest.mark.parametrize("known", [True, False])
def test_the_likelihood_trains_the_flow_alone_unless_joint(window: Window, known: bool) -> None:
    assert reached(gradients(window, "likelihood", known=known)) == {"density"}
    joint = reached(gradients(window, "likelihood", known=known, joint=True))
    assert joint == {"density", "project", "encoder", "event"}


@pytest.mark.parametrize("part", ["restriction", "boundary"])
def test_shell_and_boundary_train_the_projection_and_the_encoder_by_their_share(
    window: Window, part: str
) -> None:
    assert reached(gradients(window, part)) == {"project"}
    assert reached(gradients(window, part, known=False)) == {"project", "encoder", "event"}
    whole = gradients(window, part, shell_gradient=1.0)["encoder"]
    quarter = gradients(window, part, shell_gradient=0.25)["encoder"]
    for name, gradient in whole.items():
        torch.testing.assert_close(quarter[name], gradient / 4, atol=1e-7, rtol=1e-4)


def test_beside_the_known_centre_shell_and_boundary_leave_the_encoders_gradient_as_it_is(
    window: Window,
) -> None:
    both = gradients(window, None)
    alone = gradients(window, None, restriction=False, boundary="none")
    assert both["encoder"].keys() == alone["encoder"].keys()
    for name, gradient in both["encoder"].items():
        assert torch.equal(gradient, alone["encoder"][name]), name
    assert reached(gradients(window, "known")) == {"known", "encoder", "event"}
    assert not torch.equal(both["project"]["project.weight"], alone["project"]["project.weight"])


# ---------------------------------------------------------------------- switches
PARTS = {"likelihood", "boundary", "restriction", "known"}
SWITCHES: list[tuple[dict[str, Any], set[str]]] = [
    ({"residual": False}, PARTS),
    ({"restriction": False}, PARTS - {"restriction"}),
    ({"boundary": "single"}, PARTS),
    ({"boundary": "none"}, PARTS - {"boundary"}),
    ({"boundary": "printed"}, PARTS),
    ({"joint": True}, PARTS),
    ({"context": False}, PARTS),
    ({"pseudo": False}, PARTS),
    ({"known": False}, PARTS - {"known"}),
    ({"known": False, "pseudo": False, "context": False, "residual": False}, PARTS - {"known"}),
    ({"order": "time"}, PARTS),
    ({"select": "f1"}, PARTS),
    ({"score": "printed"}, PARTS),
    ({"average": 0.0}, PARTS),
    *(({"encoder": name}, PARTS) for name in list_encoders() if name != SDGADConfig().encoder),
    *(({"density": name}, PARTS) for name in densities.names() if name != SDGADConfig().density),
]


@pytest.fixture(scope="module")
def default_scores() -> dict[bool, np.ndarray]:
    """Of one epoch, with labels and without."""
    return {True: fitted().decision_function(TEST), False: fitted(UNLABELLED_TRAIN).decision_function(TEST)}


@pytest.mark.parametrize("labels", [True, False], ids=["labels", "none"])
@pytest.mark.parametrize(("switch", "parts"), SWITCHES, ids=[str(switch) for switch, _ in SWITCHES])
def test_every_switch_fits_scores_and_matters(
    switch: dict[str, Any], parts: set[str], labels: bool, default_scores: dict[bool, np.ndarray]
) -> None:
    detector = fitted(TRAIN if labels else UNLABELLED_TRAIN, **switch)
    assert set(detector.record_.epochs[0]) & PARTS == parts
    assert all(np.isfinite(list(entry.values())).all() for entry in detector.record_.epochs)
    scores = detector.decision_function(TEST)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert len(np.unique(scores)) > (2 if detector.config.score == "printed" else 10)  # printed: ties at 0
    if set(switch) != {"select"}:  # one epoch leaves nothing to select
        assert not np.array_equal(scores, default_scores[labels])


# ---------------------------------------------------------------------- batches
class Seen:
    """What every batch of a fit held: who counts as anomalous, and with which weight."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.batches: list[tuple[Tensor, Tensor]] = []
        original = SDGADModel.losses

        def losses(model: SDGADModel, window: Window, anomalous: Tensor, weight: Tensor) -> dict[str, Tensor]:
            self.batches.append((anomalous, weight))
            return original(model, window, anomalous, weight)

        monkeypatch.setattr(SDGADModel, "losses", losses)


def test_a_few_labelled_anomalies_are_in_every_batch_with_their_say_beside_pseudo_anomalies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Seen(monkeypatch)
    fitted(TRAIN.with_labels("few-shot", k=2))
    assert len(seen.batches) == len(TRAIN) // 50
    for anomalous, weight in seen.batches:
        kept = weight > 1
        assert kept.sum() == 2
        assert anomalous[kept].all()
        normals = int((~anomalous).sum())
        assert weight[kept].sum().item() == pytest.approx(FEW_WEIGHT * (normals + 2))
        made = anomalous & ~kept
        assert made.sum() == (normals + 1) // 2
        assert weight[made].unique().tolist() == pytest.approx([PSEUDO_WEIGHT])


def test_many_labels_need_no_pseudo_anomalies(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch)
    label = np.where(np.arange(len(TRAIN)) % 8 == 0, 1.0, 0.0)
    fitted(TRAIN.with_columns(label=label))
    assert sum(len(weight) for _, weight in seen.batches) == len(TRAIN)
    assert sum(int(anomalous.sum()) for anomalous, _ in seen.batches) == label.sum()
    assert all((weight == 1).all() for _, weight in seen.batches)


@pytest.mark.parametrize("order", ["time", "shuffled"])
def test_an_epoch_takes_every_event_once(order: str, labelled: SDGAD) -> None:
    reader = Reader(task_of(labelled), None)
    shuffled, generator = order == "shuffled", torch.Generator().manual_seed(0)
    examples = ExampleMaker(reader, generator, batch=50, shuffled=shuffled, pseudo_below=0)
    task = reader.task
    rows = task.train[task.train_label != 1]  # the few labelled anomalies are part of every batch
    assert len(rows) < len(task.train)

    def epoch() -> Tensor:
        batches = list(examples.epoch(1))
        assert [len(places) for places in batches] == reader.sizes(rows, 50)
        assert len(batches) == examples.num_batches
        return examples._order[torch.cat(batches)]

    first, second = epoch(), epoch()
    assert torch.equal(first.sort().values, rows)
    assert torch.equal(first, rows) == (order == "time")
    assert torch.equal(first, second) == (order == "time")


# ---------------------------------------------------------------------- one ℓ from two kinds of evidence
@pytest.mark.parametrize("join", JOINS, ids=str)
def test_the_joint_log_likelihood_is_its_formula_and_falls_with_either_evidence(
    labelled: SDGAD, join: Join
) -> None:
    model = labelled._model
    ell, odds = torch.randn(2, 50, dtype=torch.float64)
    surprise = (model.boundary.normal - ell) / model.spread
    if join.lead == "odds":
        expected = -(odds + join.weight * torch.log1p(surprise.exp())) / 6
    else:
        beyond = (odds - model.odds_high) / model.odds_spread
        expected = -(surprise + join.weight * torch.log1p(beyond.exp())) / 6
    torch.testing.assert_close(model.join(Evidence(ell, odds), join), expected)
    assert (model.join(Evidence(ell - 1, odds), join) <= expected).all()
    assert (model.join(Evidence(ell, odds + 1), join) <= expected).all()
    assert torch.equal(model.join(Evidence(ell, None), join), ell)  # without the second centre


def test_the_units_of_evidence_are_those_of_training_normals(labelled: SDGAD) -> None:
    model, task = labelled._model, task_of(labelled)
    evidence = evidence_of(labelled, task.train).take(task.train_label != 1)
    assert evidence.odds is not None
    assert model.boundary.normal.item() == evidence.ell.sort().values[int(0.01 * len(evidence.ell))].item()
    assert model.spread.item() == pytest.approx(evidence.ell.numpy().std(), rel=1e-5)
    assert model.odds_high.item() == evidence.odds.sort().values[int(0.99 * len(evidence.odds))].item()
    assert model.odds_spread.item() == pytest.approx(evidence.odds.numpy().std(), rel=1e-5)


# ---------------------------------------------------------------------- selection
def judged(detector: SDGAD, *, labels: bool = True) -> tuple[dict[str, float], np.ndarray]:
    """The figures that selection gives to the fitted model, and ℓ of validation under the units of that moment."""
    task = task_of(detector, labels=labels)
    before = {name: value.clone() for name, value in detector._model.state_dict().items()}
    figures = selection_of(detector, labels=labels)()
    assert (
        detector._model.boundary.normal == before["boundary.normal"]
    )  # training goes on with its own estimate
    evidence = evidence_of(detector, task.val)
    detector._model.fit_units(evidence)
    ell = detector._joined_ell(evidence, LABELLED if labels else UNLABELLED)
    detector._model.load_state_dict(before)
    return figures, ell


def test_with_labels_an_epoch_is_judged_by_the_mean_of_auroc_and_ap(labelled: SDGAD) -> None:
    figures, ell = judged(labelled)
    area, precision = roc_auc_score(VAL.label, -ell), average_precision_score(VAL.label, -ell)
    assert figures == pytest.approx({"AUROC": area, "AP": precision, "select": (area + precision) / 2})
    assert mixture(np.zeros(3), np.arange(3.0)) == 0  # one class only


@pytest.mark.parametrize(
    ("options", "lead"),
    [
        ({}, "density"),
        ({"habits": False}, "density"),
        ({"context": False}, "neither"),
        ({"context": False, "pseudo": False}, "density"),
        ({"context": False, "known": False}, "density"),
    ],
)
def test_without_labels_no_evidence_leads_where_the_density_sees_residuals_alone(
    options: dict[str, bool], lead: str
) -> None:
    assert unlabelled_join(SDGAD(**options).config).lead == lead
    assert fitted(UNLABELLED_TRAIN, **options)._join.lead == lead


def test_the_paper_judges_by_f1_at_a_half_and_the_mixture_breaks_ties() -> None:
    detector = fitted(preset="paper")
    figures, ell = judged(detector)
    f1 = f1_score(VAL.label, PrintedScore()(ell) >= 0.5)
    assert figures == pytest.approx({"F1": f1, "select": f1 + 1e-3 * mixture(VAL.label, -ell)})

    spread_out = 3.0 * VAL.label + np.linspace(0, 12, len(VAL))  # −ℓ; score ½ lies at ℓ = −10 log 2
    selection = selection_of(detector)
    f1 = f1_score(VAL.label, spread_out >= 10 * np.log(2))
    assert f1 > 0
    assert selection.validation.by_labels(spread_out, PrintedScore()(-spread_out))["F1"] == pytest.approx(f1)


def test_without_labels_an_epoch_is_judged_by_held_out_pseudo_anomalies_and_the_likelihood(
    unlabelled: SDGAD,
) -> None:
    figures, _ = judged(unlabelled, labels=False)
    again, _ = judged(unlabelled, labels=False)
    assert figures == again  # the same held-out pseudo-anomalies in every epoch
    ell = evidence_of(unlabelled, task_of(unlabelled).val).ell
    assert set(figures) == {"pseudo AUROC", "log-likelihood", "select"}
    assert 0 <= figures["pseudo AUROC"] <= 1
    assert figures["log-likelihood"] == pytest.approx(ell.mean().item())
    assert figures["select"] == pytest.approx(figures["pseudo AUROC"] + 0.01 * figures["log-likelihood"])


def test_the_epoch_with_the_highest_figure_is_kept(labelled: SDGAD, unlabelled: SDGAD) -> None:
    for detector in (labelled, unlabelled):
        select = [entry["select"] for entry in detector.record_.epochs]
        assert len(select) == 3
        assert detector.record_.best_epoch == 1 + int(np.argmax(select))


def test_the_networks_own_join_is_the_best_of_all_on_validation_with_labels_and_fixed_without() -> None:
    labelled, unlabelled = (fitted(train, epochs=2, habits=False) for train in (TRAIN, UNLABELLED_TRAIN))
    task = task_of(labelled)
    evidence = evidence_of(labelled, task.val)
    figures = {join: mixture(VAL.label, -labelled._joined_ell(evidence, join)) for join in JOINS}
    assert figures[labelled._join] == max(figures.values())
    assert unlabelled._join == UNLABELLED


# ---------------------------------------------------------------------- the score
def ell_of(detector: SDGAD, rows: Tensor) -> np.ndarray:
    """Minus the weighed evidence."""
    task = task_of(detector)
    raw = detector._raw([task.view.rows(task.index, rows)])
    assert detector._panel is not None
    return -joined(detector._panel.nats(raw), detector._say)


def test_the_score_is_a_half_exactly_at_the_boundary(labelled: SDGAD, unlabelled: SDGAD) -> None:
    for detector in (labelled, unlabelled):
        score = detector._score_map
        assert isinstance(score, CalibratedScore)
        assert score(score.boundary) == 0.5
        assert score(score.boundary + 1e-3) < 0.5 < score(score.boundary - 1e-3)


def test_with_labels_the_boundary_is_a_validation_event_near_the_best_f1(labelled: SDGAD) -> None:
    """The lowest score whose F1 is within the slack of the best: it finds the most."""
    score = labelled.validation_scores_
    assert (score == 0.5).any()
    f1 = {cut: f1_score(VAL.label, score >= cut) for cut in np.unique(score)}
    enough = (1 - F1_SLACK) * max(f1.values())
    assert f1[0.5] >= enough
    assert all(value < enough for cut, value in f1.items() if cut < 0.5)


def test_without_labels_a_share_alpha_of_training_lies_beyond_the_boundary() -> None:
    detector = fitted(UNLABELLED_TRAIN, alpha=0.1)
    assert (detector.decision_scores_ > 0.5).mean() == pytest.approx(0.1, abs=0.01)


def test_the_width_of_the_score_is_a_high_quantile_of_training_normals(labelled: SDGAD) -> None:
    ell = ell_of(labelled, torch.arange(len(TRAIN)))[TRAIN.label != 1]
    assert isinstance(labelled._score_map, CalibratedScore)
    assert labelled._score_map.high == pytest.approx(np.quantile(ell, HIGH))


def test_scores_fall_strictly_with_the_log_likelihood(labelled: SDGAD, unlabelled: SDGAD) -> None:
    for detector in (labelled, unlabelled):
        ell = ell_of(detector, torch.arange(len(TRAIN)))
        order = np.argsort(ell)
        rises = np.diff(ell[order]) > 0
        assert rises.sum() > 100
        np.testing.assert_array_equal(np.diff(detector.decision_scores_[order]) < 0, rises)


def test_one_event_alone_scores_as_in_a_batch(labelled: SDGAD) -> None:
    task = task_of(labelled)
    alone = np.concatenate(
        [labelled._score_window(task.view.rows(task.index, row[None])) for row in task.val]
    )
    np.testing.assert_allclose(alone, labelled.validation_scores_, atol=1e-5)


# ---------------------------------------------------------------------- seeds and interruptions
def test_the_seed_alone_decides(default_scores: dict[bool, np.ndarray]) -> None:
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    torch.rand(7)
    np.testing.assert_array_equal(fitted().decision_function(TEST), default_scores[True])
    assert not np.array_equal(fitted(seed=1).decision_function(TEST), default_scores[True])


def test_an_interrupted_fit_is_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Reader.places
    epochs: Iterator[int] = iter(range(10))

    def places(reader: Reader, *given: Any) -> Iterator[Tensor]:
        if next(epochs) == 2:
            raise KeyboardInterrupt
        return original(reader, *given)

    monkeypatch.setattr(Reader, "places", places)
    detector = fitted(epochs=10)
    assert detector.record_.interrupted
    assert len(detector.record_.epochs) == 2
    assert np.isfinite(detector.decision_function(TEST)).all()
    np.testing.assert_array_equal(detector.decision_function(TEST), fitted(epochs=2).decision_function(TEST))
