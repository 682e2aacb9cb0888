"""A protocol gives a method what its setting grants, and nothing else can be reached."""

from __future__ import annotations

import gc
import os
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sdgad.detectors.baselines.boosting import Boosting
from sdgad.errors import InputError
from sdgad.events.read import read_events
from sdgad.events.stream import EventStream
from sdgad.experiments.protocol import PAPER_RATES, Protocol
from sdgad.experiments.trial import Trial

from .streams import RATES, messages, payments

DATA = Path(os.environ.get("SDGAD_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))
SETTINGS = ["S1", "S2", "S3"]
OPAQUE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def arrays_within(thing: Any) -> Iterator[np.ndarray]:
    """Every array that can be reached from an object by attributes, items and views."""
    waiting: list[Any] = [thing]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, OPAQUE):
            continue
        seen.add(id(found))
        if isinstance(found, torch.Tensor):
            found = found.detach().cpu().numpy()
        if isinstance(found, np.ndarray):
            yield found
            waiting.append(found.base)
        waiting.extend(gc.get_referents(found))
        for name in dir(type(found)) if isinstance(found, EventStream) else ():
            if isinstance(getattr(type(found), name), property):
                waiting.append(getattr(found, name))


def tells(array: np.ndarray, hidden: np.ndarray, starts: list[int]) -> bool:
    """Whether an array has a 1 (or True) exactly where the hidden labels have it, wherever a part may begin in it."""
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        return False
    return any(
        len(array) >= start + len(hidden)
        and np.array_equal(array[start : start + len(hidden)] == 1, hidden == 1)
        for start in starts
    )


def events_of(name: str) -> EventStream:
    return {"injected": messages, "real": payments}[name]()


@pytest.fixture(params=["injected", "real"])
def events(request: pytest.FixtureRequest) -> EventStream:
    return events_of(request.param)


def protocol_for(setting: str, events: EventStream, **options: Any) -> Protocol:
    rates = None if (events.label == 1).any() else RATES
    return Protocol(setting, rates=rates, **options)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- what may be seen
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_setting_says_which_labels_are_seen(setting: str, events: EventStream) -> None:
    protocol = protocol_for(setting, events)
    truth = [part.label for part in protocol.parts(events, 0)]
    trial = protocol.trial(events, 0)
    assert [len(label) for label in truth] == [len(part) for part in (trial.train, trial.val, trial.test)]
    assert np.isnan(trial.test.label).all()
    if setting == "S1":
        np.testing.assert_array_equal(trial.train.label, truth[0])
    if setting == "S2":
        known = np.flatnonzero(~np.isnan(trial.train.label))
        assert len(known) == 3
        assert (truth[0][known] == 1).all()
        assert (trial.train.label[known] == 1).all()
    if setting == "S3":
        assert not trial.train.has_labels
        assert not trial.val.has_labels
    else:
        np.testing.assert_array_equal(trial.val.label, truth[1])
        assert (truth[1] == 1).any()
    for part in (trial.train, trial.val, trial.test):
        assert part.anomaly_type is None


@pytest.mark.parametrize("setting", SETTINGS)
def test_hidden_labels_cannot_be_reached_from_what_is_handed_out(setting: str, events: EventStream) -> None:
    protocol = protocol_for(setting, events)
    truth = [part.label for part in protocol.parts(events, 0)]
    trial = protocol.trial(events, 0)
    hidden = {"S1": truth[2:], "S2": [truth[0], truth[2]], "S3": truth}[setting]
    starts = [0, len(truth[0]), len(truth[0]) + len(truth[1])]
    found = list(arrays_within([trial.train, trial.val, trial.test]))
    assert len(found) > 10
    for array in found:
        assert not any(tells(array, labels, starts) for labels in hidden)
        assert array.dtype.kind not in "US", "an anomaly type"


def test_the_search_for_hidden_labels_would_find_them(events: EventStream) -> None:
    train, val, test = protocol_for("S1", events).parts(events, 0)
    starts = [0, len(train), len(train) + len(val)]
    behind_a_view = test.with_columns(label=np.full(len(test), np.nan))
    assert any(tells(array, test.label, starts) for array in arrays_within(test))
    assert any(tells(array, test.label, starts) for array in arrays_within(behind_a_view))


@pytest.mark.parametrize("setting", SETTINGS)
def test_predecessors_are_masked_like_the_parts_they_are(setting: str, events: EventStream) -> None:
    trial = protocol_for(setting, events).trial(events, 0)
    assert trial.train.predecessors is None
    before = trial.test.predecessors
    assert before is not None
    np.testing.assert_array_equal(before.label, np.concatenate([trial.train.label, trial.val.label]))
    np.testing.assert_array_equal(before.t, np.concatenate([trial.train.t, trial.val.t]))
    between = trial.val.predecessors
    assert between is not None
    np.testing.assert_array_equal(between.src, trial.train.src)


def test_no_part_holds_an_event_that_is_later_than_its_own(events: EventStream) -> None:
    trial = protocol_for("S1", events).trial(events, 0)
    nodes = events.num_nodes
    for part, end in ((trial.train, len(trial.train)), (trial.val, len(trial.train) + len(trial.val))):
        assert max(len(array) for array in arrays_within(part) if array.ndim) <= max(end, nodes)


def test_row_numbers_do_not_tell_injected_rows(events: EventStream) -> None:
    trial = protocol_for("S1", events).trial(events, 0)
    rows = np.concatenate([part.row for part in (trial.train, trial.val, trial.test)])
    np.testing.assert_array_equal(rows, np.arange(len(rows)))


class Spy(Boosting):
    """Keeps all that it is given."""

    def fit(self, train: EventStream, val: EventStream | None = None, **options: Any) -> Spy:
        self.given = [train, val]
        return super().fit(train, val, **options)

    def decision_function(self, events: EventStream) -> np.ndarray:
        self.given.append(events)
        return super().decision_function(events)


@pytest.mark.parametrize("setting", ["S1", "S3"])
def test_a_detector_that_keeps_everything_still_knows_no_hidden_label(
    setting: str, events: EventStream
) -> None:
    protocol = protocol_for(setting, events, resamples=20)
    truth = [part.label for part in protocol.parts(events, 0)]
    spy = Spy(seed=0, max_iter=5)
    protocol.trial(events, 0).run(spy)
    assert len(spy.given) == 3
    hidden = truth if setting == "S3" else truth[2:]
    starts = [0, len(truth[0]), len(truth[0]) + len(truth[1])]
    for array in arrays_within(vars(spy)):
        assert not any(tells(array, labels, starts) for labels in hidden)


@pytest.mark.parametrize("setting", SETTINGS)
def test_hidden_labels_change_neither_a_score_nor_the_threshold(setting: str) -> None:
    """The same events with other labels where the setting hides them: for the detector nothing has happened."""
    stream, rng = payments(), np.random.default_rng(0)
    protocol = Protocol(setting, resamples=20)  # type: ignore[arg-type]
    cut = int(0.6 * len(stream))
    label = stream.label.copy()
    hidden = slice(0, None) if setting == "S3" else slice(cut, None)
    label[hidden] = rng.permutation(label[hidden])
    results = [
        protocol.trial(given, 0).run(Boosting(seed=0, max_iter=10))
        for given in (stream, stream.with_columns(label=label))
    ]
    np.testing.assert_array_equal(results[0].scores, results[1].scores)
    assert results[0].threshold == results[1].threshold
    assert results[0].metrics["auroc"] != results[1].metrics["auroc"]


# ---------------------------------------------------------------------- injection
def test_an_injected_event_belongs_to_its_part() -> None:
    events = messages()
    plain = events.split(0.4, 0.2)
    for before, after in zip(plain, Protocol(rates=RATES).parts(events, 3), strict=True):
        assert after.anomaly_type is not None
        real = after.anomaly_type == ""
        for column in ("src", "dst", "t"):
            np.testing.assert_array_equal(getattr(after, column)[real], getattr(before, column))
        assert before.t[0] <= after.t.min()
        assert after.t.max() <= before.t[-1]
        np.testing.assert_array_equal(after.label, ~real)


def test_counts_follow_the_floor_rule_per_part_and_kind() -> None:
    events = messages(1010)
    train, val, test = Protocol(rates=RATES).parts(events, 0)
    kinds = [
        {
            str(name): int(count)
            for name, count in zip(*np.unique(part.anomaly_type, return_counts=True), strict=True)
        }
        for part in (train, val, test)
    ]
    assert kinds == [{"": 404, "T": 8}, {"": 202, "T": 4}, {"": 404, "S": 4, "T": 4}]


@pytest.mark.parametrize(("name", "counts"), [("uci", (23, 11, 11)), ("enron", (50, 25, 25))])
def test_the_papers_preset_has_the_papers_counts(name: str, counts: tuple[int, int, int]) -> None:
    path = DATA / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"{path} is not there; SDGAD_DATA names the folder of the data")
    parts = Protocol.paper("S1").parts(read_events(path), seed=0)
    found = [{kind: int((part.anomaly_type == kind).sum()) for kind in "TS"} for part in parts]
    train, val, test = counts
    assert found == [{"T": train, "S": 0}, {"T": val, "S": 0}, {"T": test, "S": test}]


def test_a_stream_with_anomalies_of_its_own_gets_no_others_unless_told() -> None:
    events = payments(3000)
    parts = Protocol().parts(events, 0)
    assert sum(map(len, parts)) == len(events)
    np.testing.assert_array_equal(np.concatenate([part.label for part in parts]), events.label)
    told = Protocol(rates={"test": {"T": 0.1}}).parts(events, 0)
    assert [len(part) for part in told[:2]] == [len(part) for part in parts[:2]]
    assert len(told[2]) > len(parts[2])


def test_a_stream_without_anomalies_gets_the_papers_rates() -> None:
    events = messages(20_000, people=300)
    assert [int((part.label == 1).sum()) for part in Protocol().parts(events, 0)] == [8, 4, 8]
    assert dict(PAPER_RATES["test"]) == {"T": 0.0005, "S": 0.0005}


def same(one: EventStream, other: EventStream) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "label")
        for name in ("src", "dst", "t", "label")
    )


def test_a_seed_is_one_injection_and_one_choice_of_labels() -> None:
    events = messages()
    protocol = Protocol("S2", k=2, rates=RATES)
    first, again, other = (protocol.trial(events, seed) for seed in (0, 0, 1))
    for name in ("train", "val", "test"):
        assert same(getattr(first, name), getattr(again, name))
        assert not same(getattr(first, name), getattr(other, name))
    real = replace(protocol, rates=None)
    chosen = {tuple(np.flatnonzero(real.trial(payments(), seed).train.label == 1)) for seed in range(6)}
    assert len(chosen) > 3
    assert {len(rows) for rows in chosen} == {2}


def test_no_two_parts_of_no_two_seeds_share_an_injection_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []

    def note(part: EventStream, rates: Any, *, seed: int, **_: Any) -> EventStream:  # noqa: ARG001
        used.append(seed)
        return part.with_columns(label=np.ones(len(part)))

    monkeypatch.setattr("sdgad.experiments.protocol.inject", note)
    for seed in range(4):
        Protocol(rates=RATES).parts(messages(), seed)
    assert len(set(used)) == len(used) == 12


def test_preset_and_salience_reach_the_injection() -> None:
    events = messages()
    kinds = {
        options: Protocol(rates=RATES, **dict(options)).parts(events, 0)[2]
        for options in ((), (("preset", "paper"),), (("salience", 0.0),))
    }
    assert len(kinds[()]) == len(kinds[("preset", "paper"),])
    assert not same(kinds[()], kinds[("preset", "paper"),])
    assert len(kinds[("salience", 0.0),]) == len(events.split(0.4, 0.2)[2])


def pairs(events: EventStream, label: int) -> set[tuple[int, int]]:
    chosen = events.label == label
    return set(zip(events.src[chosen].tolist(), events.dst[chosen].tolist(), strict=True))


@pytest.mark.parametrize(("train", "val"), [(0.7, 0.15), (0.2, 0.4)])
def test_the_papers_foreign_pairs_are_foreign_to_this_training_part(train: float, val: float) -> None:
    """Whatever its share: the first 40% of the stream are the paper's training part, not everybody's."""
    rng = np.random.default_rng(0)
    events = EventStream(rng.integers(0, 40, 1500), rng.integers(0, 40, 1500), np.arange(1500))
    rates = {"val": {"S": 0.2}, "test": {"S": 0.2}}
    parts = Protocol(preset="paper", train=train, val=val, rates=rates).parts(events, 0)
    known, between = pairs(parts[0], 0), pairs(parts[1], 0)
    assert not (pairs(parts[1], 1) | pairs(parts[2], 1)) & known
    assert pairs(parts[2], 1) & (between - known), "validation is not looked at"


def test_a_part_of_a_stream_is_a_stream() -> None:
    events = payments()
    alone = EventStream(events.src[500:], events.dst[500:], events.t[500:], label=events.label[500:])
    trials = [Protocol(resamples=20).trial(given) for given in (events[500:], alone)]
    assert trials[0].train.predecessors is None
    assert [len(part) for part in (trials[0].train, trials[0].val, trials[0].test)] == [
        len(part) for part in (trials[1].train, trials[1].val, trials[1].test)
    ]


# ---------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"setting": "S4"}, "Setting 'S4' is not one of S1, S2, S3"),
        ({"k": 0}, "k=0"),
        ({"train": 0.8, "val": 0.2}, "leave something to the test part"),
        ({"val": 0.0}, "must be positive"),
        (
            {"rates": {"training": {"T": 0.1}}},
            "no part 'training' to inject into; there are: train, val, test",
        ),
        ({"rates": {"test": 0.1}}, r"rates\['test'\] is 0.1; it must name kinds, like"),
        ({"preset": "dirty"}, "no preset 'dirty' to inject by; there are: clean, paper"),
        ({"share": 0.0}, "share=0.0"),
        ({"resamples": 0}, "resamples=0"),
    ],
)
def test_a_protocol_that_makes_no_sense_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Protocol(**options)


def test_a_trial_that_could_measure_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="test part of 600 events has no anomaly"):
        Protocol(rates={}).trial(messages())
    found = payments().with_columns(label=np.where(payments().label == 1, 1, np.nan))
    with pytest.raises(InputError, match="test part of 600 events has no event that is known to be normal"):
        Protocol().trial(found)
    with pytest.raises(InputError, match="no kind of anomaly 'X'"):
        Protocol(rates={"test": {"X": 0.1}}).trial(messages())
    with pytest.raises(InputError, match="k=100 labelled anomalies were asked for"):
        Protocol("S2", k=100, rates=RATES).trial(messages())
    with pytest.raises(InputError, match="seed=-1"):
        Protocol().trial(payments(), -1)


def test_a_trial_does_not_show_its_answers() -> None:
    trial = Protocol().trial(payments())
    assert isinstance(trial, Trial)
    assert "nswers" not in repr(trial)
