"""Traps 30 to 39 of docs/traps.md: what a score may know, and what a figure means."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from sdgad.detectors import Detector, list_detectors, make_detector
from sdgad.detectors.pseudo import PseudoAnomalies
from sdgad.detectors.sdgad.known import KnownCentre
from sdgad.detectors.sdgad.model import SDGADModel
from sdgad.events.clock import Clock
from sdgad.events.injection import inject
from sdgad.events.stream import EventStream
from sdgad.experiments.protocol import Protocol
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window
from sdgad.metrics import auroc

OPTIONS: dict[str, dict[str, Any]] = {
    "sdgad": {"history": 5, "width": 8, "projection": 8, "hidden": 16, "batch": 64, "trees": 20},
    "boosting": {"max_iter": 100, "seed": 1},
    "isolation-forest": {"trees": 40},
    "histogram": {"bins": 5},  # of 600 events
    "sad": {"history": 5, "hop": 2, "width": 8, "batch": 64},
    "generaldyg": {"history": 4, "hop": 2, "edges": 8, "width": 8, "depth": 2, "batch": 64},
}
EPOCHS = {"sdgad": 3, "sad": 3, "generaldyg": 3}
CLOSE = 1e-5
PEOPLE, SHOPS = 40, 30
Array = np.ndarray[Any, Any]


class Shopping:
    """People who go to three shops each and pay about 1; one payment in twenty is 9, to any shop."""

    def __init__(self, count: int = 1500, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.odd = rng.random(count) < 0.05
        self.src = rng.integers(0, PEOPLE, count)
        usual = (self.src + 7 * rng.integers(0, 3, count)) % SHOPS
        self.dst = np.where(self.odd, rng.integers(0, SHOPS, count), usual)
        self.msg = np.where(self.odd, 9.0, 1.0)[:, None] + rng.normal(0, 0.2, (count, 1))
        self.t = np.cumsum(rng.integers(0, 60, count))

    def stream(self, **columns: Array) -> EventStream:
        """The events, or some others in place of theirs."""
        column = {"src": self.src, "dst": self.dst, "t": self.t, "msg": self.msg, "label": self.odd} | columns
        return EventStream(
            column["src"], column["dst"], column["t"], column["msg"], column["label"], bipartite=True,
            clock=Clock("s"),
        )  # fmt: skip

    def changed(self, rows: slice, **values: Any) -> EventStream:
        """The stream with other values in some rows."""
        columns = {name: getattr(self, name).copy() for name in values}
        for name, value in values.items():
            columns[name][rows] = value
        return self.stream(**columns)


SHOPPING = Shopping()
EVENTS = SHOPPING.stream()
TRAIN, VAL, TEST = EVENTS.split()
FIRST = len(TRAIN) + len(VAL)


def fitted(name: str, supervision: Any = "all", **options: Any) -> Detector:
    detector = make_detector(name, **{**OPTIONS.get(name, {}), "device": "cpu", **options})
    train, val = TRAIN.with_labels(supervision), VAL.with_labels(supervision)
    return detector.fit(train, val=val, epochs=EPOCHS.get(name))


@pytest.fixture(scope="module", params=list_detectors())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def detector(name: str) -> Detector:
    return fitted(name)


@pytest.fixture(scope="module")
def scores(detector: Detector) -> Array:
    return detector.decision_function(TEST)


class Batches:
    """What every batch of a fit of SDGAD held."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[Window, Tensor, Tensor]] = []
        original = SDGADModel.losses

        def losses(model: SDGADModel, window: Window, anomalous: Tensor, weight: Tensor) -> dict[str, Tensor]:
            self.seen.append((window, anomalous, weight))
            return original(model, window, anomalous, weight)

        monkeypatch.setattr(SDGADModel, "losses", losses)


# ---------------------------------------------------------------------- 30, 37: what comes later
def test_a_score_and_a_decision_need_no_later_event(detector: Detector, scores: Array) -> None:
    """Not the rest of the test part, not its extremes, not how many there are."""
    cut = 150
    wild = SHOPPING.changed(slice(FIRST + cut, None), src=0, dst=0, msg=1e6)[FIRST:]
    detector = copy.copy(detector).set_threshold(float(scores.max() + scores.min()) / 2)
    decisions = detector.predict(TEST)
    assert 0 < decisions.sum() < len(TEST)
    for events in (TEST[:cut], wild):
        np.testing.assert_allclose(detector.decision_function(events)[:cut], scores[:cut], atol=CLOSE)
        np.testing.assert_array_equal(detector.predict(events)[:cut], decisions[:cut])
    for row in (1, 77, cut):
        moved = copy.copy(detector).update(TEST[:row])
        alone = moved.decision_function(TEST[row : row + 1])
        np.testing.assert_allclose(alone, scores[row : row + 1], atol=CLOSE)


def test_a_last_event_scores_as_if_its_source_went_on(detector: Detector, scores: Array) -> None:
    """Whether a source comes back is known from the future alone; what the event is called, by nobody."""
    last = [row for row in range(len(TEST)) if not (TEST.src[row + 1 :] == TEST.src[row]).any()]
    assert len(last) >= PEOPLE - 5
    follow = {name: getattr(SHOPPING, name)[FIRST:][last] for name in ("src", "dst", "msg")}
    columns = {name: np.concatenate([getattr(SHOPPING, name), more]) for name, more in follow.items()}
    after = SHOPPING.t[-1] + 1 + np.arange(len(last))
    longer = SHOPPING.stream(
        **columns, t=np.append(SHOPPING.t, after), label=np.append(SHOPPING.odd, np.zeros(len(last)))
    )[FIRST:]
    np.testing.assert_allclose(detector.decision_function(longer)[last], scores[last], atol=CLOSE)
    misnamed = EVENTS.with_columns(label=~SHOPPING.odd)[FIRST:]
    np.testing.assert_array_equal(detector.decision_function(misnamed), scores)


# ---------------------------------------------------------------------- 31, 33: made-up events
def test_in_training_a_pseudo_anomaly_has_features_and_a_past_like_any_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An event without a current token, or with an empty one, would be told by that alone."""
    batches = Batches(monkeypatch)
    detector = fitted("sdgad", "none")
    amounts = set(detector.border.features.encode(TRAIN).ravel().tolist())  # on the model's own scale
    pasts = {True: [0, 0], False: [0, 0]}
    for window, anomalous, _ in batches.seen:
        made = int(anomalous.sum())
        assert made == (len(anomalous) - made + 1) // 2
        assert set(window.msg.ravel().tolist()) <= amounts
        assert window.context.abs().sum(1).min() > 0
        for kind in (True, False):
            full = window.mask[anomalous == kind].any(2)
            pasts[kind][0] += int(full.sum())
            pasts[kind][1] += full.numel()
    share = {kind: some / every for kind, (some, every) in pasts.items()}
    assert share[True] > 0.9 * share[False] > 0.5


def test_a_pseudo_anomaly_buys_at_a_shop() -> None:
    """Of a stream with two sides, sources stay sources and destinations are destinations that somebody has."""
    rows = torch.arange(len(TRAIN))
    index = HistoryIndex(EVENTS.src, EVENTS.dst, EVENTS.t, num_nodes=EVENTS.num_nodes)
    made = PseudoAnomalies(index, rows).draw(rows, torch.Generator().manual_seed(0))
    src, dst = made.query.node.T.numpy()
    assert set(src.tolist()) <= set(TRAIN.src.tolist())
    assert set(dst.tolist()) <= set(TRAIN.dst.tolist())
    assert set(src.tolist()).isdisjoint(dst.tolist())
    assert (
        dst[: len(dst) // 2] != TRAIN.dst[::2]
    ).mean() > 0.8  # the rest got their own destination by chance


@pytest.mark.parametrize("bipartite", [True, False])
@pytest.mark.parametrize("preset", ["clean", "paper"])
@pytest.mark.parametrize("kind", ["S", "TSC"])
def test_an_injected_stranger_is_a_stranger_and_can_be_a_destination(
    kind: str, preset: Any, bipartite: bool
) -> None:
    events = EVENTS
    if not bipartite:
        dst = (SHOPPING.dst + 7) % PEOPLE  # now and then somebody pays himself
        events = EventStream(SHOPPING.src, dst, SHOPPING.t, SHOPPING.msg)
    train, val, test = events.with_columns(label=np.zeros(len(events))).split()
    known = set(zip(train.src.tolist(), train.dst.tolist(), strict=True))
    if preset == "clean":
        known |= set(zip(val.src.tolist(), val.dst.tolist(), strict=True))
    known |= set(zip(test.src.tolist(), test.dst.tolist(), strict=True))
    for seed in range(4):
        noisy = inject(test, {kind: 0.1}, seed=seed, preset=preset)
        made = noisy.label == 1
        pairs = set(zip(noisy.src[made].tolist(), noisy.dst[made].tolist(), strict=True))
        assert made.sum() == 60
        assert not pairs & known
        if bipartite:
            assert noisy.src[made].max() < events.vocabulary.num_sources <= noisy.dst[made].min()
        if preset == "clean":
            assert all(src != dst for src, dst in pairs)
            assert set(noisy.dst[made].tolist()) <= set(test.dst.tolist())


# ---------------------------------------------------------------------- 34, 35, 39: labels and losses
def test_anomalies_score_higher_than_normals(name: str, detector: Detector, scores: Array) -> None:
    """With labels and without, by every detector that can see what is wrong; and what is flagged is what scores high."""
    if not detector.tags.uses_features:
        pytest.skip("what is wrong with these events is their amount")
    unlabelled = fitted(name, "none").decision_function(TEST)
    assert (auroc(TEST.label, scores) or 0) > 0.8
    assert (auroc(TEST.label, unlabelled) or 0) > 0.7
    assert TEST.label[detector.predict(TEST) == 1].mean() > 2 * TEST.label.mean()


def test_with_labels_no_class_has_more_say_than_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the cross-entropy each event counts once; so the mean probability is the share of anomalies."""
    batches = Batches(monkeypatch)
    fitted("sdgad")
    assert int((TRAIN.label == 1).sum()) >= 20  # with fewer, docs/traps.md says who counts how much
    assert {float(w) for _, _, weight in batches.seen for w in weight.unique()} == {1.0}
    share = TRAIN.label.mean()
    odd = np.random.default_rng(0).permutation(TRAIN.label)  # nothing to learn but how many there are
    detector = make_detector("boosting", max_iter=10).fit(TRAIN.with_columns(label=odd), val=VAL)
    assert detector.decision_scores_.mean() == pytest.approx(share, rel=0.2)


def test_a_confident_right_answer_costs_nothing_and_a_wrong_one_much() -> None:
    """A probability in place of log-odds would cost at least log(1 + 1/e) = 0.31, and at most 1.31."""
    known = KnownCentre(1)
    with torch.no_grad():
        known.ratio.weight.fill_(1.0)
        known.ratio.bias.zero_()
    sure = torch.tensor([[40.0], [-40.0]])
    right, wrong = torch.tensor([True, False]), torch.tensor([False, True])
    assert known.loss(sure, right, torch.ones(2)).item() < 1e-6
    assert known.loss(sure, wrong, torch.ones(2)).item() == pytest.approx(40)


def test_every_loss_on_log_odds_is_given_log_odds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take both signs where anomalies are few; probabilities never do."""
    lowest: list[float] = []
    original = F.binary_cross_entropy_with_logits

    def noted(odds: Tensor, *given: Any, **options: Any) -> Tensor:
        lowest.append(float(odds.detach().min()))
        return original(odds, *given, **options)

    monkeypatch.setattr(F, "binary_cross_entropy_with_logits", noted)
    fitted(name)
    assert lowest or name != "sdgad"
    assert min(lowest, default=-1.0) < 0


# ---------------------------------------------------------------------- 38: what makes figures comparable
def test_the_history_of_either_endpoint_moves_the_score() -> None:
    """By an encoder whose endpoints do not see each other, and without context features, which know both."""
    detector = fitted("sdgad", encoder="graphmixer", context=False)
    src, dst, t = int(SHOPPING.src[-1]), int(SHOPPING.dst[-1]), int(SHOPPING.t[-1])

    def score(past: list[tuple[int, int, float]]) -> float:
        rows = [*past, (src, dst, 1.0)]
        who, whom, amount = zip(*rows, strict=True)
        columns = {
            "src": np.append(SHOPPING.src, who),
            "dst": np.append(SHOPPING.dst, whom),
            "msg": np.append(SHOPPING.msg, np.array(amount)[:, None], axis=0),
            "t": np.append(SHOPPING.t, t + 60 * np.arange(1, len(rows) + 1)),
            "label": np.append(SHOPPING.odd, np.zeros(len(rows))),
        }
        columns["t"][-1] = t + 3600
        return float(detector.decision_function(SHOPPING.stream(**columns)[FIRST:])[-1])

    for met in ((src, (dst + 1) % SHOPS), ((src + 1) % PEOPLE, dst)):
        assert abs(score([(*met, 30.0)]) - score([])) > 1e-4


def test_parts_are_40_20_40_by_default_everywhere() -> None:
    assert [len(part) for part in EVENTS.split()] == [600, 300, 600]
    assert [len(part) for part in Protocol().parts(EVENTS)] == [600, 300, 600]
    options = inspect.signature(Protocol).parameters
    assert (options["train"].default, options["val"].default) == (0.4, 0.2)
