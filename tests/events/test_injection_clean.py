"""The clean recipe: nothing but the anomaly itself tells injected events from real ones."""

from __future__ import annotations

import numpy as np
import pytest

import sdgad
from sdgad.events.injection import inject
from sdgad.events.injection.contexts import unrepeated
from sdgad.events.injection.patterns import INCIDENT
from sdgad.events.stream import Array, EventStream, FeatureColumn
from sdgad.experiments.audit import audit
from sdgad.metrics import auroc

from .published import shared
from .small_streams import kinds_for, pairs, small, types


def lively(count: int = 3000, *, nodes: int = 60, seed: int = 0, ties: bool = False) -> EventStream:
    """Pairs with habits: most events repeat a pair, at pauses from minutes to weeks."""
    rng = np.random.default_rng(seed)
    friends = rng.integers(0, nodes, (nodes, 6))
    src = rng.integers(0, nodes, count)
    dst = friends[src, np.minimum(rng.geometric(0.4, count), 6) - 1]
    t = np.cumsum(rng.lognormal(5, 1.5, count)).astype(np.int64)
    if ties:
        t = t // 2000 * 2000
    return EventStream(src, dst, t, rng.normal(size=(count, 2)).round(4))


def made(events: EventStream, found: EventStream, kind: str) -> list[tuple[int, int, int]]:
    assert len(found) > len(events)
    chosen = types(found) == kind
    columns = (found.src[chosen], found.dst[chosen], found.t[chosen])
    return list(zip(*(column.tolist() for column in columns), strict=True))


# ---------------------------------------------------------------------- who
@pytest.mark.parametrize(
    "nodes", [60, 600]
)  # few, that might meet themselves; many, not all of whom act in the part
@pytest.mark.parametrize("kind", ["S", "SC", "TSC", "group", "swapped"])
def test_foreign_pairs_are_new_to_all_that_came_before(kind: str, nodes: int) -> None:
    whole = lively(nodes=nodes)
    part = whole[1500:2400]
    known = set(pairs(whole[:2400]))
    new = {(src, dst) for src, dst, _ in made(part, inject(part, {kind: 0.1}), kind)}
    assert not new & known
    assert all(src != dst for src, dst in new)
    assert {src for src, _ in new} <= set(part.src.tolist())
    assert {dst for _, dst in new} <= set(part.dst.tolist())


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("kind", ["T", "C", "TC", "burst", "dormant"])
def test_known_pairs_are_known_by_then(kind: str, ties: bool) -> None:
    whole = lively(ties=ties)
    part = whole[1500:2400]
    since: dict[tuple[int, int], int] = {}
    for pair, t in zip(pairs(whole), whole.t.tolist(), strict=True):
        since.setdefault(pair, t)
    for seed in range(3):
        found = made(part, inject(part, {kind: 0.2}, seed=seed), kind)
        assert {(src, dst) for src, dst, _ in found} <= set(since)
        assert not any(t < since[src, dst] for src, dst, t in found)


def test_destinations_come_from_around_where_one_is_free() -> None:
    events = EventStream(np.arange(200), 1000 + np.arange(200), 1000 * np.arange(200))
    for src, dst, _ in made(events, inject(events, {"S": 1.0}), "S"):
        assert 1 <= abs(src - (dst - events.dst.min())) <= 10


# ---------------------------------------------------------------------- when
def test_s_has_a_time_of_its_own_near_those_of_its_source() -> None:
    events = lively()
    found = made(events, inject(events, {"S": 0.1}), "S")
    own = {src: events.t[events.src == src] for src in range(60)}
    distance = np.array([np.abs(own[src] - t).min() for src, _, t in found])
    usual = np.median(np.concatenate([np.diff(t) for t in own.values()]))
    assert (distance > 0).mean() > 0.98
    assert np.median(distance) < usual


def test_a_published_s_has_its_anchor_s_time() -> None:
    events = lively()
    found = made(events, inject(events, {"S": 0.1}, preset="paper"), "S")
    moments = set(zip(events.src.tolist(), events.t.tolist(), strict=True))
    assert all((src, t) in moments for src, _, t in found)


@pytest.mark.parametrize("kind", ["T", "S", "dormant", "swapped"])
def test_times_are_as_crowded_as_real_ones(kind: str) -> None:
    events = lively(ties=True)
    found = [inject(events, {kind: 0.05}, seed=seed) for seed in range(3)]
    crowd = [
        np.bincount(np.unique(x.t, return_inverse=True)[1])[np.unique(x.t, return_inverse=True)[1]]
        for x in found
    ]
    label = np.concatenate([x.label for x in found])
    assert auroc(label, np.concatenate(crowd)) == pytest.approx(0.5, abs=0.06)


def test_no_pair_acts_twice_at_one_time_if_real_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    few = EventStream(rng.integers(0, 12, 2000), rng.integers(12, 30, 2000), 7 * np.arange(2000))
    dst = np.concatenate([rng.choice(8, 4, replace=False) for _ in range(400)])  # four of eight at each time
    tied = EventStream(np.repeat(rng.integers(100, 104, 400), 4), dst, 1000 * np.repeat(np.arange(400), 4))
    for events, kinds in ((few, ("T", "S", "burst")), (tied, ("T", "burst", "dormant"))):
        found = inject(events, dict.fromkeys(kinds, 0.2))
        triples = list(zip(pairs(found), found.t.tolist(), strict=True))
        assert len(set(triples)) == len(triples)


@pytest.mark.parametrize("rate", [0.01, 0.0333, 0.1])
def test_events_come_in_as_many_copies_as_real_ones(rate: float) -> None:
    once = lively(900)
    events = EventStream(*(np.repeat(column, 3) for column in (once.src, once.dst, once.t)))
    found = inject(events, {"T": rate, "S": rate})
    for kind in "TS":
        rows = made(events, found, kind)
        assert len(rows) == int(rate * 2700)
        copies = np.array([rows.count(row) for row in set(rows)])
        assert np.mean(copies == 3) > 0.9 - 2 / len(copies)
        assert copies.sum() == len(rows)


def test_times_are_as_round_as_real_ones() -> None:
    rng = np.random.default_rng(0)
    t = np.where(rng.random(3000) < 0.6, rng.integers(0, 10**5, 3000) * 60, rng.integers(0, 6 * 10**6, 3000))
    events = EventStream(rng.integers(0, 50, 3000), rng.integers(50, 90, 3000), np.sort(t))
    found = inject(events, {"T": 0.1, "S": 0.1})
    share = np.mean(events.t % 60 == 0)
    assert np.mean(found.t[types(found) != ""] % 60 == 0) == pytest.approx(share, abs=0.06)
    published = inject(events, {"T": 0.1}, preset="paper")
    assert np.mean(published.t[types(published) != ""] % 60 == 0) < 0.1


def test_anomalies_are_not_where_nobody_acts() -> None:
    """Two thirds of the time are more than an hour from any event: the published T falls there, the clean one does not."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.integers(0, 100, 2000) * 20_000 + rng.integers(0, 1000, 2000))
    events = EventStream(rng.integers(0, 40, 2000), rng.integers(40, 80, 2000), t)
    kinds = ("T", "S", "burst", "dormant", "group", "swapped")
    found = inject(events, dict.fromkeys(kinds, 0.05))
    for kind in kinds:
        away = found.t[types(found) == kind] % 20_000
        assert np.mean((away > 4600) & (away < 16_400)) < 0.05, kind
    published = inject(events, {"T": 0.05}, preset="paper")
    away = published.t[types(published) == "T"] % 20_000
    assert np.mean((away > 4600) & (away < 16_400)) > 0.4


# ---------------------------------------------------------------------- patterns
def silence_before(events: EventStream, rows: list[tuple[int, int, int]]) -> Array:
    before = []
    for src, dst, t in rows:
        own = events.t[(events.src == src) & (events.dst == dst) & (events.t < t)]
        before.append(t - own.max() if len(own) else np.nan)
    return np.array(before, float)


def test_dormant_pairs_were_silent() -> None:
    whole = lively(ties=False)
    part = whole[1500:]
    order = np.lexsort((whole.t, whole.dst, whole.src))
    key = (whole.src * 60 + whole.dst)[order]
    pauses = np.diff(whole.t[order])[key[1:] == key[:-1]]
    silence = silence_before(whole, made(part, inject(part, {"dormant": 0.1}), "dormant"))
    assert not np.isnan(silence).any()
    assert np.mean(silence >= 0.98 * np.quantile(pauses, 0.9)) > 0.95
    closer = silence_before(whole, made(part, inject(part, {"dormant": 0.1}, salience=0.3), "dormant"))
    assert np.median(closer) < 0.5 * np.median(silence)


def test_bursts_are_bursts() -> None:
    events = lively()
    usual = np.median(np.concatenate([np.diff(events.t[events.src == src]) for src in range(60)]))
    found = made(events, inject(events, {"burst": 0.05}), "burst")
    assert len(found) == 150
    by_pair: dict[tuple[int, int], list[int]] = {}
    for src, dst, t in sorted(found, key=lambda row: row[2]):
        by_pair.setdefault((src, dst), []).append(t)
    gaps = np.concatenate([np.diff(times) for times in by_pair.values()])
    assert {len(times) % INCIDENT for times in by_pair.values()} == {0}
    assert np.mean(gaps < usual / 5) > 0.95 - len(by_pair) / len(gaps) / 4


def test_groups_are_coordinated() -> None:
    events = lively()
    usual = np.median(np.concatenate([np.diff(events.t[events.src == src]) for src in range(60)]))
    found = sorted(made(events, inject(events, {"group": 0.01}), "group"), key=lambda row: row[2])
    groups: dict[int, list[tuple[int, int]]] = {}
    for src, dst, t in found:
        groups.setdefault(dst, []).append((src, t))
    assert len(found) == 30
    for members in groups.values():
        assert len(members) % INCIDENT == 0
        for start in range(0, len(members), INCIDENT):
            together = members[start : start + INCIDENT]
            assert len({src for src, _ in together}) == INCIDENT
            assert together[-1][1] - together[0][1] < usual


@pytest.mark.parametrize("preset", ["clean", "paper"])
def test_swapped_roles_were_never_seen_that_way(preset: str) -> None:
    events = lively()
    known = set(pairs(events))
    found = made(events, inject(events, {"swapped": 0.05}, preset=preset), "swapped")  # type: ignore[arg-type]
    assert all((dst, src) in known and (src, dst) not in known for src, dst, _ in found)


# ---------------------------------------------------------------------- features
def test_what_is_never_repeated_is_not_repeated() -> None:
    events = lively()
    assert events.msg is not None
    found = inject(events, {"T": 0.05, "S": 0.05, "C": 0.05})
    assert found.msg is not None
    new = found.msg[types(found) != ""]
    for column, real in zip(new.T, events.msg.T, strict=True):
        single = np.unique(real)[np.unique(real, return_counts=True)[1] == 1]
        assert np.isin(column, single).mean() < 0.2  # a few hit on one by chance
        assert (
            np.round(column, 4).astype(np.float32) == column
        ).all()  # with as many decimals as the column has
        assert column.std() == pytest.approx(real.std(), rel=0.3)


def test_what_is_often_repeated_stays() -> None:
    rng = np.random.default_rng(0)
    msg = np.stack([rng.integers(0, 5, 500), rng.integers(0, 3, 500)], 1).astype(np.float32)
    features = (FeatureColumn("x"), FeatureColumn("c", ("a", "b", "z")))
    chosen = rng.integers(0, 500, 50)
    np.testing.assert_array_equal(unrepeated(msg[chosen], msg, features, rng), msg[chosen])


def test_features_that_are_common_but_single_together_are_taken_apart() -> None:
    rng = np.random.default_rng(0)
    msg = np.stack([np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)], 1).astype(np.float32)[:880]
    made_ = unrepeated(msg[:200], msg, (FeatureColumn("x"), FeatureColumn("y")), rng)
    there = {tuple(row) for row in msg.tolist()}
    assert len(there) == len(msg)
    assert set(np.unique(made_)) <= set(np.unique(msg))
    assert (
        np.mean([tuple(row) in there for row in made_.tolist()]) < 1
    )  # few combinations are left: 20 of 900
    sparse = msg[::7]
    made_ = unrepeated(sparse[:50], sparse, (FeatureColumn("x"), FeatureColumn("y")), rng)
    assert not {tuple(row) for row in made_.tolist()} & {tuple(row) for row in sparse.tolist()}


def test_missing_values_stay_missing() -> None:
    events = small(features=True)
    assert events.msg is not None
    found = inject(events, {"T": 1.0}, seed=1)
    assert found.msg is not None
    share = np.isnan(found.msg[types(found) == "T"]).mean()
    assert share == pytest.approx(np.isnan(events.msg).mean(), abs=0.06)


# ---------------------------------------------------------------------- the audit
@pytest.mark.parametrize(
    ("name", "kind", "cue"), [("uci", "S", "same source and time"), ("enron", "T", "crowding")]
)
def test_the_audit_flags_the_published_recipe(name: str, kind: str, cue: str) -> None:
    test = sdgad.read_events(shared(name)).split()[2]
    found = audit(inject(test, {"T": 0.0005, "S": 0.0005}, seed=seed, preset="paper") for seed in range(5))
    row = next(row for row in found.of(kind) if row.cue == cue)
    assert row.auroc > 0.9
    assert row.flag == "gives it away"


@pytest.mark.parametrize("name", ["uci", "enron", pytest.param("mooc", marks=pytest.mark.slow)])
def test_no_cue_tells_clean_anomalies(name: str) -> None:
    events = sdgad.read_events(shared(name), bipartite=name == "mooc")
    test = events.with_columns(label=np.zeros(len(events))).split()[2]
    rates = dict.fromkeys(kinds_for(test), 0.0005)
    found = audit(inject(test, rates, seed=seed) for seed in range(20))
    assert set(found.types) == {*rates, "all"}
    strongest = {kind: (found.worst(kind).auroc, found.worst(kind).cue) for kind in found.types}
    assert max(strongest.values()) < (0.6,), strongest
    alone = audit(inject(test, {"T": 0.0005, "S": 0.0005}, seed=seed) for seed in range(20))
    assert alone.worst().auroc < 0.6
