"""The pair table against a dictionary, through growth, undo and forgetting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.history.pairs import PairTable, nodes_of, pair_key

Book = dict[
    tuple[int, int], tuple[int, int, float]
]  # (smaller, larger) → events, those from the smaller, last

NODES = 40
batches = st.lists(
    st.lists(st.tuples(st.integers(0, NODES), st.integers(0, NODES)), min_size=1, max_size=30), max_size=12
)
examples = settings(max_examples=200, deadline=None)


def write_down(book: Book, batch: list[tuple[int, int]], time: float) -> list[bool]:
    meeting = []
    for src, dst in batch:
        key = (min(src, dst), max(src, dst))
        count, forward, _ = book.get(key, (0, 0, 0.0))
        meeting.append(count == 0)
        book[key] = (count + 1, forward + (src <= dst), time)
    return meeting


def assert_says(table: PairTable, book: Book) -> None:
    src, dst = (grid.reshape(-1) for grid in np.meshgrid(np.arange(NODES + 1), np.arange(NODES + 1)))
    count, same, last = table.between(src, dst, np.zeros(len(src)))
    for i, (s, d) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        total, forward, when = book.get((min(s, d), max(s, d)), (0, 0, 0.0))
        assert (count[i], same[i], last[i]) == (total, forward if s <= d else total - forward, when)
    assert len(table) == len(book)


@given(batches, st.data())
@examples
def test_the_table_says_what_a_dictionary_would(
    batches: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    table, book = PairTable(), Book()
    for number, batch in enumerate(batches):
        src, dst = np.array(batch).T
        time = np.full(len(batch), float(number))
        if data.draw(st.booleans()):
            table.begin()
            table.meet(src, dst, time)
            table.undo()
        else:
            assert table.meet(src, dst, time).tolist() == write_down(book, batch, float(number))
        if data.draw(st.integers(0, 4)) == 0:
            kept = data.draw(st.sets(st.integers(0, NODES)))
            table.keep(np.array(sorted(kept), np.int64), float(number))
            book = {key: value for key, value in book.items() if set(key) <= kept}
    assert_says(table, book)


@pytest.mark.parametrize("seed", range(20))
def test_an_undo_that_shrinks_a_grown_table_loses_nobody(seed: int) -> None:
    random, table, book = np.random.default_rng(seed), PairTable(), Book()
    for size in (30, 300):
        old = [(int(s), int(d)) for s, d in random.integers(0, NODES, (size, 2))]
        table.meet(*np.array(old).T, np.zeros(size))
        write_down(book, old, 0.0)
        table.begin()
        table.meet(*random.integers(0, NODES, (2, 6 * size)), np.ones(6 * size))
        table.undo()
        assert_says(table, book)


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)), min_size=1))
@examples
def test_a_key_names_its_two_nodes(pairs: list[tuple[int, int]]) -> None:
    src, dst = np.array(pairs).T
    low, high = nodes_of(pair_key(src, dst))
    assert low.tolist() == np.minimum(src, dst).tolist()
    assert high.tolist() == np.maximum(src, dst).tolist()
    assert (pair_key(src, dst) == pair_key(dst, src)).all()
