"""Pseudo-anomalies break one respect of an event each, and see just what its anchor could see."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from sdgad.detectors.pseudo import PseudoAnomalies, PseudoEvents
from sdgad.history.index import HistoryIndex, Ties

COUNT, NODES, HISTORY = 300, 25, 4
RNG = np.random.default_rng(0)
SRC, DST = RNG.integers(0, NODES, (2, COUNT))
DST[::20] = SRC[::20]  # self-loops
T = np.sort(RNG.integers(0, 90, COUNT)).astype(np.float64)  # many ties
MSG = RNG.normal(size=(COUNT, 3)).astype(np.float32)
TIES: tuple[Ties, ...] = ("strict", "arrival")

ANCHORS = torch.arange(100, 280)
DONORS = torch.from_numpy(RNG.permutation(200)[: len(ANCHORS)])


def index_of(ties: Ties = "strict", *, features: bool = True) -> HistoryIndex:
    return HistoryIndex(SRC, DST, T, MSG if features else None, num_nodes=NODES, ties=ties)


@pytest.fixture(scope="module")
def index() -> HistoryIndex:
    return index_of()


@pytest.fixture(scope="module")
def pseudo(index: HistoryIndex) -> PseudoAnomalies:
    return PseudoAnomalies(index, torch.arange(200))


def drawn(pseudo: PseudoAnomalies, seed: int, anchors: Tensor = ANCHORS) -> PseudoEvents:
    return pseudo.draw(anchors, torch.Generator().manual_seed(seed))


# ---------------------------------------------------------------------- what is broken, and what is kept
def test_another_destination_keeps_source_time_and_features(pseudo: PseudoAnomalies) -> None:
    made = pseudo.other_destination(ANCHORS, DONORS)
    np.testing.assert_array_equal(made.query.node[:, 0], SRC[ANCHORS])
    np.testing.assert_array_equal(made.query.node[:, 1], DST[DONORS])
    np.testing.assert_array_equal(made.query.time, T[ANCHORS] - T[0])
    np.testing.assert_array_equal(made.msg, MSG[ANCHORS])


def test_another_time_is_the_whole_event_of_another_pair_at_this_time(pseudo: PseudoAnomalies) -> None:
    made = pseudo.other_time(ANCHORS, DONORS)
    np.testing.assert_array_equal(made.query.node, np.stack([SRC[DONORS], DST[DONORS]], 1))
    np.testing.assert_array_equal(made.query.time, T[ANCHORS] - T[0])
    np.testing.assert_array_equal(made.msg, MSG[DONORS])


def test_other_features_change_nothing_else_in_the_window(
    index: HistoryIndex, pseudo: PseudoAnomalies
) -> None:
    made = pseudo.other_features(ANCHORS, DONORS)
    np.testing.assert_array_equal(made.msg, MSG[DONORS])
    window, real = index.window(made.query, HISTORY, made.msg), index.rows(ANCHORS, HISTORY)
    for name, value in vars(real).items():
        if name != "msg":
            torch.testing.assert_close(getattr(window, name), value, msg=name)


def test_a_broken_event_with_itself_for_a_donor_is_the_event(
    index: HistoryIndex, pseudo: PseudoAnomalies
) -> None:
    """Nothing but the break can tell a pseudo-anomaly from a real event."""
    real = index.rows(ANCHORS, HISTORY)
    for kind, _ in pseudo.kinds:
        same = kind(ANCHORS, ANCHORS)
        window = index.window(same.query, HISTORY, same.msg)
        for name, value in vars(real).items():
            torch.testing.assert_close(getattr(window, name), value, msg=f"{kind} {name}")


# ---------------------------------------------------------------------- what is seen
@pytest.mark.parametrize("ties", TIES)
def test_the_visible_past_is_that_of_the_anchors_time(ties: Ties) -> None:
    """Against a search through all events: none at or after the anchor's time (strict) or row (arrival)."""
    index = index_of(ties)
    pseudo = PseudoAnomalies(index, torch.arange(COUNT))  # donors from the future too
    made = drawn(pseudo, seed=0)
    window = index.window(made.query, HISTORY, made.msg)
    seen_something = 0
    for i, anchor in enumerate(ANCHORS.tolist()):
        visible = T[anchor] > T if ties == "strict" else np.arange(COUNT) < anchor
        assert made.query.time[i] == T[anchor] - T[0]
        assert made.query.before[i] == visible.sum()
        for end in (0, 1):
            node = int(made.query.node[i, end])
            past = np.flatnonzero(visible & ((node == SRC) | (node == DST)))[-HISTORY:]
            slots = window.mask[i, end]
            assert slots.sum() == len(past)
            np.testing.assert_array_equal(window.past_msg[i, end, slots], MSG[past])
            np.testing.assert_allclose(window.past_gap[i, end, slots], T[anchor] - T[past])
            other = np.where(SRC[past] == node, DST[past], SRC[past])
            np.testing.assert_array_equal(window.past_node[i, end, slots], other)
            seen_something += len(past)
    assert seen_something > 500


@pytest.mark.parametrize("ties", TIES)
def test_the_future_has_no_say_in_what_is_seen(ties: Ties) -> None:
    """All that is not visible to an anchor may be anything: Window and context features stay."""
    index = index_of(ties)
    for anchor in (120, 180, 250):
        before = int(index.stored(torch.tensor([anchor])).before[0])
        hidden = np.arange(COUNT) >= before
        hidden[anchor] = False  # whose source and features are used
        src, dst, msg = SRC.copy(), DST.copy(), MSG.copy()
        src[hidden], dst[hidden], msg[hidden] = DST[anchor], SRC[anchor], 99.0
        other = HistoryIndex(src, dst, T, msg, num_nodes=NODES, ties=ties)
        donors = torch.arange(before)
        anchors = torch.full_like(donors, anchor)
        for name in ("other_destination", "other_source", "other_time", "takeover", "other_features"):
            windows = []
            for each in (index, other):
                made = getattr(PseudoAnomalies(each, donors), name)(anchors, donors)
                windows.append(each.window(made.query, HISTORY, made.msg))
            for field, value in vars(windows[0]).items():
                torch.testing.assert_close(getattr(windows[1], field), value, msg=f"{name} {field}")


# ---------------------------------------------------------------------- how they are drawn
def test_kinds_come_in_equal_shares_each_with_its_own_anchors(pseudo: PseudoAnomalies) -> None:
    made = drawn(pseudo, seed=0)
    assert len(pseudo.kinds) == 6
    assert len(made) == len(made.msg) == len(ANCHORS)
    destination, source, features = ANCHORS[0::6], ANCHORS[2::6], ANCHORS[5::6]
    np.testing.assert_array_equal(made.anchor, ANCHORS)
    np.testing.assert_array_equal(made.query.time, T[ANCHORS] - T[0])
    np.testing.assert_array_equal(made.msg[0::6], MSG[destination])
    np.testing.assert_array_equal(made.query.node[0::6, 0], SRC[destination])
    np.testing.assert_array_equal(made.query.node[2::6, 1], DST[source])
    np.testing.assert_array_equal(made.query.node[5::6], np.stack([SRC[features], DST[features]], 1))
    assert (made.msg[5::6].numpy() != MSG[features]).any(1).mean() > 0.8


def test_a_recent_donor_has_neither_node_of_its_anchor_where_another_can_be_found(
    index: HistoryIndex, pseudo: PseudoAnomalies
) -> None:
    same = []
    for seed in range(5):
        made = drawn(pseudo, seed)
        real = index.stored(ANCHORS).node
        for kind, end in ((0, 1), (2, 0), (4, 1)):  # destination, source, takeover
            same.append(made.query.node[kind::6, end] == real[kind::6, end])
    assert torch.cat(same).double().mean() < 0.01  # of 25 nodes one in 12 draws has the same


def test_donors_come_from_the_pool_and_recent_ones_from_just_before_the_anchor(index: HistoryIndex) -> None:
    pool = torch.arange(0, 280, 2)
    pseudo = PseudoAnomalies(index, pool)
    generator = torch.Generator().manual_seed(0)
    anyone, recent = (
        torch.stack([pseudo._donors(ANCHORS, most, generator) for _ in range(20)]) for most in (None, 30)
    )
    assert set(anyone.unique().tolist()) == set(pool.tolist())
    assert set(recent.unique().tolist()) <= set(pool.tolist())
    back = ANCHORS - recent
    assert back.min() > 0
    assert 55 < back.max() <= 60


def test_another_time_is_that_of_a_pair_of_the_season(index: HistoryIndex) -> None:
    pool = torch.arange(280)
    pseudo = PseudoAnomalies(index, pool)
    assert dict(pseudo.kinds)[pseudo.other_time] == 56  # a fifth of the pool


def test_without_features_there_is_no_kind_that_swaps_them() -> None:
    bare = PseudoAnomalies(index_of(features=False), torch.arange(200))
    made = drawn(bare, seed=0)
    assert len(bare.kinds) == 4
    assert len(made) == len(ANCHORS)
    assert made.msg.shape == (len(ANCHORS), 0)
    np.testing.assert_array_equal(made.query.node[0::4, 0], SRC[ANCHORS[0::4]])
    np.testing.assert_array_equal(made.query.time, T[ANCHORS] - T[0])


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_anchors_than_kinds_are_fine(pseudo: PseudoAnomalies, count: int) -> None:
    made = drawn(pseudo, seed=0, anchors=ANCHORS[:count])
    assert len(made) == len(made.msg) == count


def test_the_generator_alone_decides(pseudo: PseudoAnomalies) -> None:
    torch.manual_seed(1)
    one = drawn(pseudo, seed=5)
    torch.manual_seed(2)
    same, other = drawn(pseudo, seed=5), drawn(pseudo, seed=6)
    assert torch.equal(one.msg, same.msg)
    for name, value in vars(one.query).items():
        assert torch.equal(value, getattr(same.query, name)), name
    assert not torch.equal(one.query.node, other.query.node)
    generator = torch.Generator().manual_seed(5)
    first, second = pseudo.draw(ANCHORS, generator), pseudo.draw(ANCHORS, generator)
    assert not torch.equal(first.query.node, second.query.node)
