"""States that change at the ends of blocks: where these lie depends on the stream alone; whatever came can be undone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.history.bare import bare_window
from sdgad.history.blocks import BlockState
from sdgad.history.memory import NodeMemory
from sdgad.history.needs import Needs
from sdgad.history.state import Array
from sdgad.history.window import Window

gaps = st.lists(st.sampled_from([0.0, 0.0, 1.0, 5.0]), min_size=1, max_size=60)


class Blocks(BlockState):
    """Remembers the events of every block."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.blocks: list[list[int]] = []

    def commit(self, block: Window) -> None:
        self.blocks = [*self.blocks, block.node[:, 0].tolist()]

    def table(self) -> dict[str, Array]:
        return {
            "event": np.array([event for block in self.blocks for event in block], np.int64),
            "size": np.array([len(block) for block in self.blocks], np.int64),
        }

    def set_table(self, table: Mapping[str, Array]) -> None:
        ends = np.cumsum(table["size"])
        self.blocks = [part.tolist() for part in np.split(table["event"], ends)[:-1]]


def events(t: Array, first: int = 0) -> Window:
    number = np.arange(first, first + len(t))
    return bare_window(np.stack([number, number % 5], 1), t, np.zeros((len(t), 0), np.float32), first)


def pass_by(state: BlockState, t: Array, sizes: list[int]) -> None:
    """Let events enter in batches, each cut where the state says."""
    start = 0
    while start < len(t):
        stop = min(start + sizes[start % len(sizes)], len(t))
        edges = [0, *state.cuts(t[start:stop]).tolist(), stop - start]
        for a, b in itertools.pairwise(edges):
            state.enter(events(t[start + a : start + b], start + a))
        start = stop


def reference(t: Array, size: int) -> list[list[int]]:
    """Blocks end before the first event of a new time that reaches or passes a multiple of the size."""
    blocks, current, tick = [], [], 0
    for i in range(len(t)):
        if i and t[i] != t[i - 1]:
            if any(m % size == 0 for m in range(tick + 1, i + 1)) and current:
                blocks.append(current)
                current = []
            tick = i
        current.append(i)
    return blocks


@given(gaps, st.integers(1, 9), st.lists(st.integers(1, 7), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_blocks_end_at_the_same_events_however_these_arrive(
    gap: list[float], size: int, sizes: list[int]
) -> None:
    t = np.cumsum(gap)
    state = Blocks(size)
    pass_by(state, t, sizes)
    assert state.blocks == reference(t, size)
    assert state.events == len(t)


@given(gaps, gaps, st.integers(1, 9), st.lists(st.integers(1, 7), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_what_came_in_a_trial_leaves_no_trace(
    one: list[float], other: list[float], size: int, sizes: list[int]
) -> None:
    t = np.cumsum(one)
    state = Blocks(size)
    pass_by(state, t, sizes)
    before = state.arrays()
    with state.trial():
        pass_by(state, t[-1] + np.cumsum(other), sizes)
    for name, array in state.arrays().items():
        np.testing.assert_array_equal(array, before[name])
    assert state.arrays().keys() == before.keys()
    again = Blocks(size)
    again.load(before)
    later = t[-1] + np.cumsum(other)
    for continued in (state, again):
        edges = [0, *continued.cuts(later).tolist(), len(later)]
        for a, b in itertools.pairwise(edges):
            continued.enter(events(later[a:b], len(t) + a))
    assert state.blocks == again.blocks == reference(np.concatenate([t, later]), size)


def test_looking_at_an_event_ends_a_block_once() -> None:
    state = Blocks(2)
    state.enter(events(np.array([0.0, 1.0])))
    later = events(np.array([2.0]), 2)
    state.move_on(later)
    state.move_on(later)
    state.enter(later)
    assert state.blocks == [[0, 1]]


def memory(size: int = 3) -> NodeMemory:
    """Rows count the events of a node, as far as blocks let it."""

    def rule(window: Window) -> torch.Tensor:
        assert window.memory is not None
        return window.memory.row[:, :, 0] + torch.tensor([1.0, 0.0])

    return NodeMemory(Needs(memory=2, commit=size, neighbours=True), rule, torch.device("cpu"))


def test_all_events_of_a_block_see_the_memory_as_it_was_before_and_the_last_one_is_kept() -> None:
    state = memory(3)
    node = np.array([[0, 1], [0, 2], [0, 1], [0, 3]])
    t = np.array([0.0, 1.0, 2.0, 7.0])
    state.enter(bare_window(node[:3], t[:3], np.zeros((3, 0), np.float32)))
    seen = bare_window(node[3:], t[3:], np.zeros((1, 0), np.float32), 3)
    state.move_on(seen)
    attached = state.attach(seen).memory
    assert attached is not None
    assert attached.row[0, :, 0].tolist() == [[1.0, 0.0], [0.0, 0.0]]  # once, though node 0 had three events
    assert attached.age[0, :, 0].tolist() == [5.0, 0.0]  # since the last of them
    assert attached.known[0, :, 0].tolist() == [True, False]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30), st.integers(1, 7))
def test_room_that_was_made_before_and_times_that_were_given_change_nothing(
    pairs: list[tuple[int, int]], size: int
) -> None:
    node, t = np.array(pairs), np.arange(float(len(pairs)))
    plain, expecting = memory(size), memory(size)
    expecting.expect(6)
    for start in range(0, len(t), 4):
        part = slice(start, start + 4)
        window = bare_window(node[part], t[part], np.zeros((len(t[part]), 0), np.float32), start)
        plain.enter(window)
        expecting.enter(window, t[part])
    after = events(np.array([99.0]), len(t))
    for state in (plain, expecting):
        state.move_on(after)
    asked = bare_window(np.array([[0, 1], [2, 3], [4, 5]]), np.full(3, 99.0), np.zeros((3, 0), np.float32))
    one, other = plain.attach(asked).memory, expecting.attach(asked).memory
    assert one is not None
    assert other is not None
    assert torch.equal(one.row, other.row)
    assert torch.equal(one.age, other.age)
    assert torch.equal(one.known, other.known)


def test_nobody_has_no_memory() -> None:
    state = memory(1)
    state.enter(bare_window(np.array([[0, 1]]), np.array([0.0]), np.zeros((1, 0), np.float32)))
    state.move_on(events(np.array([1.0]), 1))
    empty = bare_window(np.array([[-1, 10**12]]), np.array([1.0]), np.zeros((1, 0), np.float32))
    attached = state.attach(empty).memory
    assert attached is not None
    assert not attached.known.any()
    assert attached.row.abs().sum() == 0


def test_a_memory_of_another_width_is_refused() -> None:
    state = memory()
    arrays = state.arrays() | {"table.row": np.zeros((4, 3), np.float32), "table.time": np.zeros(4)}
    with pytest.raises(ValueError, match="shape"):
        state.load(arrays)
