"""Every registered detector keeps the contract; a new one is tested by being registered."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdgad.detectors import Detector, list_detectors, load, make_detector
from sdgad.errors import InputError, NotFittedError
from sdgad.events.clock import Clock
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream, FeatureColumn

OPTIONS: dict[str, dict[str, Any]] = {
    "sdgad": {"history": 5, "width": 8, "projection": 8, "hidden": 16},
    "isolation-forest": {"trees": 40},
}
EPOCHS = {"boosting": 30}  # an epoch is one tree there
EXAMPLES = 200
TICK = 7200.0
CLOSE = 1e-5

Rename = Callable[[str], Any]


class Payments:
    """A small payment stream on a coarse clock, with ties, self-loops and duplicate rows, as raw columns."""

    def __init__(self, num_events: int = 1500, seed: int = 3) -> None:
        events = simulate_payments(num_events, anomaly_rate=0.03, seed=seed)
        row = np.arange(num_events)
        row[50::50] -= 1  # duplicates
        self.src = np.asarray(events.vocabulary.raw(events.src).to_pylist(), object)[row]
        self.dst = np.asarray(events.vocabulary.raw(events.dst).to_pylist(), object)[row]
        self.dst[::40] = self.src[::40]  # self-loops
        self.t = np.round(np.floor(events.t[row] / TICK) * TICK + 0.123, 3)  # no whole seconds
        assert events.msg is not None
        self.msg, self.label, self.features = events.msg[row], events.label[row], events.features

    def stream(self, rename: Rename = str, unit: str = "s") -> EventStream:
        t = self.t if unit == "s" else (self.t / Clock(unit).seconds).round().astype(np.int64)
        return EventStream(
            [rename(node) for node in self.src],
            [rename(node) for node in self.dst],
            t,
            self.msg,
            self.label,
            features=self.features,
            clock=Clock(unit, wall_clock=True),
        )


PAYMENTS = Payments()
TRAIN, VAL, TEST = PAYMENTS.stream().split(train=0.4, val=0.2)
END = float(VAL.t[-1])


def made(name: str, **options: Any) -> Detector:
    return make_detector(name, **{**OPTIONS.get(name, {}), "device": "cpu", **options})


def fitted(name: str, train: EventStream = TRAIN, val: EventStream | None = VAL, **options: Any) -> Detector:
    return made(name, **options).fit(train, val=val, epochs=EPOCHS.get(name, 1))


def examples() -> settings:
    return settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def fresh(src: list[Any], dst: list[Any], t: Any, msg: Any = None) -> EventStream:
    """A stream with no past of its own."""
    columns = np.tile(TEST.msg[:1], (len(src), 1)) if msg is None else msg
    return EventStream(src, dst, t, columns, features=PAYMENTS.features, clock=TEST.clock)


@pytest.fixture(scope="module", params=list_detectors())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def shared(name: str) -> Detector:
    """One fitted detector per name; tests work on copies."""
    return fitted(name)


@pytest.fixture(scope="module")
def base(shared: Detector) -> np.ndarray:
    return shared.decision_function(TEST)


@pytest.fixture
def detector(shared: Detector) -> Detector:
    return copy.copy(shared)


# ---------------------------------------------------------------------- scores
def test_a_score_is_one_finite_float64_inside_0_and_1_per_row(detector: Detector, base: np.ndarray) -> None:
    for scores, events in (
        (base, TEST),
        (detector.decision_scores_, TRAIN),
        (detector.validation_scores_, VAL),
    ):
        assert scores.dtype == np.float64
        assert scores.shape == (len(events),)
        assert np.isfinite(scores).all()
        assert ((scores > 0) & (scores < 1)).all()
    assert len(np.unique(base)) > 10


def test_scoring_changes_nothing(detector: Detector, base: np.ndarray) -> None:
    before = detector.history_size, detector.threshold_
    np.testing.assert_array_equal(detector.decision_function(TEST), base)
    np.testing.assert_array_equal(detector.decision_function(TEST), base)
    assert (detector.history_size, detector.threshold_) == before


def test_predictions_and_probabilities_follow_from_the_scores(detector: Detector, base: np.ndarray) -> None:
    detector.set_threshold(float(np.median(base)))
    np.testing.assert_array_equal(detector.predict(TEST), (base >= np.median(base)).astype(int))
    probability = detector.predict_proba(TEST)
    np.testing.assert_array_equal(probability[:, 1], base)
    np.testing.assert_allclose(probability.sum(1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(
        detector.labels_, (detector.decision_scores_ >= np.median(base)).astype(int)
    )
    p_value = detector.p_value(base)
    assert ((p_value > 0) & (p_value <= 1)).all()
    assert (np.diff(p_value[np.argsort(base)]) <= 0).all()


def test_the_future_never_changes_a_past_score(detector: Detector, base: np.ndarray) -> None:
    """The first n scores stay, whether the rest is missing or is anything else that comes no earlier."""

    @examples()
    @given(cut=st.integers(1, len(TEST) - 1), later=st.integers(0, 40), seed=st.integers(0, 2**16))
    def check(cut: int, later: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        first = len(PAYMENTS.t) - len(TEST)
        raw = slice(first, first + cut)
        pick = rng.integers(first, len(PAYMENTS.t), later)
        strangers = [f"stranger {i}" if i % 3 == 0 else PAYMENTS.dst[i] for i in pick]
        t = TEST.t[cut - 1] + TICK * np.sort(rng.integers(0, 4, later))  # also at the very same time
        other = PAYMENTS.msg[rng.permutation(pick)] * [3.0, 1.0]
        events = fresh(
            [*PAYMENTS.src[raw], *PAYMENTS.src[pick]],
            [*PAYMENTS.dst[raw], *strangers],
            np.concatenate([PAYMENTS.t[raw], t]),
            np.concatenate([PAYMENTS.msg[raw], other]),
        )
        np.testing.assert_allclose(detector.decision_function(events)[:cut], base[:cut], atol=CLOSE)

    check()


@pytest.mark.parametrize("ties", ["strict", "arrival"])
def test_scoring_and_updating_in_parts_is_scoring_at_once(
    name: str, shared: Detector, base: np.ndarray, ties: str
) -> None:
    """score(a + b) = score(a), then update(a) and score(b), for cuts inside a tie too."""
    start = shared if ties == "strict" else fitted(name, ties="arrival")
    whole = base if ties == "strict" else start.decision_function(TEST)
    tied = np.flatnonzero(TEST.t[1:] == TEST.t[:-1]) + 1
    assert len(tied) > 20

    inside_a_tie = st.sampled_from(tied.tolist())

    @examples()
    @given(st.integers(0, len(TEST)), st.integers(0, len(TEST)) | inside_a_tie)
    def check(one: int, other: int) -> None:
        first, second = sorted((one, other))
        moving = copy.copy(start).update(TEST[:first]).update(TEST[first:second])
        np.testing.assert_allclose(moving.decision_function(TEST[second:]), whole[second:], atol=CLOSE)
        assert moving.history_size[0] == start.history_size[0] + second

    check()


def test_the_detectors_own_history_wins_over_that_of_the_events(detector: Detector) -> None:
    part = TEST[100:140]
    first = len(PAYMENTS.t) - len(TEST) + 100
    rows = slice(first, first + 40)
    alone = fresh(
        list(PAYMENTS.src[rows]), list(PAYMENTS.dst[rows]), PAYMENTS.t[rows], msg=PAYMENTS.msg[rows]
    )
    assert part.predecessors is not None
    assert alone.predecessors is None
    np.testing.assert_array_equal(detector.decision_function(part), detector.decision_function(alone))


def test_the_clock_of_the_events_may_tick_in_another_unit(detector: Detector, base: np.ndarray) -> None:
    milliseconds = PAYMENTS.stream(unit="ms")[len(TRAIN) + len(VAL) :]
    np.testing.assert_array_equal(detector.decision_function(milliseconds), base)


# ---------------------------------------------------------------------- names of nodes
def test_validation_events_may_tick_in_another_unit(name: str, shared: Detector, base: np.ndarray) -> None:
    in_ms = PAYMENTS.stream(unit="ms")[len(TRAIN) : len(TRAIN) + len(VAL)]
    other = fitted(name, TRAIN, in_ms)
    np.testing.assert_allclose(other.decision_function(TEST), base, atol=CLOSE)
    assert other.validation.seconds == pytest.approx(shared.validation.seconds)
    with pytest.raises(InputError, match="begin before"):
        fitted(name, VAL, PAYMENTS.stream(unit="ms")[: len(TRAIN)])


def test_a_table_is_told_how_to_become_events(detector: Detector) -> None:
    table: Any = {"src": ["a"], "dst": ["b"], "t": [1.0]}
    for call in (detector.fit, detector.decision_function, detector.update):
        with pytest.raises(InputError, match=r"EventStream, not a dict: sdgad\.read_events"):
            call(table)


def test_a_fit_that_fails_leaves_no_fitted_detector(detector: Detector) -> None:
    with pytest.raises(InputError, match="epochs=0"):
        detector.fit(TRAIN, VAL, epochs=0)
    detector.decision_function(TEST)  # refused before anything was touched
    with pytest.raises(InputError, match="begin before"):
        detector.fit(VAL, TRAIN)
    with pytest.raises(NotFittedError):
        detector.decision_function(TEST)


def test_an_option_that_shapes_the_model_asks_for_a_new_fit(detector: Detector, base: np.ndarray) -> None:
    detector.set_params(late="drop")
    np.testing.assert_array_equal(detector.decision_function(TEST), base)
    detector.set_params(seed=7)
    with pytest.raises(NotFittedError):
        detector.decision_function(TEST)


def as_number(node: str) -> int:
    """A bijection of the simulator's ids (acc-00012, shop-0003) to integers that reverses their order."""
    kind, number = node.split("-")
    return -int(number) * 2 - (kind == "shop")


@pytest.mark.parametrize("rename", [as_number, lambda n: f"💸 {n[::-1]} ü"], ids=["int", "text"])
def test_renaming_ids_changes_no_bit(name: str, shared: Detector, base: np.ndarray, rename: Rename) -> None:
    train, val, test = PAYMENTS.stream(rename).split(train=0.4, val=0.2)
    other = fitted(name, train, val)
    np.testing.assert_array_equal(other.decision_function(test), base)
    np.testing.assert_array_equal(other.decision_scores_, shared.decision_scores_)
    assert other.threshold_ == shared.threshold_


def test_what_an_unseen_node_is_called_changes_no_bit(detector: Detector, base: np.ndarray) -> None:
    first = len(TRAIN) + len(VAL)
    known = {*PAYMENTS.src[:first], *PAYMENTS.dst[:first]}
    every = {*PAYMENTS.src[first:], *PAYMENTS.dst[first:]}
    unseen = sorted(every - known)
    assert unseen
    names = st.lists(
        st.text(min_size=1).filter(lambda text: text not in known | every),
        min_size=len(unseen),
        max_size=len(unseen),
        unique=True,
    )

    @examples()
    @given(names)
    def check(new: list[str]) -> None:
        called = dict(zip(unseen, new, strict=True))
        events = PAYMENTS.stream(lambda node: called.get(node, node))[first:]
        np.testing.assert_array_equal(detector.decision_function(events), base)

    check()


# ---------------------------------------------------------------------- small and odd streams
def test_unseen_nodes_and_single_events_have_scores(detector: Detector) -> None:
    t = [END + 60.0]
    known = PAYMENTS.src[0]
    for src, dst in (("nobody 🙈", "no one"), (known, "no one"), ("nobody", known), ("same", "same")):
        (score,) = detector.decision_function(fresh([src], [dst], t))
        assert 0 < score < 1
    assert detector.decision_function(TEST[:1]).shape == (1,)


def test_no_events_have_no_scores(detector: Detector) -> None:
    assert detector.decision_function(TEST[:0]).shape == (0,)
    size = detector.history_size
    assert detector.update(TEST[:0]).history_size == size


def test_events_that_all_happen_at_one_time_have_scores(name: str, detector: Detector) -> None:
    src, dst, msg = list(PAYMENTS.src[:80]), list(PAYMENTS.dst[:80]), PAYMENTS.msg[:80]
    scores = detector.decision_function(fresh(src, dst, np.full(80, END), msg))
    assert ((scores > 0) & (scores < 1)).all()
    events = fresh(src, dst, np.full(80, 5.0), msg)
    scores = fitted(name, events[:40], events[40:60]).decision_function(events[60:])
    assert ((scores > 0) & (scores < 1)).all()


@pytest.mark.parametrize("late", ["score", "drop", "error"])
def test_late_events_follow_the_policy(detector: Detector, late: str) -> None:
    detector.set_params(late=late)
    events = fresh(["a", "b", "c"], ["b", "c", "a"], [END - 5 * TICK, END, END + TICK])
    if late == "error":
        with pytest.raises(InputError, match=r"^Row 1 .*late='error'"):
            detector.decision_function(events)
        with pytest.raises(InputError, match="Row 1 "):
            detector.update(events)
        return
    scores = detector.decision_function(events)
    assert np.isfinite(scores).tolist() == [late == "score", True, True]
    before = len(detector._log)
    detector.update(events)
    assert len(detector._log) - before == (3 if late == "score" else 2)
    assert (np.diff(detector._log.t) >= 0).all()


def test_a_late_event_is_scored_against_what_came_before_it(detector: Detector) -> None:
    """A validation event that arrives once more sees the same past, hence has the same score."""
    for row in range(0, len(VAL), 60):
        again = detector.decision_function(VAL[row : row + 1])
        np.testing.assert_allclose(again, detector.validation_scores_[row : row + 1], atol=CLOSE)


def test_events_of_the_history_are_scored_where_they_stand(detector: Detector) -> None:
    before = len(detector._log)
    seen = np.concatenate([detector.decision_scores_, detector.validation_scores_])
    past = PAYMENTS.stream()[: len(seen)]
    earlier = past.t < END  # rows at the very end of the history may be new ones of the same moment
    np.testing.assert_allclose(detector.decision_function(past)[earlier], seen[earlier], atol=CLOSE)
    detector.update(past)
    assert len(detector._log) == before + int(np.sum(~earlier))


def test_events_without_a_feature_that_the_model_knows_are_refused(detector: Detector) -> None:
    events = EventStream(["a"], ["b"], [END], [[1.0]], features=(FeatureColumn("amount"),), clock=TEST.clock)
    with pytest.raises(InputError, match="'channel'"):
        detector.decision_function(events)


# ---------------------------------------------------------------------- labels
def test_validation_labels_have_no_say_when_training_has_none(name: str) -> None:
    unlabelled = TRAIN.with_labels("none")
    with_labels = fitted(name, unlabelled, VAL)
    without = fitted(name, unlabelled, VAL.with_labels("none"))
    np.testing.assert_array_equal(with_labels.decision_function(TEST), without.decision_function(TEST))
    np.testing.assert_array_equal(with_labels.validation_scores_, without.validation_scores_)
    assert with_labels.threshold_ == without.threshold_
    with pytest.raises(InputError, match="'f1'"):
        with_labels.set_threshold("f1")


def test_one_labelled_anomaly_and_no_validation_part_suffice(name: str) -> None:
    few = TRAIN.with_labels("few-shot", k=1)
    assert np.nansum(few.label) == np.count_nonzero(~np.isnan(few.label)) == 1
    scores = fitted(name, few, None).decision_function(TEST)
    assert ((scores > 0) & (scores < 1)).all()


def test_streams_that_cannot_be_learned_from_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="too few events to fit: 10 "):
        made(name).fit(TRAIN[:10], val=VAL)
    with pytest.raises(InputError, match="begin before"):
        made(name).fit(VAL, val=TRAIN)
    with pytest.raises(InputError, match="Every training event"):
        made(name).fit(TRAIN.with_columns(label=np.ones(len(TRAIN))), val=VAL)


# ---------------------------------------------------------------------- options, seeds
def test_the_same_options_and_seed_give_the_same_bits(name: str, shared: Detector, base: np.ndarray) -> None:
    again = make_detector(name, **shared.get_params())
    assert again.get_params() == shared.get_params()
    again.fit(TRAIN, val=VAL, epochs=EPOCHS.get(name, 1))
    np.testing.assert_array_equal(again.decision_function(TEST), base)
    np.testing.assert_array_equal(again.validation_scores_, shared.validation_scores_)
    assert again.threshold_ == shared.threshold_


def test_wrong_options_are_named(name: str) -> None:
    with pytest.raises(InputError, match="'colour'"):
        made(name, colour="red")
    with pytest.raises(InputError, match="seed='zero'"):
        made(name, seed="zero")
    with pytest.raises(InputError, match="late='never'"):
        made(name).set_params(late="never")


def test_nothing_works_before_fit(name: str, tmp_path: Path) -> None:
    unfitted = made(name)
    acts: tuple[Callable[[], object], ...] = (
        lambda: unfitted.decision_function(TEST),
        lambda: unfitted.predict(TEST),
        lambda: unfitted.update(TEST),
        lambda: unfitted.set_threshold(0.5),
        lambda: unfitted.p_value(np.zeros(1)),
        lambda: unfitted.save(tmp_path / "model"),
    )
    for act in acts:
        with pytest.raises(NotFittedError, match=f"{name} detector has not been fitted"):
            act()
    assert not (tmp_path / "model").exists()


# ---------------------------------------------------------------------- files
def test_save_and_load_keep_every_bit_also_after_an_update(
    detector: Detector, base: np.ndarray, tmp_path: Path
) -> None:
    detector.set_threshold("quantile", 0.05)
    detector.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(detector)
    assert again.get_params() == detector.get_params()
    assert (again.threshold_, again.threshold_rule_) == (detector.threshold_, detector.threshold_rule_)
    assert (again.columns, again.clock) == (detector.columns, detector.clock)
    np.testing.assert_array_equal(again.decision_function(TEST), base)
    np.testing.assert_array_equal(again.decision_scores_, detector.decision_scores_)
    np.testing.assert_array_equal(again.validation_scores_, detector.validation_scores_)
    np.testing.assert_array_equal(again.p_value(base), detector.p_value(base))

    detector.update(TEST[:200])
    again.update(TEST[:200]).save(tmp_path / "model")
    after = detector.decision_function(TEST[200:])
    np.testing.assert_array_equal(again.decision_function(TEST[200:]), after)
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(TEST[200:]), after)


def test_threshold_rules_work_after_load_and_keep_their_promise(detector: Detector, tmp_path: Path) -> None:
    detector.save(tmp_path / "model")
    again = load(tmp_path / "model")
    days = (VAL.t[-1] - VAL.t[0]) / 86400
    for rule in (("f1",), ("fpr", 0.1), ("alerts_per_day", 3), ("quantile", 0.05), (0.5,)):
        assert again.set_threshold(*rule).threshold_ == detector.set_threshold(*rule).threshold_
    score, normal = again.validation_scores_, VAL.label != 1
    assert again.set_threshold(0.25).threshold_ == 0.25
    assert (score[normal] >= again.set_threshold("fpr", 0.1).threshold_).mean() <= 0.1
    assert (score >= again.set_threshold("alerts_per_day", 3).threshold_).sum() <= 3 * days
    assert (score >= again.set_threshold("quantile", 0.05).threshold_).mean() <= 0.05


def test_a_model_saved_without_history_holds_no_raw_id_and_still_scores(
    detector: Detector, tmp_path: Path
) -> None:
    detector.save(tmp_path / "with")
    detector.save(tmp_path / "without", history=False)
    ids = {str(node).encode() for node in {*PAYMENTS.src, *PAYMENTS.dst}}
    content = b"".join(file.read_bytes() for file in (tmp_path / "without").rglob("*"))
    assert not any(node in content for node in ids)
    assert (tmp_path / "with" / "vocabulary.parquet").exists()
    assert not (tmp_path / "without" / "vocabulary.parquet").exists()

    again = load(tmp_path / "without")
    assert again.history_size == (0, 0)
    assert again.threshold_ == detector.threshold_
    scores = again.decision_function(TEST)
    assert ((scores > 0) & (scores < 1)).all()
    again.update(TEST[:300])
    assert again.history_size[0] == 300
    assert np.isfinite(again.decision_function(TEST[300:])).all()
