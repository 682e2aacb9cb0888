"""What `inject` promises of every kind, in both presets, on streams of every make."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdgad
from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.injection import KINDS, PRESETS, inject
from sdgad.events.joining import join
from sdgad.events.stream import EventStream, FeatureColumn

from .published import shared
from .small_streams import TIMES, kinds_for, small, types

pytestmark = pytest.mark.filterwarnings("error")


def bits(events: EventStream) -> tuple[bytes, ...]:
    """All that an event is, to the bit."""
    msg = np.zeros((len(events), 0), np.float32) if events.msg is None else events.msg
    columns = (events.src, events.dst, events.t, msg, events.label)
    return tuple(column.tobytes() for column in columns)


def all_bits(events: EventStream) -> tuple[object, ...]:
    return (*bits(events), types(events).tolist(), events.row.tolist())


def real(events: EventStream, injected: EventStream) -> EventStream:
    """The rows of an injected stream that are no injected ones."""
    kept = np.flatnonzero(~(np.isin(types(injected), list(KINDS)) & (injected.label == 1)))
    msg = None if injected.msg is None else injected.msg[kept]
    return events.with_rows(
        src=injected.src[kept], dst=injected.dst[kept], t=injected.t[kept], msg=msg,
        label=injected.label[kept], anomaly_type=types(injected)[kept],
    )  # fmt: skip


# ---------------------------------------------------------------------- real events
@settings(max_examples=150, deadline=None)
@given(
    times=st.sampled_from(list(TIMES)),
    preset=st.sampled_from(list(PRESETS)),
    bipartite=st.booleans(),
    features=st.booleans(),
    labels=st.sampled_from(["none", "some", "all"]),
    part=st.booleans(),
    salience=st.sampled_from([1.0, 0.5, 0.01]),
    rate=st.sampled_from([0.05, 0.3, 1.0]),
    seed=st.integers(0, 5),
    data=st.data(),
)
def test_real_events_are_neither_changed_nor_reordered(
    times: str, preset: str, bipartite: bool, features: bool, labels: str, part: bool, salience: float,
    rate: float, seed: int, data: st.DataObject,
) -> None:  # fmt: skip
    whole = small(times, bipartite=bipartite, features=features, labels=labels, seed=seed)
    events = whole[40:100] if part else whole
    kinds = data.draw(st.lists(st.sampled_from(kinds_for(events)), min_size=1, max_size=3, unique=True))
    before = all_bits(events.with_columns(anomaly_type=np.full(len(events), "")))
    found = inject(events, dict.fromkeys(kinds, rate), seed=seed, preset=preset, salience=salience)  # type: ignore[arg-type]

    assert all_bits(events.with_columns(anomaly_type=np.full(len(events), ""))) == before
    expected = events if events.has_labels else events.with_columns(label=np.zeros(len(events)))
    assert bits(real(events, found)) == bits(expected)
    assert set(types(real(events, found)).tolist()) <= {""}

    count = int(np.floor(rate * np.count_nonzero(events.label != 1) + 1e-9))
    assert {kind: int((types(found) == kind).sum()) for kind in kinds} == dict.fromkeys(kinds, count)
    assert (found.label[types(found) != ""] == 1).all()

    assert found.t.dtype == events.t.dtype
    assert (found.t[1:] >= found.t[:-1]).all()
    assert (found.t[0], found.t[-1]) == (events.t[0], events.t[-1])
    if bipartite:
        border = events.vocabulary.num_sources
        assert (found.src < border).all()
        assert (found.dst >= border).all()

    past, still = events.predecessors, found.predecessors
    assert (past is None) == (still is None)
    if past is not None and still is not None:
        assert bits(still) == bits(past)
        assert found.row.tolist() == list(range(len(past), len(past) + len(found)))
    else:
        assert found.row.tolist() == list(range(len(found)))
    assert (found.vocabulary, found.clock, found.features) == (
        events.vocabulary,
        events.clock,
        events.features,
    )


def test_anomalies_that_were_there_keep_their_type() -> None:
    events = small(labels="all")
    kinds = np.where(events.label == 1, "stolen card", "")
    found = inject(events.with_columns(anomaly_type=kinds), {"T": 0.1}, seed=0)
    there = types(found) != "T"
    assert types(found)[there].tolist() == kinds.tolist()
    relabelled = inject(events.with_columns(anomaly_type=kinds), {"burst": 0.1}, seed=0, salience=0)
    assert ((types(relabelled) == "stolen card") == (events.label == 1)).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_injected_fits_the_columns(preset: str) -> None:
    events = small(features=True)
    found = inject(events, dict.fromkeys(kinds_for(events), 0.3), preset=preset)  # type: ignore[arg-type]
    assert events.msg is not None
    assert found.msg is not None
    assert found.msg.dtype == np.float32
    made = found.msg[types(found) != ""]
    assert set(made[:, 0][~np.isnan(made[:, 0])].tolist()) <= {0.0, 1.0, 2.0}
    for column, known in zip(made.T, events.msg.T, strict=True):
        assert np.nanmin(column) >= np.nanmin(known)
        assert np.nanmax(column) <= np.nanmax(known)
    assert set(found.src.tolist()) | set(found.dst.tolist()) <= set(range(events.num_nodes))


# ---------------------------------------------------------------------- seeds
@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_bytes(preset: str, tmp_path: Path) -> None:
    events = small("ticks", features=True)[30:]
    rates = dict.fromkeys(kinds_for(events), 0.1)
    files = []
    for name, seed in (("once", 1), ("again", 1), ("other", 2)):
        found = inject(events, rates, seed=seed, preset=preset)  # type: ignore[arg-type]
        sdgad.write_events(found, tmp_path / f"{name}.parquet")
        files.append((tmp_path / f"{name}.parquet").read_bytes())
    assert files[0] == files[1] != files[2]


def test_the_order_of_the_mapping_means_nothing() -> None:
    events = small("ticks")
    one, other = (inject(events, rates) for rates in ({"T": 0.1, "S": 0.2}, {"S": 0.2, "T": 0.1}))
    assert all_bits(one) == all_bits(other)


def test_one_more_kind_leaves_the_published_others_as_they_are() -> None:
    events = small("ticks", features=True)
    rates = dict.fromkeys(kinds_for(events), 0.1)
    for kind in rates:
        alone, among = inject(events, {kind: 0.1}, preset="paper"), inject(events, rates, preset="paper")
        assert rows_of(alone, kind) == rows_of(among, kind)


def test_one_more_kind_leaves_relabelled_events_as_they_are() -> None:
    events = small("ticks")
    alone = inject(events, {"T": 0.1}, salience=0)
    among = inject(events, {"T": 0.1, "S": 0.3, "burst": 0.3}, salience={"T": 0})
    assert rows_of(alone, "T") == rows_of(among, "T")


def rows_of(events: EventStream, kind: str) -> list[tuple[object, ...]]:
    chosen = types(events) == kind
    msg = np.zeros((len(events), 0)) if events.msg is None else np.nan_to_num(events.msg, nan=-99)
    columns = (
        events.t[chosen].tolist(),
        events.src[chosen].tolist(),
        events.dst[chosen].tolist(),
        map(tuple, msg[chosen].tolist()),
    )
    return sorted(zip(*columns, strict=True))


# ---------------------------------------------------------------------- how many
@pytest.mark.parametrize(
    ("name", "train", "val", "test"), [("uci", 23, 11, (11, 11)), ("enron", 50, 25, (25, 25))]
)
@pytest.mark.parametrize("preset", PRESETS)
def test_the_paper_s_rates_give_the_paper_s_counts(
    name: str, train: int, val: int, test: tuple[int, int], preset: str
) -> None:
    parts = sdgad.read_events(shared(name)).split(train=0.4, val=0.2)
    rates = [{"T": 0.001}, {"T": 0.001}, {"T": 0.0005, "S": 0.0005}]
    found = [
        types(inject(part, some, preset=preset))  # type: ignore[arg-type]
        for part, some in zip(parts, rates, strict=True)
    ]
    counts = [tuple(int((kinds == kind).sum()) for kind in "TS") for kinds in found]
    assert counts == [(train, 0), (val, 0), test]


@pytest.mark.parametrize("salience", [0.0, 1.0])
def test_a_rate_is_a_share_of_the_benign_events_rounded_down(salience: float) -> None:
    label = np.repeat([0.0, 1.0, np.nan], [30, 50, 20])  # 50 are not known to be anomalous
    events = EventStream(np.arange(100) % 9, np.arange(100) % 7, np.arange(100), label=label)
    for rate, count in ((0.0, 0), (0.019, 0), (0.02, 1), (0.1, 5), (0.119, 5), (0.58, 29), (1.0, 50)):
        assert int((types(inject(events, {"T": rate}, salience=salience)) == "T").sum()) == count


def test_less_than_one_event_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "sdgad.events"):
        found = inject(small(), {"T": 0.001})
    assert caplog.messages == ["T: a share of 0.001 of 120 events is less than one; none is injected."]
    assert set(types(found).tolist()) == {""}
    assert (found.label == 0).all()


# ---------------------------------------------------------------------- salience 0
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("labels", ["none", "some", "all"])
def test_at_salience_0_only_labels_and_types_change(preset: str, labels: str) -> None:
    events = small("ticks", features=True, labels=labels)[20:]
    found = inject(events, {"T": 0.1, "C": 0.2}, salience=0, preset=preset)  # type: ignore[arg-type]
    for column in ("src", "dst", "t", "msg", "row"):
        assert getattr(found, column).tobytes() == getattr(events, column).tobytes()
    chosen = types(found) != ""
    benign = np.count_nonzero(events.label != 1)
    assert chosen.sum() == int(0.1 * benign) + int(0.2 * benign)
    assert (events.label[chosen] != 1).all()
    assert (found.label[chosen] == 1).all()
    expected = events.label if events.has_labels else np.zeros(len(events))
    np.testing.assert_array_equal(found.label[~chosen], expected[~chosen])
    assert found.predecessors is not None
    assert len(found.predecessors) == 20


def test_at_salience_0_rare_pairs_are_not_favoured() -> None:
    dst = np.concatenate([np.zeros(50, int), np.arange(1, 51)])  # one pair 50 times, 50 pairs once
    events = EventStream(np.full(100, 99), dst, np.arange(100))
    times = np.zeros(100)
    for seed in range(200):
        times += types(inject(events, {"T": 0.2}, seed=seed, salience=0)) == "T"
    assert times.sum() == 4000
    assert 1850 <= times[:50].sum() <= 2150  # 2000 ± 28
    assert np.sum((times - 40) ** 2 / 32) < 150  # χ² with 99 degrees of freedom


# ---------------------------------------------------------------------- streams that are hardly any
HOUR_PAIRS = EventStream([1] * 99 + [2], [2] * 99 + [1], np.arange(100) // 33)
ODD = {
    "one event": EventStream([1], [2], [5]),
    "one event with features": EventStream([1], [2], [5.5], [[1.0, np.nan]]),
    "one node": EventStream([1] * 9, [1] * 9, np.arange(9)),
    "two at one time": EventStream([1, 2], [2, 1], [5, 5]),
    "all at one time": small("one time"),
    "one pair": EventStream([1] * 60, [2] * 60, np.arange(60)),
    "one pair, tied": EventStream([1] * 60, [2] * 60, np.arange(60) // 7),
    "copies by the hundred": EventStream([1] * 1500 + [2], [2] * 1500 + [3], np.arange(1501) // 150),
    "two long runs": HOUR_PAIRS,
    "one source": EventStream([1] * 60, np.arange(60) % 9 + 2, np.arange(60.0), bipartite=True),
    "one destination": EventStream(np.arange(60) % 9 + 2, [1] * 60, 60.0 * np.arange(60)),
    "every pair is known": EventStream(np.repeat(np.arange(4), 40), np.tile(np.arange(4), 40), np.arange(160)),
    "one benign event": small().with_columns(label=np.arange(120) != 60),
    "nothing benign": small().with_columns(label=np.ones(120)),
    "nothing": small()[:0],
    "a value that is never there": EventStream(
        [1, 2] * 20, [3, 4] * 20, np.arange(40), np.stack([np.full(40, np.nan), np.arange(40)], 1)
    ),
    "nothing but missing values": EventStream([1, 2] * 20, [3, 4] * 20, np.arange(40), np.full((40, 2), np.nan)),
    "zeros": EventStream([1, 2] * 20, [3, 4] * 20, np.arange(40), np.zeros((40, 2))),
    "huge values": EventStream([1, 2] * 20, [3, 4] * 20, np.arange(40), np.full((40, 1), 3e38)),
    "a category": EventStream(
        [1, 2] * 20, [3, 4] * 20, np.arange(40), np.arange(40) % 3, features=(FeatureColumn("c", ("x", "y", "z")),)
    ),
    "days": small("ticks", clock=Clock("d")),
    "fractions of days": small("continuous", clock=Clock("d")),
    "the end of time": EventStream(np.arange(60) % 7, np.arange(60) % 5, 2**63 - 1 - np.arange(60)[::-1] // 2),
    "all of time": EventStream(
        np.arange(60) % 7, np.arange(60) % 5, np.linspace(-(2.0**62), 2.0**62 - 1024, 60).astype(np.int64)
    ),
    "next to no time": EventStream(np.arange(60) % 7, np.arange(60) % 5, 1e-12 * np.arange(60) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ODD)
def test_odd_streams_are_injected_into(name: str, preset: str) -> None:
    events = ODD[name]
    benign = int(np.count_nonzero(events.label != 1))
    for kind in kinds_for(events):
        for rate, salience in ((1.0, 1.0), (0.267, 1.0), (1.0, 0.3), (1.0, 0.0)):
            found = inject(events, {kind: rate}, seed=3, preset=preset, salience=salience)  # type: ignore[arg-type]
            made = int((types(found) == kind).sum())
            assert made == int(np.floor(rate * benign + 1e-9))
            assert len(found) == len(events) + (made if salience else 0)
            assert (found.t[1:] >= found.t[:-1]).all()
            assert found.t.dtype == events.t.dtype
            if len(events):
                assert (found.t[0], found.t[-1]) == (events.t[0], events.t[-1])
                assert bits(real(events, found))[:3] == bits(events)[:3] or not salience


def test_without_a_kind_there_are_types_and_labels_nevertheless() -> None:
    events = small()
    found = inject(events, {})
    assert set(types(found).tolist()) == {""}
    assert (found.label == 0).all()
    assert not events.has_labels


def test_strangers_that_do_not_exist_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "sdgad.events"):
        for kind in ("S", "group", "swapped"):
            inject(ODD["every pair is known"], {kind: 0.1}, seed=0)
    assert caplog.messages == ["16 of 16 injected events have a pair that is known: no other was found."] * 3


# ---------------------------------------------------------------------- what cannot be done
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"rates": {"X": 0.1}}, "no kind of anomaly 'X'; there are: T, C, S"),
        ({"rates": {"T": 1.5}}, "The rate 1.5 of T is not between 0 and 1"),
        ({"rates": {"T": -0.1}}, "The rate -0.1 of T"),
        ({"rates": {"T": np.nan}}, "The rate nan of T"),
        ({"rates": {"C": 0.1}}, "kind C change features, and these events have none"),
        ({"rates": {"TSC": 0.1}}, "kind TSC change features"),
        ({"salience": 1.1}, "The salience 1.1 of T"),
        ({"salience": {"X": 1}}, "no kind of anomaly 'X'"),
        ({"salience": {"S": np.nan}}, "The salience nan of S"),
        ({"preset": "dirty"}, "no preset 'dirty' to inject by; there are: clean, paper"),
        ({"seed": -1}, "seed=-1: a seed is not negative"),
        ({"reference": small(bipartite=True)}, "must both be bipartite, or neither"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        inject(small(), **{"rates": {"T": 0.1}, **arguments})  # type: ignore[arg-type]


def test_roles_are_not_swapped_where_sources_are_no_destinations() -> None:
    with pytest.raises(InputError, match="swap roles, which a bipartite stream does not allow"):
        inject(small(bipartite=True), {"swapped": 0.1})


# ---------------------------------------------------------------------- parts put together again
def test_injected_parts_make_one_stream() -> None:
    events = small("ticks", features=True)
    parts = [inject(part, {"T": 0.1}, seed=i) for i, part in enumerate(events.split())]
    whole = join(parts)
    assert len(whole) == sum(map(len, parts))
    assert whole.row.tolist() == list(range(len(whole)))
    assert bits(real(events, whole)) == bits(events.with_columns(label=np.zeros(len(events))))
    assert types(whole).tolist() == [kind for part in parts for kind in types(part)]


def test_parts_that_do_not_belong_together_are_not_joined() -> None:
    events, other = small("ticks"), small("ticks", seed=1)
    with pytest.raises(InputError, match="There is no part to join"):
        join([])
    with pytest.raises(InputError, match="from one stream"):
        join([events[:50], other[50:]])
    with pytest.raises(InputError, match="one clock"):
        join([events[:50], events.counted_in("ms")[50:]])
    with pytest.raises(InputError, match="follow each other in time"):
        join([events[50:], events[:50]])
    typed = join([events[:50], events[50:50], inject(events[50:], {"T": 0.1})])
    assert types(typed)[:50].tolist() == [""] * 50
    assert np.isnan(typed.label[:50]).all()
