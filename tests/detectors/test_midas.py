"""MIDAS, MIDAS-R, MIDAS-F: the papers' formulas, in constant memory, the same bits however the stream is cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.detectors.baselines import midas_kernel
from sdgad.detectors.baselines.midas import MidasEdges, MidasF, MidasR
from sdgad.detectors.baselines.midas_state import Counts, FilteredCounts, MidasState, bounded
from sdgad.detectors.baselines.sketches import EDGE, EDGE_AND_ENDS, Places, mixed
from sdgad.errors import InputError
from sdgad.history.bare import bare_window
from sdgad.history.window import Window

KINDS = ("midas", "midas-r", "midas-f")
DETECTORS = {"midas": MidasEdges, "midas-r": MidasR, "midas-f": MidasF}

kinds = pytest.mark.parametrize("kind", KINDS)


def new(
    kind: str, buckets: int = 4096, tick: float = 1.0, threshold: float = 2.0, seed: int = 0
) -> MidasState:
    places = Places(EDGE if kind == "midas" else EDGE_AND_ENDS, 2, buckets, seed)
    if kind == "midas-f":
        return FilteredCounts(tick, places, 0.5, threshold)
    return Counts(tick, places, 0.0 if kind == "midas" else 0.5)


def window(events: list[tuple[int, int, float]] | np.ndarray) -> Window:
    """Of (source, destination, seconds)."""
    table = np.array(events, float).reshape(-1, 3)
    return bare_window(table[:, :2].astype(np.int64), table[:, 2], np.empty((len(table), 0), np.float32))


def stream(seed: int, count: int, nodes: int = 12, pace: float = 0.4, start: float = 0.0) -> np.ndarray:
    """Random events with ties, long silences and a repeated pair."""
    rng = np.random.default_rng(seed)
    node = rng.integers(nodes, size=(count, 2))
    node[rng.random(count) < 0.3] = (1, 2)
    gap = rng.exponential(pace, count) * (rng.random(count) < 0.7)
    gap[rng.random(count) < 0.02] *= 1000
    seconds = np.cumsum(gap)
    return np.column_stack([node, start + seconds - seconds[:1]])


def same(left: MidasState, right: MidasState) -> bool:
    mine, other = left.arrays(), right.arrays()
    return mine.keys() == other.keys() and all(np.array_equal(mine[name], other[name]) for name in mine)


def raw_of(scores: np.ndarray) -> np.ndarray:
    """The inverse of `bounded`."""
    return 1000 * (scores / (1 - scores)) ** 8


# ---------------------------------------------------------------------- the formulas
A, B, C, D = range(4)
WORKED = [
    (A, B, 0.0),
    (A, B, 0.0),
    (A, C, 1.0),
    (A, B, 1.5),
    (A, B, 1.7),
    (D, B, 4.0),
    (A, B, 4.2),
    (A, B, 4.9),
]
BY_HAND = {  # ticks 1, 1, 2, 2, 2, 5, 5, 5; threshold 2
    "midas": [0, 0, 1, 1 / 3, 0, 4, 0, 2 / 3],
    "midas-r": [0, 0, 1, 1, 1.8, 4, 132.25 / 24, 240.25 / 28],
    "midas-f": [0, 0, 0, 0.5, 2, 1.25, 4.05, 9],  # the fifth keeps its source's count of tick 2 out
}


@kinds
def test_scores_worked_by_hand(kind: str) -> None:
    scores = new(kind).through(window(WORKED))
    np.testing.assert_allclose(scores, bounded(np.array(BY_HAND[kind])), rtol=1e-12)


def tick_by_tick(kind: str, events: np.ndarray, places: Places, decay: float, threshold: float) -> np.ndarray:
    """The papers read aloud: every cell is changed whenever a tick ends."""
    now, total, last = np.zeros((3, len(places)))
    t, raw = 1.0, []
    for cells, tick in zip(
        places.of(events[:, :2].astype(np.int64)).reshape(len(events), -1, 2),
        events[:, 2] // 1 + 1,
        strict=True,
    ):
        if tick > t:
            if kind == "midas-f":
                grown = total / (t - 1) if t > 1 else 0.0
                total = total + np.where(last < threshold, now, grown)
            now, t = now * decay, tick
        each = []
        for cell in cells:
            now[cell] += 1
            total[cell] += kind != "midas-f"
            a, s = now[cell].min(), total[cell].min()
            score = 0.0
            if s > 0 and t > 1:
                square = (a + s - a * t) ** 2 if kind == "midas-f" else (a - s / t) ** 2 * t**2
                score = square / (s * (t - 1))
            last[cell] = score
            each.append(score)
        raw.append(max(each))
    return np.array(raw)


@kinds
@pytest.mark.parametrize("decay", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("buckets", [3, 64])
def test_cells_that_catch_up_hold_what_the_end_of_each_tick_would_have_left(
    kind: str, decay: float, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sdgad.detectors.baselines.midas_state.REACH", 7
    )  # so that several factors are needed
    events = stream(5, 400)
    places = Places(EDGE if kind == "midas" else EDGE_AND_ENDS, 2, buckets, 3)
    state = FilteredCounts(1.0, places, decay, 5.0) if kind == "midas-f" else Counts(1.0, places, decay)
    scores = state.through(window(events))
    expected = tick_by_tick(kind, events, places, decay, 5.0)
    np.testing.assert_allclose(raw_of(scores), expected, rtol=1e-9, atol=1e-9)


@kinds
def test_a_burst_stands_out(kind: str) -> None:
    rng = np.random.default_rng(0)
    calm = np.column_stack([rng.integers(50, size=(3000, 2)), np.arange(3000) * 0.1])
    calm[::40, :2] = (7, 8)  # an old acquaintance, four seconds apart
    burst = np.tile([7.0, 8.0, 299.95], (100, 1))
    scores = new(kind, threshold=1000.0).through(window(np.concatenate([calm, burst])))
    assert scores[-50:].min() > scores[200:3000].max()


def test_what_looks_like_an_attack_does_not_become_normal() -> None:
    """Of two floods of one pair the second looks less alarming to MIDAS-R, and hardly less to MIDAS-F."""
    calm = [(1, 2, float(k)) for k in range(100)]
    first, second = ([(1, 2, at)] * 500 for at in (100.0, 130.0))
    between = [(1, 2, 101.0 + k) for k in range(29)]
    left = {}
    for kind in ("midas-r", "midas-f"):
        scores = new(kind, threshold=100.0).through(window(calm + first + between + second))
        raw = raw_of(scores)
        left[kind] = raw[-1] / raw[599]
    assert left["midas-r"] < 0.7
    assert left["midas-f"] > 0.9


# ---------------------------------------------------------------------- a state
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 1000), st.lists(st.integers(0, 200), max_size=6))
def test_batches_cut_anywhere_give_the_same_bits(kind: str, seed: int, cuts: list[int]) -> None:
    events = stream(seed, 200)
    whole, parts = new(kind, buckets=16), new(kind, buckets=16)
    expected = whole.through(window(events))
    found = [parts.through(window(part)) for part in np.split(events, sorted(cuts))]
    assert np.array_equal(np.concatenate(found), expected)
    assert same(whole, parts)


@kinds
def test_long_batches_are_looked_at_in_chunks_that_nobody_notices(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = window(stream(1, 500))
    expected = new(kind).through(events)
    monkeypatch.setattr("sdgad.detectors.baselines.midas_state.CHUNK", 7)
    assert np.array_equal(new(kind).through(events), expected)


@kinds
@pytest.mark.parametrize("seed", range(3))
def test_numba_gives_the_bits_of_the_interpreter(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="numba is not installed (extra: fast)")
    events = window(stream(seed, 5000, nodes=60, pace=0.05 if seed else 3.0))
    assert len(events) >= midas_kernel.WORTH_COMPILING
    state = {}
    scores = {}
    for used in (True, False):
        monkeypatch.setattr(midas_kernel, "uses_numba", lambda used=used: used)
        state[used] = new(kind, buckets=32, threshold=20.0, seed=seed)
        scores[used] = state[used].through(events)
    assert np.array_equal(scores[True], scores[False])
    assert same(state[True], state[False])


def test_without_numba_the_interpreter_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(midas_kernel, "import_module", missing)
    midas_kernel._numba.cache_clear()
    try:
        assert not midas_kernel.uses_numba()
        assert (
            len(new("midas-r").through(window(stream(0, midas_kernel.WORTH_COMPILING))))
            == midas_kernel.WORTH_COMPILING
        )
    finally:
        midas_kernel._numba.cache_clear()


@kinds
def test_score_gives_what_through_would_and_leaves_nothing_behind(kind: str) -> None:
    past, coming = window(stream(0, 300)), window(stream(1, 100, start=500.0))
    state, other = new(kind), new(kind)
    state.through(past)
    other.enter(past)
    first = state.score(coming)
    assert same(state, other)
    assert np.array_equal(state.through(coming), first)
    other.enter(coming)
    assert same(state, other)


@kinds
def test_what_came_after_begin_is_undone_or_stays(kind: str) -> None:
    past, coming = window(stream(0, 300)), window(stream(1, 100, start=500.0))
    state, other = new(kind), new(kind)
    for each in (state, other):
        each.enter(past)
    with state.trial():
        state.through(coming)
        state.enter(coming)
        state.score(coming)
        assert not same(state, other)
    assert same(state, other)
    with state.trial(keep=True):
        state.enter(coming)
    other.enter(coming)
    assert same(state, other)


@kinds
def test_arrays_are_all_there_is(kind: str) -> None:
    past, coming = window(stream(0, 300)), window(stream(1, 100, start=500.0))
    state, other = new(kind), new(kind)
    state.enter(past)
    kept = {name: array.copy() for name, array in state.arrays().items()}
    expected = state.through(coming)
    other.load(kept)
    assert np.array_equal(other.through(coming), expected)
    assert same(state, other)


@kinds
def test_arrays_that_do_not_fit_are_refused(kind: str) -> None:
    state = new(kind)
    state.enter(window(WORKED))
    with pytest.raises(ValueError, match="shape"):
        new(kind, buckets=8).load(state.arrays())
    with pytest.raises(KeyError):
        new(kind).load({})
    ahead = state.arrays() | {"midas.seen": state.arrays()["midas.seen"] + 10}
    with pytest.raises(ValueError, match="not ended"):
        new(kind).load(ahead)


@kinds
def test_the_state_has_one_size_whatever_came(kind: str) -> None:
    state = new(kind)
    before = {name: array.nbytes for name, array in state.arrays().items()}
    state.enter(window(stream(0, 6000, nodes=10**9)))
    assert {name: array.nbytes for name, array in state.arrays().items()} == before


@kinds
def test_a_row_of_the_far_future_ends_one_tick(kind: str) -> None:
    state = new(kind)
    state.enter(window(WORKED))
    ended = state.arrays()["midas.clock"][1]
    scores = state.through(window([(A, B, 1e15), (A, B, 1e15)]))
    assert state.arrays()["midas.clock"][1] == ended + 1
    assert ((scores > 0) & (scores < 1)).all()


@kinds
def test_a_late_row_counts_as_now(kind: str) -> None:
    late, now = new(kind), new(kind)
    for state in (late, now):
        state.enter(window(WORKED))
    assert np.array_equal(late.through(window([(A, B, -3.0)])), now.through(window([(A, B, 4.9)])))


@kinds
def test_no_events_are_no_scores(kind: str) -> None:
    state = new(kind)
    assert state.through(window([])).shape == (0,)
    assert same(state, new(kind))


# ---------------------------------------------------------------------- scores and places
def test_scores_are_strictly_monotone_over_all_decades() -> None:
    raw = np.concatenate([[0.0], np.geomspace(1e-25, 1e40, 200_001)])
    scores = bounded(raw)
    assert (np.diff(scores) > 0).all()
    assert scores[0] > 0
    assert scores[-1] < 1
    close = 10.0 ** np.arange(-20, 13)
    assert (bounded(close * (1 + 1e-13)) > bounded(close)).all()
    assert bounded(np.array([1000.0]))[0] == 0.5


def test_places_are_the_same_on_every_machine() -> None:
    """A model's state must be read on another machine; these numbers were printed once and are no more than that."""
    assert mixed(np.array([1, 2], np.uint64)).tolist() == [6238072747940578789, 15839785061582574730]
    assert Places(EDGE_AND_ENDS, 2, 1000, 7).of(np.array([[5, 2**63 - 1]])).tolist() == [
        22,
        1186,
        2165,
        3488,
        4787,
        5722,
    ]


def test_rows_and_sketches_share_no_collisions() -> None:
    """Two keys in one bucket of a row are in one bucket of another no more often than by chance."""
    places = Places(EDGE_AND_ENDS, 2, 64, 0)
    node = np.stack([np.arange(4000), np.arange(4000)[::-1]], 1)
    cell = places.of(node).reshape(4000, 6) - np.arange(6) * 64
    assert (cell >= 0).all()
    assert (cell < 64).all()
    for j in range(6):
        counts = np.bincount(cell[:, j], minlength=64)
        assert ((counts - 4000 / 64) ** 2).sum() / (4000 / 64) < 120  # χ² with 63 degrees: 1 in 10,000
        for i in range(j):
            joint = np.bincount(cell[:, i] * 64 + cell[:, j], minlength=64**2)
            assert ((joint - 4000 / 64**2) ** 2).sum() / (4000 / 64**2) < 4095 + 5 * math.sqrt(2 * 4095)


def test_an_edge_has_a_direction() -> None:
    places = Places(EDGE, 2, 1 << 20, 0)
    there, back = places.of(np.array([[1, 2], [2, 1]])).reshape(2, 2)
    assert (there != back).all()


# ---------------------------------------------------------------------- detectors
@kinds
@pytest.mark.parametrize(
    "option",
    [{"tick": 0.0}, {"tick": math.inf}, {"rows": 0}, {"buckets": 0}, {"buckets": 1 << 21}, {"seed": -1}],
)
def test_options_out_of_range_are_named(kind: str, option: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"Option {next(iter(option))}="):
        DETECTORS[kind](**option)


@pytest.mark.parametrize(
    ("kind", "option"),
    [("midas-r", {"decay": 1.0}), ("midas-f", {"decay": -0.1}), ("midas-f", {"threshold": 0.0})],
)
def test_options_of_one_kind_out_of_range_are_named(kind: str, option: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"Option {next(iter(option))}="):
        DETECTORS[kind](**option)


@pytest.mark.parametrize(
    ("kind", "option"), [("midas", "decay"), ("midas", "threshold"), ("midas-r", "threshold")]
)
def test_options_stand_only_where_they_act(kind: str, option: str) -> None:
    with pytest.raises(InputError, match=option):
        DETECTORS[kind](**{option: 0.5})
