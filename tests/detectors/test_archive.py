"""The archive: small files cost what they are, give the scores of an index over everything, and leave nothing behind."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from sdgad.detectors import Detector, archive, make_detector
from sdgad.detectors.archive import Archive
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream
from sdgad.history.index import HistoryIndex

TICK = 3600.0
SMALL: dict[str, dict[str, Any]] = {
    "boosting": {"max_iter": 20},
    "sdgad": {"history": 4, "width": 8, "hidden": 8, "projection": 8, "epochs": 1},
    "classifier": {"encoder": "tgn", "history": 4, "width": 8, "hidden": 8, "epochs": 1, "commit": 30},
}


def payments() -> EventStream:
    events = simulate_payments(900, anomaly_rate=0.05, seed=4)
    names = [events.vocabulary.raw(codes).to_pylist() for codes in (events.src, events.dst)]
    t = np.floor(events.t / TICK) * TICK
    return EventStream(*names, t, events.msg, events.label, features=events.features, clock=events.clock)


EVENTS = payments()
TRAIN, VAL, TEST = EVENTS.split()


@pytest.fixture(
    scope="module", params=[(name, ties) for name in SMALL for ties in ("strict", "arrival")], ids=str
)
def fitted(request: pytest.FixtureRequest) -> Detector:
    name, ties = request.param
    return make_detector(name, **SMALL[name], ties=ties, device="cpu").fit(TRAIN, val=VAL)


@pytest.fixture
def detector(fitted: Detector) -> Detector:
    """A copy with an archive of its own."""
    one = copy.copy(fitted)
    old = fitted._archive
    assert isinstance(old, Archive)
    one._archive = Archive(old.border, old.nodes, old.log, old.fitted_until)
    return one


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file goes through the live buffer."""
    monkeypatch.setattr(archive, "LARGE", 0)
    monkeypatch.setattr(archive, "RUN", 0.001)


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the indexes that are built."""
    built: list[int] = []
    original = HistoryIndex.__init__

    def count(index: HistoryIndex, src: Any, *rest: Any, **options: Any) -> None:
        built.append(len(src))
        original(index, src, *rest, **options)

    monkeypatch.setattr(HistoryIndex, "__init__", count)
    return built


@pytest.mark.usefixtures("small_is_large")
def test_a_small_file_scores_as_by_an_index_over_everything(fitted: Detector, detector: Detector) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGE", 10**9)
        by_index = fitted.decision_function(TEST)
    np.testing.assert_allclose(detector.decision_function(TEST), by_index, rtol=0, atol=1e-6)
    np.testing.assert_allclose(detector.decision_function(TEST[:50]), by_index[:50], rtol=0, atol=1e-6)


@pytest.mark.usefixtures("small_is_large")
def test_only_the_first_small_file_costs_an_index(detector: Detector, indexes: list[int]) -> None:
    first = detector.decision_function(TEST[:7])
    assert indexes == [len(TRAIN) + len(VAL)]
    np.testing.assert_array_equal(detector.decision_function(TEST[:7]), first)
    detector.update(TEST[:20])
    detector.decision_function(TEST[20:40])
    detector.update(TEST[20:21]).decision_function(TEST[21:22])
    assert len(indexes) == 1


@pytest.mark.usefixtures("small_is_large")
def test_small_updates_end_where_a_large_one_does(fitted: Detector, detector: Detector) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGE", 10**9)
        whole = fitted.decision_function(TEST)
    detector.decision_function(TEST[:1])
    for start in range(0, 90, 9):
        detector.update(TEST[start : start + 9])
    np.testing.assert_allclose(detector.decision_function(TEST[90:]), whole[90:], rtol=0, atol=1e-6)
    assert detector.history_size[0] == len(TRAIN) + len(VAL) + 90


@pytest.mark.usefixtures("small_is_large")
def test_an_update_leaves_a_copy_where_it_was(detector: Detector) -> None:
    before = detector.decision_function(TEST[:60])
    other = copy.copy(detector)
    other.update(TEST[:30])
    np.testing.assert_allclose(other.decision_function(TEST[30:60]), before[30:], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(detector.decision_function(TEST[:60]), before)
    assert other.history_size[0] == detector.history_size[0] + 30


@pytest.mark.usefixtures("small_is_large")
def test_a_late_file_is_put_where_it_belongs(fitted: Detector, detector: Detector) -> None:
    if fitted.name == "sdgad":  # what is recent follows the order in which events came
        options = SMALL["sdgad"] | {"local": False, "ties": fitted.get_params()["ties"]}
        fitted = make_detector("sdgad", **options).fit(TRAIN, val=VAL)
        detector = copy.copy(fitted)
    detector.update(TEST[40:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGE", 10**9)
        want = fitted.decision_function(TEST)
    earlier = TEST.t[:40] < TEST.t[40]
    np.testing.assert_allclose(
        detector.decision_function(TEST[:40])[earlier], want[:40][earlier], rtol=0, atol=1e-6
    )


def test_a_large_file_takes_the_index(fitted: Detector, indexes: list[int]) -> None:
    fitted.decision_function(TEST)
    assert indexes == [len(EVENTS)]


def test_other_bounds_of_memory_ask_for_another_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGE", 0)
    monkeypatch.setattr(archive, "RUN", 0.001)
    detector = make_detector("boosting", **SMALL["boosting"]).fit(TRAIN, val=VAL)
    before = detector.decision_function(TEST[:80])
    bounded = detector.set_params(max_nodes=4).decision_function(TEST[:80])
    assert np.abs(bounded - before).max() > 1e-6
    np.testing.assert_array_equal(detector.set_params(max_nodes=None).decision_function(TEST[:80]), before)
