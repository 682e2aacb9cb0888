"""SDGAD as a list of kinds of evidence and a join."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
import pytest

import sdgad
from sdgad.detectors.sdgad.config import LIKES
from sdgad.detectors.sdgad.detector import SDGAD
from sdgad.errors import InputError
from sdgad.events.home_streams import HOME_STREAMS
from sdgad.events.simulator import simulate_payments
from sdgad.metrics import auroc

TRAIN, VAL, TEST = simulate_payments(4000, anomaly_rate=0.03, seed=1).split()
SMALL = {"history": 8, "width": 8, "projection": 8, "hidden": 16, "device": "cpu", "epochs": 1, "trees": 30}
UNLABELLED = {
    "forest",
    "ellipse",
    "ranks",
    "features",
    "contrast",
    "newcomer",
    "strangers",
    "sudden",
    "floods",
    "flow",
}


def fit(how: str = "all", k: int = 3, **options: object) -> SDGAD:
    return SDGAD(**{**SMALL, **options}).fit(TRAIN.with_labels(how, k), val=VAL)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def unlabelled() -> SDGAD:
    return fit("none")


def test_where_nothing_is_told_but_who_meets_whom_densities_say_little_beside_the_contrast(
    unlabelled: SDGAD,
) -> None:
    train, val, _ = HOME_STREAMS["communities"].make(0)[:4000].split()
    bare = SDGAD(**SMALL).fit(train.with_labels("none"), val=val)  # type: ignore[arg-type]
    here, payments = (
        sum(det._say.get(name, 0.0) for name in ("flow", "forest", "ellipse", "ranks", "features"))
        for det in (bare, unlabelled)
    )
    assert here < 0.5 < bare._say["contrast"]
    assert here < 0.5 * payments  # these have habits


def test_who_has_a_say_depends_on_the_labels_that_there_are(unlabelled: SDGAD) -> None:
    def heard(how: str) -> set[str]:
        """By the rule: validation has no labels to choose by."""
        return set(SDGAD(**SMALL).fit(TRAIN.with_labels(how, 3), val=VAL.with_labels("none"))._say)  # type: ignore[arg-type]

    assert set(unlabelled._say) == UNLABELLED
    assert heard("few-shot") == UNLABELLED | set(LIKES)
    assert heard("all") == UNLABELLED | set(LIKES) | {"trees", "level-trees", "odds"}


def test_what_validation_gave_no_say_is_forgotten() -> None:
    model = fit("few-shot")
    assert all(model._say.values())
    assert model._panel is not None
    assert set(model._panel.kinds) == set(model._say) - {"flow"} < {*UNLABELLED, *LIKES}


def test_what_is_heard_in_the_last_word_alone_is_asked_too() -> None:
    model = fit()
    assert model._last is not None
    assert set(model._last.say) == UNLABELLED - {"floods"} <= set(model._say)
    assert fit(last_word=False)._last is None
    assert fit("none")._last is None


def test_a_kind_of_anomaly_that_no_label_speaks_of_is_found_by_the_last_word() -> None:
    events = HOME_STREAMS["unseen"].make(3)
    train, val, test = events.split(train=0.4, val=0.2)
    kind = test.anomaly_type
    assert kind is not None
    new = (kind == "") | (kind == "length")

    def found(*, last_word: bool) -> tuple[float, float]:
        model = SDGAD(**{**SMALL, "epochs": 4, "history": 20, "trees": 200}, last_word=last_word).fit(
            train, val=val
        )  # type: ignore[arg-type]
        scores = model.decision_function(test)
        return auroc(test.label[new], scores[new]) or 0, auroc(test.label, scores) or 0

    (of_new, of_all), (without_new, without_all) = found(last_word=True), found(last_word=False)
    assert of_new > without_new + 0.05
    assert of_all > without_all


def test_every_switch_takes_its_kinds_out() -> None:
    assert set(fit("none", pseudo=False)._say) == UNLABELLED - {"contrast"}
    assert set(fit("none", floods=False)._say) == UNLABELLED - {"floods"}
    assert set(fit(known=False)._say) == UNLABELLED
    assert set(fit("none", without=("flow", "forest"))._say) == UNLABELLED - {"flow", "forest"}
    with pytest.raises(InputError, match="there are: flow, odds, forest"):
        SDGAD(without=("trunks",))
    for options in ({"habits": False}, {"context": False}, {"preset": "paper"}):
        assert fit(**options)._panel is None, options


def test_without_a_label_no_label_has_a_say(unlabelled: SDGAD) -> None:
    """Neither those of validation, which choose the say where there are training labels."""
    other = SDGAD(**SMALL).fit(TRAIN.with_labels("none"), val=VAL.with_labels("none"))
    np.testing.assert_array_equal(unlabelled.decision_function(TEST), other.decision_function(TEST))


def test_evidence_beside_the_network_finds_more_than_the_network_alone(unlabelled: SDGAD) -> None:
    alone = fit("none", habits=False)
    ours, its = (auroc(TEST.label, det.decision_function(TEST)) or 0 for det in (unlabelled, alone))
    assert ours > its


def test_a_saved_model_has_all_kinds_and_the_same_scores_to_the_last_bit(tmp_path: Path) -> None:
    model = fit()
    model.save(tmp_path / "model")
    again = sdgad.load(tmp_path / "model")
    assert isinstance(again, SDGAD)
    assert again._say == model._say
    assert model._last is not None
    assert again._last is not None
    assert again._last.say == model._last.say
    np.testing.assert_array_equal(again.decision_function(TEST), model.decision_function(TEST))


def test_a_model_that_moves_to_another_device_asks_its_evidence_there_and_copies_keep_theirs(
    unlabelled: SDGAD,
) -> None:
    moved = copy(unlabelled)
    moved.set_params(device="meta")
    for model, device in ((moved, "meta"), (unlabelled, "cpu")):
        assert model._panel is not None
        tables = [kind.table for kind in model._panel.kinds.values()]
        assert {table.device.type for table in (*tables, model._table, model._panel.table)} == {device}


def test_a_validation_part_of_anomalies_alone_is_no_obstacle() -> None:
    model = SDGAD(**SMALL).fit(TRAIN, val=VAL.with_columns(label=np.ones(len(VAL))))
    scores = model.decision_function(TEST)
    assert ((scores > 0) & (scores < 1)).all()
    assert (auroc(TEST.label, scores) or 0) > 0.7


def test_what_is_recent_of_another_shape_is_refused_like_any_folder_that_does_not_fit(
    unlabelled: SDGAD,
) -> None:
    weights = unlabelled._weights() | {"evidence.recent.plain": np.zeros(2)}
    with pytest.raises(ValueError, match="recent"):
        copy(unlabelled)._restore(weights, unlabelled._calibration())


def test_what_is_told_of_an_unfamiliar_source_is_how_rare_it_is_and_not_what_counts_of_it(
    unlabelled: SDGAD,
) -> None:
    panel = unlabelled._panel
    assert panel is not None
    told = {name: np.array([1.0, 1e3]) for name in unlabelled._say}
    found = {name: (weight, nats) for name, weight, nats in unlabelled._evidence_told(told)}
    weight, nats = found["newcomer"]
    np.testing.assert_array_equal(nats, panel.tails["newcomer"](told["newcomer"]))
    assert nats[1] > 10
    np.testing.assert_allclose(weight * nats, unlabelled._say["newcomer"] * panel.nats(told)["newcomer"])
    assert (weight * nats)[1] <= 2 * unlabelled._say["newcomer"]


def test_a_last_word_that_does_not_go_with_the_evidence_is_refused() -> None:
    model = fit()
    weights, calibration = model._weights(), model._calibration()
    without = {name: array for name, array in weights.items() if not name.startswith("evidence.last.")}
    for arrays, held in (
        (without, calibration),
        (weights, {name: value for name, value in calibration.items() if name != "last_word"}),
        (weights, {**calibration, "last_word": {"trunks": 1.0}}),
    ):
        with pytest.raises((ValueError, KeyError), match=r"last|rarer"):
            copy(model)._restore(arrays, held)
