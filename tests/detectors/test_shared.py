"""A fitted detector may be shared: by threads, by copies of which one moves on or is fitted anew, by an update that fails."""

from __future__ import annotations

import copy
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from sdgad.detectors import Detector, archive, make_detector
from sdgad.detectors.archive import Archive
from sdgad.detectors.tally import Tally
from sdgad.events import hashing
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream

SMALL = {"history": 3, "width": 8, "hidden": 8, "epochs": 1, "device": "cpu"}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "midas-f": ("midas-f", {"tick": 3600.0}),
    "tcl": ("classifier", {"encoder": "tcl", **SMALL}),
    "tgn": ("classifier", {"encoder": "tgn", "commit": 20, **SMALL}),
}
EVENTS = simulate_payments(700, anomaly_rate=0.05, seed=9)
OTHERS = simulate_payments(700, anomaly_rate=0.05, seed=10)
TRAIN, VAL, TEST = EVENTS.split()


@pytest.fixture(params=sorted(KINDS))
def detector(request: pytest.FixtureRequest) -> Detector:
    name, options = KINDS[request.param]
    return make_detector(name, **options).fit(TRAIN, val=VAL)


def test_threads_do_not_disturb_each_other(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the state, nor in the live buffer that is kept for small files."""
    monkeypatch.setattr(archive, "LARGE", 0)
    monkeypatch.setattr(archive, "RUN", 0.001)
    alone = detector.decision_function(TEST)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: detector.decision_function(TEST), range(16)))
    for scores in [*together, detector.decision_function(TEST)]:
        np.testing.assert_allclose(scores, alone, rtol=0, atol=1e-6)


def test_a_copy_does_not_hear_of_a_later_fit(detector: Detector) -> None:
    other = copy.copy(detector)
    before = other.decision_function(TEST)
    options = {"history": 5, "width": 16} if "history" in detector.get_params() else {"seed": 5}
    train, val, _ = OTHERS.split()
    detector.set_params(**options).fit(train, val)
    np.testing.assert_array_equal(other.decision_function(TEST), before)


def test_a_deep_copy_goes_its_own_way(detector: Detector) -> None:
    before = detector.decision_function(TEST)
    other = copy.deepcopy(detector)
    other.update(TEST[:100])
    np.testing.assert_allclose(other.decision_function(TEST[100:]), before[100:], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(detector.decision_function(TEST), before)


def test_an_update_that_fails_has_not_happened(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    before, size = detector.decision_function(TEST), detector.history_size

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        for kind in (Archive, Tally):
            broken.setattr(kind, "extended", stop)
        with pytest.raises(KeyboardInterrupt):
            detector.update(TEST[:50])
    assert detector.history_size == size
    np.testing.assert_array_equal(detector.decision_function(TEST), before)


def test_another_device_takes_the_network_along_and_leaves_that_of_a_copy() -> None:
    name, options = KINDS["tcl"]
    detector = make_detector(name, **options).fit(TRAIN, val=VAL)
    other = copy.copy(detector)
    scores = other.decision_function(TEST)
    detector.set_params(device="meta")
    assert {p.device.type for p in detector._model.parameters()} == {"meta"}
    np.testing.assert_array_equal(other.decision_function(TEST), scores)
    with pytest.raises(Exception, match="fitted"):
        _ = make_detector(name, **options).needs


# ---------------------------------------------------------------------- without a log
@pytest.fixture
def midas() -> Detector:
    return make_detector("midas-f", tick=3600.0).fit(TRAIN, val=VAL)


def test_events_of_the_time_of_the_fit_are_told(midas: Detector, caplog: pytest.LogCaptureFixture) -> None:
    past = EVENTS[: len(TRAIN) + len(VAL)]
    assert midas.used_to_fit(past) == len(past)
    assert midas.used_to_fit(TEST) == 0
    with caplog.at_level(logging.WARNING):
        midas.decision_function(past)
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "were used to fit" in said
    assert "count as if they happened now" in said


def test_only_ids_that_occur_are_hashed(midas: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[int] = []
    original = hashing.hashed_ids

    def count(vocabulary: Any, codes: Any) -> Any:
        hashed.append(len(codes))
        return original(vocabulary, codes)

    monkeypatch.setattr(hashing, "hashed_ids", count)
    midas.decision_function(TEST[:3])
    assert hashed[-1] <= 6 < len(TEST.vocabulary)


def test_features_that_are_not_used_are_not_asked_for(midas: Detector) -> None:
    names = [TEST.vocabulary.raw(codes).to_pylist() for codes in (TEST.src, TEST.dst)]
    bare = EventStream(*names, TEST.t, clock=TEST.clock)
    np.testing.assert_array_equal(midas.decision_function(bare), midas.decision_function(TEST))
    assert midas.columns.features == ()


def test_a_state_of_another_fit_is_refused(midas: Detector) -> None:
    other = make_detector("midas-f", tick=3600.0).fit(*OTHERS.split()[:2])
    assert other.fingerprint() != midas.fingerprint()
