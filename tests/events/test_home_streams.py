"""Home streams: counts, first times and silence tell nothing, whoever knows the generator tells everything."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from sdgad.errors import InputError
from sdgad.events.home_streams import HOME_STREAMS, NO_LARGE, NO_SMALL, PAYMENT, PLANS
from sdgad.events.stream import EventStream

SEEDS = (0, 1, 2)
QUIET = [name for name in HOME_STREAMS if name != "bursts"]  # where frequency tells nothing
TEST = 0.6  # where the test part begins


@cache
def stream(name: str, seed: int) -> EventStream:
    return HOME_STREAMS[name].make(seed)


def last_part(events: EventStream) -> slice:
    return slice(int(TEST * len(events)), None)


def either_way(events: EventStream, score: np.ndarray) -> float:
    """AUROC on the test part of a score, or of its opposite."""
    found = float(roc_auc_score(events.label[last_part(events)], score[last_part(events)]))
    return max(found, 1 - found)


def rules(events: EventStream) -> dict[str, np.ndarray]:
    """Of every event, from those before it."""
    degree: Counter[int] = Counter()
    met: Counter[frozenset[int]] = Counter()
    last: dict[int, float] = {}
    rows = []
    for src, dst, t in zip(events.src.tolist(), events.dst.tolist(), events.t.tolist(), strict=True):
        pair = frozenset((src, dst))
        rows.append((degree[src], degree[dst], met[pair], t - last.get(src, 0.0), t - last.get(dst, 0.0)))
        degree.update((src, dst))
        met[pair] += 1
        last[src] = last[dst] = t
    source, destination, pair_count, gap, other_gap = np.array(rows).T
    return {
        "degree of the source": source, "degree of the destination": destination, "count of the pair": pair_count,
        "product of degrees": source * destination, "silence of the source": gap, "silence of the destination": other_gap,
    }  # fmt: skip


def oracle(name: str, events: EventStream) -> np.ndarray:
    """What whoever knows the generator says."""
    if name in ("communities", "circles"):
        group = np.array(
            [each.split("-")[1] for each in events.vocabulary.raw(np.arange(events.num_nodes)).to_pylist()]
        )
        return group[events.src] != group[events.dst]
    if name == "bursts":
        near = np.zeros(len(events))
        for src in range(events.num_nodes):
            t = events.t[events.src == src]
            near[events.src == src] = np.searchsorted(t, t + 60) - np.searchsorted(t, t - 60)
        return near
    assert events.msg is not None
    if name == "labelled":
        kind, amount = events.msg.T
        plan: dict[int, int] = {}
        found = []
        for src, what, much in zip(
            events.src.tolist(), kind.astype(int).tolist(), amount.tolist(), strict=True
        ):
            if what < len(PLANS):
                plan[src] = what
            found.append(
                what == len(PLANS) and (plan.get(src), much > 0) in ((NO_LARGE, True), (NO_SMALL, False))
            )
        return np.array(found)
    apart = np.zeros(events.msg.shape)
    for src in range(events.num_nodes):
        own = events.src == src
        apart[own] = np.abs(events.msg[own] - np.median(events.msg[own], 0))
    return apart.max(1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", QUIET)
def test_no_count_and_no_silence_tells_an_anomaly(name: str, seed: int) -> None:
    events = stream(name, seed)
    found = {rule: either_way(events, score) for rule, score in rules(events).items()}
    assert max(found.values()) < 0.65, found


def test_a_burst_is_told_by_the_silence_before_it() -> None:
    """So the rules above can tell something, where there is something to tell."""
    events = stream("bursts", 0)
    assert either_way(events, rules(events)["silence of the source"]) > 0.9


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", HOME_STREAMS)
def test_whoever_knows_the_generator_tells_anomalies(name: str, seed: int) -> None:
    events = stream(name, seed)
    part = last_part(events)
    assert roc_auc_score(events.label[part], oracle(name, events)[part].astype(float)) > 0.9


@pytest.mark.parametrize("name", ["communities", "circles"])
def test_an_anomalous_pair_is_new_as_often_as_another(name: str) -> None:
    """Over three seeds, in the test part."""
    new: dict[bool, list[bool]] = {True: [], False: []}
    for seed in SEEDS:
        events = stream(name, seed)
        count = rules(events)["count of the pair"]
        for row in range(last_part(events).start, len(events)):
            new[bool(events.label[row])].append(bool(count[row] == 0))
    assert np.mean(new[True]) == pytest.approx(np.mean(new[False]), abs=0.05)


def common_friends(events: EventStream, block: int, last: int) -> np.ndarray:
    """− cosine of whom both endpoints met in the last `last` events before the block of the event."""
    score = np.zeros(len(events))
    for start in range(0, len(events), block):
        met = np.zeros((events.num_nodes, events.num_nodes), np.float32)
        before = slice(max(start - last, 0), start)
        met[events.src[before], events.dst[before]] = met[events.dst[before], events.src[before]] = 1
        size = np.sqrt(met.sum(1) + 1)
        here = slice(start, start + block)
        src, dst = events.src[here], events.dst[here]
        score[here] = -(met[src] * met[dst]).sum(1) / (size[src] * size[dst])
    return score


@pytest.mark.parametrize(("name", "least"), [("communities", 0.85), ("circles", 0.95)])
def test_a_short_history_of_the_graph_is_enough_to_tell_communities(name: str, least: float) -> None:
    """Five snapshots of 250 events, of which none holds the event itself."""
    for seed in SEEDS:
        events = stream(name, seed)
        part = last_part(events)
        score = common_friends(events, 250, 1250)
        assert roc_auc_score(events.label[part], score[part]) > least


@pytest.mark.parametrize("name", HOME_STREAMS)
def test_a_stream_is_small_has_no_loops_and_anomalies_in_every_part(name: str) -> None:
    for seed in SEEDS:
        events = stream(name, seed)
        assert 6_000 <= len(events) <= 10_000
        assert 150 <= events.num_nodes <= 400
        assert (events.src != events.dst).all()
        assert (np.diff(events.t) >= 0).all()
        for part in events.split():
            assert 0.025 < part.label.mean() < 0.06
        assert events.anomaly_type is not None
        np.testing.assert_array_equal(events.anomaly_type != "", events.label == 1)


def test_training_and_validation_lack_the_kind_that_is_unseen() -> None:
    train, val, test = stream("unseen", 0).split()
    assert set(train.anomaly_type[train.label == 1]) == set(val.anomaly_type[val.label == 1]) == {"weight"}
    share = (test.anomaly_type[test.label == 1] == "length").mean()
    assert 0.35 < share < 0.65


def test_of_a_labelled_pattern_neither_the_amount_nor_the_past_alone_is_enough() -> None:
    """A payment does not show its plan, and of the plans that matter about half of the payments are as they should be."""
    events = stream("labelled", 0)
    assert events.msg is not None
    kind, amount = events.msg.T
    odd = events.label == 1
    assert (kind[odd] == (*PLANS, PAYMENT).index(PAYMENT)).all()
    assert either_way(events, amount) < 0.6
    assert either_way(events, np.abs(amount)) < 0.6


@pytest.mark.parametrize("name", HOME_STREAMS)
def test_the_same_seed_gives_the_same_stream_and_another_another(name: str) -> None:
    one, two, other = HOME_STREAMS[name].make(1), stream(name, 1), stream(name, 2)
    for column in ("src", "dst", "t", "label", "msg"):
        mine = getattr(one, column)
        if mine is not None:
            np.testing.assert_array_equal(mine, getattr(two, column))
    assert not np.array_equal(one.t, other.t)
    with pytest.raises(InputError, match="seed=-1"):
        HOME_STREAMS[name].make(-1)
