"""Live scoring beyond the contract: bounds, damage, failures; and one detector on many streams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError

from sdgad.detectors import Detector, load, make_detector
from sdgad.detectors.live import LiveScorer
from sdgad.errors import InputError, ModelFolderError, NotFittedError
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream
from sdgad.history.window import Window

SMALL: dict[str, dict[str, Any]] = {
    "sdgad": {"history": 5, "width": 8, "projection": 8, "hidden": 16, "trees": 20},
    "boosting": {"max_iter": 20},
    "isolation-forest": {"trees": 20},
}
TIES = ("strict", "arrival")
CLOSE = 1e-5
TICK = 3600.0


def payments(num_events: int = 400, seed: int = 5) -> EventStream:
    """Payments on a clock of whole hours, so that times tie."""
    events = simulate_payments(num_events, anomaly_rate=0.05, seed=seed)
    names = [events.vocabulary.raw(codes).to_pylist() for codes in (events.src, events.dst)]
    t = np.floor(events.t / TICK) * TICK
    return EventStream(*names, t, events.msg, events.label, features=events.features, clock=events.clock)


EVENTS = payments()
TRAIN, VAL, TEST = EVENTS.split()
FEATURES = EVENTS.features
IDS = [*EVENTS.vocabulary.names[0].to_pylist()[:6], "unseen", "Ünseen", "7"]


def fitted(name: str, **options: Any) -> Detector:
    detector = make_detector(name, **{**SMALL.get(name, {}), "device": "cpu", **options})
    return detector.fit(TRAIN, val=VAL, **({"epochs": 1} if name == "sdgad" else {}))


@pytest.fixture(scope="module")
def detector() -> Detector:
    return fitted("boosting")


def load_copy(detector: Detector, folder: Path) -> Detector:
    detector.save(folder / "copy")
    return load(folder / "copy")


@st.composite
def arrivals(draw: st.DrawFn) -> EventStream:
    """Events after the end of the history: known and unseen ids, ties, self-loops, odd features."""
    count = draw(st.integers(1, 14))
    ids = st.lists(st.sampled_from(IDS), min_size=count, max_size=count)
    gaps = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 3600.0, 90_000.0]), min_size=count, max_size=count))
    amount = st.one_of(st.just(np.nan), st.floats(0, 1e6, width=32))
    channel = st.sampled_from([0.0, 1.0, 2.0, np.nan])
    msg = draw(st.lists(st.tuples(amount, channel), min_size=count, max_size=count))
    t = VAL.t[-1] + np.cumsum(gaps)
    return EventStream(draw(ids), draw(ids), t, np.array(msg), features=FEATURES, clock=EVENTS.clock)


def in_parts(live: LiveScorer, events: EventStream, seed: int) -> np.ndarray:
    """Score and update in random batches."""
    random = np.random.default_rng(seed)
    scores, start = [], 0
    while start < len(events):
        size = int(random.integers(1, 6))
        scores.append(live.score_and_update(events[start : start + size]))
        start += size
    return np.concatenate(scores)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", ["boosting", "sdgad"])
def test_live_scores_are_offline_scores_however_events_arrive(name: str, ties: str, tmp_path: Path) -> None:
    detector = fitted(name, ties=ties)
    live = detector.live()
    live.snapshot(tmp_path / "start")

    @given(arrivals(), st.integers(0, 2**32 - 1))
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def check(events: EventStream, seed: int) -> None:
        offline = detector.decision_function(events)
        live.restore(tmp_path / "start")
        np.testing.assert_allclose(live.score(events), offline, rtol=0, atol=CLOSE)
        np.testing.assert_allclose(in_parts(live, events, seed), offline, rtol=0, atol=CLOSE)

    check()


@pytest.mark.parametrize("bounds", [{"max_nodes": 20}, {"max_age": 43_200.0}], ids=str)
@pytest.mark.parametrize("ties", TIES)
def test_a_bounded_memory_scores_alike_live_and_offline(bounds: dict[str, Any], ties: str) -> None:
    detector = fitted("sdgad", ties=ties, **bounds)
    offline, live = detector.decision_function(TEST), detector.live()
    np.testing.assert_allclose(in_parts(live, TEST, 0), offline, rtol=0, atol=CLOSE)
    unbounded = detector.set_params(max_nodes=None, max_age=None)
    assert np.abs(unbounded.decision_function(TEST) - offline).max() > CLOSE  # or nothing was forgotten


def test_pairs_of_forgotten_lives_are_cleared_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdgad.detectors.live.SPARE", 50)
    live = fitted("boosting", max_age=50.0).live()
    random, ids = np.random.default_rng(0), np.array([f"n{i}" for i in range(40)])
    for number in range(60):
        t = VAL.t[-1] + 1000.0 * (number + 1) + 100.0 * np.arange(20)
        src, dst = ids[random.integers(0, 40, 20)], ids[random.integers(0, 40, 20)]
        live.update(EventStream(src, dst, t, TEST.msg[:20], features=FEATURES, clock=EVENTS.clock))
    assert live._buffer.pairs < 200  # of 1,200 events, each of a life of its own


def test_a_bounded_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdgad.detectors.live.SPARE", 0)
    detector = fitted("boosting", max_nodes=10)
    live = detector.live()
    for number in range(100):
        t = np.array([VAL.t[-1] + 10 * (number + 1)])
        one = EventStream(
            [f"s{number}"], [f"d{number}"], t, TEST.msg[:1], features=FEATURES, clock=EVENTS.clock
        )
        live.score_and_update(one)
        assert live.history_size[1] <= 10 + 2  # an event brings two at once
        assert len(live._slots) <= 2 * 10 + 4
    assert len(live._buffer._nodes) < 60  # slots are used again


def test_a_large_batch_is_scored_as_small_ones_are() -> None:
    more = payments(4000, seed=8)
    detector = fitted("isolation-forest")
    later = EventStream(
        *(more.vocabulary.raw(codes).to_pylist() for codes in (more.src, more.dst)),
        more.t - more.t[0] + VAL.t[-1] + TICK,
        more.msg,
        features=FEATURES,
        clock=more.clock,
    )
    np.testing.assert_array_equal(detector.live().score(later), detector.decision_function(later))


# ---------------------------------------------------------------------- policies
def late_events() -> EventStream:
    """Two events, of which the first is older than the end of the history."""
    t = np.array([VAL.t[-1] - 5 * TICK, VAL.t[-1] + TICK])
    return EventStream(IDS[:2], IDS[2:4], t, TEST.msg[:2], features=FEATURES, clock=EVENTS.clock)


def test_a_refused_batch_changes_nothing(detector: Detector, tmp_path: Path) -> None:
    live = detector.live(late="error")
    live.snapshot(tmp_path / "before")
    lacking = EventStream(["a"], ["b"], TEST.t[-1:])
    with pytest.raises(InputError, match=r"Row 1 is older"):
        live.score_and_update(late_events())
    with pytest.raises(InputError, match="amount"):
        live.update(lacking)
    with pytest.raises(InputError, match="name space"):
        live.score(EventStream(["a"], ["b"], TEST.t[-1:], TEST.msg[:1], features=FEATURES, bipartite=True))
    with pytest.raises(InputError, match="EventStream"):
        live.score([1, 2])  # type: ignore[arg-type]
    live.snapshot(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_unknown_policies_and_unfitted_detectors_are_refused(detector: Detector) -> None:
    with pytest.raises(InputError, match="late='never'"):
        detector.live(late="never")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="flagged='maybe'"):
        detector.live(flagged="maybe")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        make_detector("boosting").live()


# ---------------------------------------------------------------------- snapshots
def test_a_snapshot_of_a_bounded_memory_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    detector = fitted("sdgad", max_nodes=20)
    live = detector.live()
    live.score_and_update(TEST[:51])
    live.snapshot(tmp_path / "state", {"lines": 51, "where": "über"})
    detector.save(tmp_path / "model")
    other = load(tmp_path / "model").live()
    assert other.restore(tmp_path / "state") == {"lines": 51, "where": "über"}
    assert other.history_size == live.history_size
    for start in range(51, len(TEST), 7):
        part = TEST[start : start + 7]
        np.testing.assert_array_equal(other.score_and_update(part), live.score_and_update(part))


def test_a_state_of_another_model_or_a_damaged_one_is_refused(tmp_path: Path, detector: Detector) -> None:
    path = tmp_path / "state"
    live = detector.live()
    live.snapshot(path)
    whole = path.read_bytes()
    with pytest.raises(ModelFolderError, match="another model"):
        fitted("isolation-forest").live().restore(path)
    other = load_copy(detector, tmp_path)
    with pytest.raises(ModelFolderError, match="another model"):
        other.set_params(max_nodes=20).live().restore(path)
    assert other.set_params(max_nodes=None).live().restore(path) == {}
    for field, value in (("unit", "ms"), ("timezone", "Europe/Berlin")):
        elsewhere = load_copy(detector, tmp_path)
        border = elsewhere._archive.border
        elsewhere._archive.border = replace(border, clock=replace(border.clock, **{field: value}))
        with pytest.raises(ModelFolderError, match="another model"):
            elsewhere.live().restore(path)
    with pytest.raises(ModelFolderError, match="no state"):
        live.restore(tmp_path / "nowhere")
    before = live.score(TEST)
    random = np.random.default_rng(0)
    for cut in random.integers(0, len(whole), 20):
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelFolderError, match=r"damaged|no state"):
            live.restore(path)
    for place in random.integers(8, len(whole), 40):
        flipped = bytearray(whole)
        flipped[place] ^= 0xFF
        path.write_bytes(bytes(flipped))
        with pytest.raises(ModelFolderError):
            live.restore(path)
    np.testing.assert_array_equal(live.score(TEST), before)


def test_a_snapshot_that_fails_leaves_the_last_one(
    tmp_path: Path, detector: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, live = tmp_path / "state", detector.live()
    live.snapshot(path, {"lines": 1})
    live.update(TEST[:5])

    def full(arrays: Any, file: Path, metadata: Any) -> None:  # noqa: ARG001
        file.write_bytes(b"half")
        assert path.exists()  # the last one stays while the next one is written
        raise SafetensorError("No space left on device")

    monkeypatch.setattr("sdgad.detectors.live_state.save_file", full)
    with pytest.raises(InputError, match="No space left"):
        live.snapshot(path, {"lines": 2})
    assert [file.name for file in tmp_path.iterdir()] == ["state"]
    assert live.restore(path) == {"lines": 1}


def test_a_dropped_event_takes_no_memory(detector: Detector) -> None:
    live = detector.live(late="drop")
    before = live.history_size
    t = np.array([VAL.t[-1] - TICK])
    live.score_and_update(
        EventStream(["nobody"], ["noone"], t, TEST.msg[:1], features=FEATURES, clock=EVENTS.clock)
    )
    assert live.history_size == before


def test_a_new_threshold_acts_on_what_is_flagged_from_then_on() -> None:
    detector = fitted("isolation-forest")
    live = detector.live(flagged="skip")
    before = live.history_size[0]
    detector.set_threshold(0.0)  # everything
    live.score_and_update(TEST[:10])
    assert live.history_size[0] == before
    detector.set_threshold(1.0)
    live.score_and_update(TEST[10:20])
    assert live.history_size[0] == before + 10


def test_what_a_failing_model_was_to_score_has_not_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = fitted("isolation-forest").live()
    live.score_and_update(TEST[:20])
    live.snapshot(tmp_path / "before")
    ids = live.history_size
    with monkeypatch.context() as broken:
        broken.setattr(live._state, "_score", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            live.score_and_update(TEST[20:40])
    assert live.history_size == ids
    want = fitted("isolation-forest").live()
    want.update(TEST[:20])
    np.testing.assert_array_equal(live.score_and_update(TEST[20:]), want.score_and_update(TEST[20:]))


def test_a_model_sees_batches_of_a_few_shapes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = fitted("isolation-forest")
    live, plain, seen = detector.live(), detector._score_window, set()

    def watch(windows: list[Window]) -> np.ndarray:
        (window,) = windows
        seen.add(len(window))
        return plain(window)

    monkeypatch.setattr(live._state, "_score", watch)
    for size in (1, 3, 5, 17, 100):
        live.score(TEST[:size])
    assert seen == {1, 4, 8, 32, 128}


def test_a_bipartite_stream_is_scored_alike_live_and_offline() -> None:
    ids = [[str(code % 9) for code in codes] for codes in (EVENTS.src, EVENTS.dst)]  # the same on both sides
    events = EventStream(*ids, EVENTS.t, EVENTS.msg, EVENTS.label, features=FEATURES, bipartite=True)
    train, val, test = events.split()
    detector = make_detector("isolation-forest", trees=20).fit(train, val=val)
    np.testing.assert_array_equal(in_parts(detector.live(), test, 0), detector.decision_function(test))


def test_events_in_another_unit_are_the_same_events(detector: Detector) -> None:
    names = [TEST.vocabulary.raw(codes).to_pylist() for codes in (TEST.src, TEST.dst)]
    t = (TEST.t * 1000).round().astype(np.int64)
    clock = replace(EVENTS.clock, unit="ms")
    events = EventStream(*names, t, TEST.msg, features=FEATURES, clock=clock)
    np.testing.assert_allclose(detector.live().score(events), detector.live().score(TEST), rtol=0, atol=1e-6)


def test_many_late_events_in_a_row_are_told_once(
    detector: Detector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sdgad.detectors.live.LATE_IN_A_ROW", 5)
    live = detector.live()
    far = EventStream(["a"], ["b"], TEST.t[-1:] + 1e9, TEST.msg[:1], features=FEATURES, clock=EVENTS.clock)
    live.update(far)
    for row in range(20):
        live.score_and_update(TEST[row : row + 1])
    assert len([record for record in caplog.records if "in a row" in record.getMessage()]) == 1
