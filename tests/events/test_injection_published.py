"""The recipe as published, step by step."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sdgad.events.injection import inject
from sdgad.events.injection.contexts import cosine, exchanged, gower
from sdgad.events.injection.material import Material
from sdgad.events.injection.published import Published
from sdgad.events.injection.recipe import PAIR_POWER, WINDOW
from sdgad.events.stream import Array, EventStream, FeatureColumn

from .small_streams import TIMES, pairs, small, types


def made(events: EventStream, kind: str, rate: float = 0.5, **options: object) -> EventStream:
    """The injected rows alone."""
    found = inject(events, {kind: rate}, preset="paper", **options)  # type: ignore[arg-type]
    rows = np.flatnonzero(types(found) == kind)
    return found.with_rows(
        src=found.src[rows], dst=found.dst[rows], t=found.t[rows],
        msg=None if found.msg is None else found.msg[rows],
        label=found.label[rows], anomaly_type=types(found)[rows],
    )  # fmt: skip


def at(events: EventStream, t: float) -> Array:
    return np.flatnonzero(events.t == t)


# ---------------------------------------------------------------------- anchors
@pytest.mark.parametrize("salience", [1.0, 0.5])
def test_anchors_favour_rare_pairs(salience: float) -> None:
    count = np.array([1, 2, 4, 9, 25])
    dst = np.random.default_rng(0).permutation(np.repeat(np.arange(5), count))
    events = EventStream(np.full(41, 9), dst, np.arange(41))
    recipe = Published(Material.of(events, None))
    drawn = recipe.anchors(40_000, salience, np.random.default_rng(1))
    weight = count ** (1 + PAIR_POWER * salience)  # of all events of a pair together
    expected = 40_000 * weight / weight.sum()
    found = np.bincount(events.dst[drawn], minlength=5)
    assert np.sum((found - expected) ** 2 / expected) < 18.5  # χ² with 4 degrees of freedom, 0.1%
    assert PAIR_POWER == -1.5
    within = np.bincount(drawn[events.dst[drawn] == 4], minlength=41)[events.dst == 4]
    assert np.sum((within - within.mean()) ** 2 / within.mean()) < 52  # 24 degrees of freedom


def test_anomalies_are_no_anchors() -> None:
    label = np.arange(60) % 2
    events = EventStream(np.arange(60) % 2, 2 + np.arange(60) % 2, np.arange(60), label=label)
    assert set(made(events, "T", 1.0).src.tolist()) == {0}


# ---------------------------------------------------------------------- T
@pytest.mark.parametrize("times", sorted(set(TIMES) - {"one time"}))
def test_t_moves_a_known_pair_to_a_free_time(times: str) -> None:
    events = small(times, nodes=4, features=True)
    assert events.msg is not None
    known = set(zip(pairs(events), events.t.tolist(), strict=True))
    rows = {
        (pair, tuple(np.nan_to_num(msg, nan=-9))) for pair, msg in zip(pairs(events), events.msg, strict=True)
    }
    for seed in range(5):
        found = made(events, "T", 1.0, seed=seed)
        assert found.msg is not None
        triples = zip(pairs(found), found.t.tolist(), strict=True)
        assert not any(triple in known for triple in triples)
        kept = zip(pairs(found), found.msg, strict=True)
        assert all((pair, tuple(np.nan_to_num(msg, nan=-9))) in rows for pair, msg in kept)


def test_t_is_uniform_over_the_part() -> None:
    events = EventStream(np.arange(400) % 20, 20 + np.arange(400) % 7, np.arange(400) ** 3)
    found = made(events, "T", 1.0)
    share = np.sort((found.t - events.t[0]) / (events.t[-1] - events.t[0]))
    assert np.abs(share - (np.arange(400) + 0.5) / 400).max() < 0.1  # Kolmogorov–Smirnov, 0.1%


# ---------------------------------------------------------------------- S
def test_s_keeps_source_and_time_and_takes_a_partner_nearby() -> None:
    rng = np.random.default_rng(0)
    events = EventStream(rng.integers(0, 40, 300), 100 + np.arange(300), np.arange(300))
    found = made(events, "S", 1.0)
    anchor = found.t  # times are rows here
    assert (found.src == events.src[anchor]).all()
    step = found.dst - events.dst.min() - anchor
    assert set(np.abs(step).tolist()) == set(range(1, WINDOW + 1))
    assert WINDOW == 10
    assert 100 < (step > 0).sum() < 200


def test_s_is_never_a_pair_that_was_observed() -> None:
    events = small(nodes=30, count=400)
    for part in events.split():
        known = {*pairs(part), *pairs(events[:160])}
        assert not known & set(pairs(made(part, "S", 0.5)))


def test_validation_pairs_are_observed_only_by_the_clean_recipe() -> None:
    """As published, a test pair may have been seen in validation; `clean` looks at all that came before."""
    train = [(200, 5000)] * 240
    row, step = np.divmod(np.arange(300), 5)
    validation = list(
        zip(row, 1001 + row + step, strict=True)
    )  # with the next five partners of the test part
    test = [(i, 1000 + i) for i in range(60)]
    src, dst = np.array([*train, *validation, *test]).T
    part = EventStream(src, dst, np.arange(600))[540:]
    past = set(pairs(part.predecessors)) if part.predecessors else set()
    assert len(set(pairs(made(part, "S", 1.0))) & past) > 5
    assert not set(pairs(made(part, "S", 1.0, reference=part.predecessors))) & past
    for reference, known in ((None, False), (part.predecessors[:240], True)):  # type: ignore[index]
        clean = inject(part, {"S": 1.0}, reference=reference)
        new = {pair for pair, kind in zip(pairs(clean), types(clean), strict=True) if kind}
        assert bool(new & past) == known
        assert not new & set(pairs(part))


def test_the_default_reference_is_the_first_40_percent() -> None:
    events = small(count=500, nodes=20)
    reference = Published.reference(events.split()[2])
    assert reference is not None
    assert len(reference) == 200
    assert Published.reference(events.split()[0]) is None
    validation = Published.reference(events.split()[1])
    assert validation is not None
    assert len(validation) == 200


@pytest.mark.parametrize("preset", ["paper", "clean"])
def test_a_reference_is_matched_by_name(preset: str) -> None:
    row = np.arange(60)
    events = EventStream([f"n{i % 12}" for i in row], [f"m{i % 17}" for i in row], row)
    told = [f"m{i}" for i in range(17) if i != 7]  # all that n3 does not know is m7
    other = EventStream(["a stranger", *["n3"] * 16], ["m7", *told], np.full(17, -1000))
    met = set()
    for seed in range(5):
        found = inject(events, {"S": 1.0}, seed=seed, reference=other, preset=preset)  # type: ignore[arg-type]
        chosen = (types(found) == "S") & (found.src == events.src[3])
        met |= set(events.vocabulary.raw(found.dst[chosen]).to_pylist())
    assert met == {"m7"}


# ---------------------------------------------------------------------- C and its combinations
def test_c_takes_the_farthest_of_ten() -> None:
    angle = np.linspace(0, np.pi, 400)
    msg = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    own = np.zeros(5000, np.int64)  # the farther along, the larger the cosine distance from the first
    rng = np.random.default_rng(0)
    rank = {
        s: np.argmin(np.abs(exchanged(msg, own, s, cosine, rng)[:, :1] - msg[:, 0]), axis=1) / 399
        for s in (1.0, 0.5, 0.01)
    }
    for salience, k in ((1.0, 10), (0.5, 5), (0.01, 1)):  # the k-th of ten uniform numbers has mean k/11
        assert rank[salience].mean() == pytest.approx(k / 11, abs=0.01)


def test_c_keeps_pair_and_time() -> None:
    events = small("continuous", features=True)
    assert events.msg is not None
    found = made(events, "C")
    assert found.msg is not None
    for pair, t, msg in zip(pairs(found), found.t, found.msg, strict=True):
        (anchor,) = at(events, t)
        assert pairs(events)[anchor] == pair
        assert (np.isclose(events.msg, msg, equal_nan=True).all(1)).any()
    assert not np.array_equal(np.sort(found.msg[:, 1]), np.sort(events.msg[: len(found), 1]))


def test_cosine_distance_is_that_of_directions() -> None:
    own = np.array([[[1.0, 0.0]]])
    others = np.array([[[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, 0.0], [np.nan, 1.0]]])
    np.testing.assert_allclose(cosine(own, others), [[0, 1, 2, 1, 1]], atol=1e-12)
    assert cosine(np.zeros((1, 1, 2)), np.zeros((1, 1, 2))) == 0


def test_the_clean_distance_has_no_unit() -> None:
    msg = np.array([[0, 1], [0, 2], [1, 1e6], [2, np.nan]], np.float32)
    features = (FeatureColumn("c", ("a", "b", "z")), FeatureColumn("x"))
    distance = gower(msg, features)(msg[:1, None], msg[None, :])
    np.testing.assert_allclose(distance, [[0, 0.125, 0.75, 1]])
    scaled = msg * np.array([1, 1000], np.float32)
    np.testing.assert_allclose(gower(scaled, features)(scaled[:1, None], scaled[None, :]), distance)


def test_tsc_meets_anybody_on_the_right_side() -> None:
    src, dst = np.arange(300) % 10, np.arange(300) % 20
    whole = EventStream(src, dst, np.arange(300), np.arange(300) % 9, bipartite=True)
    part = whole[200:208]  # few nodes act here
    found = [made(part, "TSC", 1.0, seed=seed) for seed in range(60)]
    seen = Counter(node for rows in found for node in rows.src.tolist())
    met = Counter(node for rows in found for node in rows.dst.tolist())
    assert set(seen) == set(range(10))
    assert set(met) == set(range(10, 30))
    pairs_found = {pair for rows in found for pair in pairs(rows)}
    assert not pairs_found & {*pairs(part), *pairs(whole[:120])}


def test_combinations_change_what_they_say() -> None:
    rng = np.random.default_rng(0)
    msg = np.arange(200, dtype=np.float32)[:, None] - 100
    events = EventStream(rng.integers(0, 30, 200), rng.integers(30, 60, 200), 10 * np.arange(200), msg)
    known, moments = set(pairs(events)), set(events.t.tolist())
    own = dict(zip(events.t.tolist(), zip(events.src, events.dst, msg[:, 0], strict=True), strict=True))
    sc = made(events, "SC", 1.0)
    assert sc.msg is not None
    assert set(sc.t.tolist()) <= moments
    assert all(own[t][0] == src for t, src in zip(sc.t.tolist(), sc.src, strict=True))
    assert not set(pairs(sc)) & known
    assert (
        np.mean([own[t][2] * value <= 0 for t, value in zip(sc.t.tolist(), sc.msg[:, 0], strict=True)]) > 0.9
    )
    tc = made(events, "TC", 1.0)
    assert set(pairs(tc)) <= known
    assert tc.msg is not None
    signs = {pair: np.sign(value) for pair, value in zip(pairs(events), msg[:, 0], strict=True)}
    assert np.mean([signs[p] * v <= 0 for p, v in zip(pairs(tc), tc.msg[:, 0], strict=True)]) > 0.75
