"""What must not matter to a Window does not: the future, names, the batch, whether the event is real."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.events.clock import Clock
from sdgad.history.index import HistoryIndex, Ties
from sdgad.history.query import Query

from .streams import TIES, Stream, assert_same_bits, everything, streams

both_rules = pytest.mark.parametrize("ties", TIES)
HISTORY = 4


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1), data=st.data())
def test_the_future_never_changes_the_past(ties: Ties, stream: Stream, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(stream)))
    whole = stream.index(ties).rows(torch.arange(count), HISTORY)
    assert_same_bits(everything(stream[:count].index(ties), HISTORY), whole)


@both_rules
def test_the_future_never_changes_the_past_of_long_histories(ties: Ties) -> None:
    """Long enough for decayed counts to be summed in blocks, with nodes whose slices move as others grow."""
    rng = np.random.default_rng(0)
    src, dst, t = rng.integers(0, 3, 3000), rng.integers(0, 9, 3000), np.cumsum(rng.integers(0, 4000, 3000))
    whole = HistoryIndex(src, dst, t, ties=ties)
    for count in (257, 1000, 1777, 2999):
        part = HistoryIndex(src[:count], dst[:count], t[:count], ties=ties)
        assert_same_bits(everything(part, HISTORY), whole.rows(torch.arange(count), HISTORY))


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1), data=st.data())
def test_renaming_nodes_changes_nothing_but_their_numbers(
    ties: Ties, stream: Stream, data: st.DataObject
) -> None:
    numbers = np.array(data.draw(st.permutations(range(stream.nodes + 3))))
    before = everything(stream.index(ties), HISTORY)
    after = everything(stream.renamed(numbers).index(ties), HISTORY)
    lookup = torch.from_numpy(np.append(numbers, -1))  # −1, for no event, stays
    assert_same_bits(replace(before, node=lookup[before.node], past_node=lookup[before.past_node]), after)


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1), data=st.data())
def test_the_batch_does_not_matter(ties: Ties, stream: Stream, data: st.DataObject) -> None:
    index = stream.index(ties)
    rows = torch.tensor(data.draw(st.lists(st.integers(0, len(stream) - 1), min_size=1, max_size=20)))
    together = index.window(index.stored(rows), HISTORY, index.msg(rows))
    alone = [index.window(index.stored(row), HISTORY, index.msg(row)) for row in rows.split(1)]
    for one in alone[1:]:
        alone[0] = alone[0].joined(one)
    assert_same_bits(alone[0], together)


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1))
def test_a_hypothetical_copy_of_an_event_is_that_event(ties: Ties, stream: Stream) -> None:
    index = stream.index(ties)
    real = index.stored(torch.arange(len(stream)))
    copy = index.hypothetical(real.node[:, 0], real.node[:, 1], real.time, real.before)
    assert_same_query(copy, replace(real, event=real.before))  # it has no number of its own


def test_times_that_seconds_cannot_tell_apart_are_still_apart() -> None:
    """Three years into a stream, one nanosecond is lost in a float64 of seconds; stored ties are exact."""
    zeros, t = np.zeros(3, np.int64), np.array([0, 10**17, 10**17 + 1])
    index = HistoryIndex(zeros, zeros + 1, t, clock=Clock("ns"))
    real = index.stored(torch.arange(3))
    assert real.time[1] == real.time[2]
    assert real.before.tolist() == [0, 1, 2]
    copy = index.hypothetical(real.node[:, 0], real.node[:, 1], real.time, real.before)
    assert_same_query(copy, replace(real, event=real.before))


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1), data=st.data())
def test_a_hypothetical_event_sees_what_it_would_see_if_it_happened(
    ties: Ties, stream: Stream, data: st.DataObject
) -> None:
    node = st.integers(0, stream.nodes - 1)
    src, dst, row = data.draw(node), data.draw(node), data.draw(st.integers(1, len(stream)))
    low, high = stream.t[row - 1], stream.t[min(row, len(stream) - 1)]
    t = data.draw(st.sampled_from([low, high, low + (high - low) // 2]))
    msg = np.full(stream.msg.shape[1], -1, np.float32)
    happened = stream.with_row(row, src, dst, t, msg).index(ties).rows(torch.tensor([row]), HISTORY)

    index = stream.index(ties)
    time = torch.tensor([stream.seconds(t)], dtype=torch.float64)
    place = torch.tensor([row]) if ties == "arrival" else None
    if place is None:  # found by time alone: only if seconds tell these times apart
        assume(all((stream.seconds(other) == time.item()) == (other == t) for other in stream.t))
    query = index.hypothetical(torch.tensor([src]), torch.tensor([dst]), time, place)
    assert_same_bits(index.window(query, HISTORY, torch.from_numpy(msg)[None]), happened)


@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1), data=st.data())
def test_by_default_a_hypothetical_event_arrives_last_of_its_time(
    stream: Stream, data: st.DataObject
) -> None:
    index = stream.index("arrival")
    time = index.stored(torch.arange(len(stream))).time
    row = data.draw(st.integers(0, len(stream) - 1))
    query = index.hypothetical(torch.tensor([0]), torch.tensor([0]), time[row : row + 1])
    assert query.before.item() == int((time <= time[row]).sum())


def test_an_event_before_the_stream_began_has_no_past_and_finite_features() -> None:
    index = HistoryIndex(np.array([0, 1]), np.array([1, 0]), np.array([100, 200]))
    query = index.hypothetical(
        torch.tensor([0]), torch.tensor([1]), torch.tensor([-50.0], dtype=torch.float64)
    )
    window = index.window(query, HISTORY)
    assert not window.mask.any()
    assert torch.isfinite(window.context).all()


def test_queries_are_taken_apart_and_put_together() -> None:
    index = HistoryIndex(np.array([0, 1, 2]), np.array([1, 2, 0]), np.arange(3))
    whole = index.stored(torch.arange(3))
    parts = [whole.take(torch.tensor([0])), whole.take(torch.tensor([1, 2]))]
    assert_same_query(Query.cat(parts), whole)
    assert len(whole) == 3


def assert_same_query(one: Query, other: Query) -> None:
    for name, value in vars(one).items():
        assert torch.equal(value, getattr(other, name)), name
