"""Second hops: what plain loops say, as far as the reach, the same for events that might have happened."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.index import Ties
from sdgad.history.needs import Needs
from sdgad.history.recent import in_words, most_bytes
from sdgad.history.retention import Retention
from sdgad.history.window import Hop, Window, WindowShape

from .streams import TIES, Stream, assert_same_bits, streams

At = Literal["event", "root"]
HISTORY = 4
both_rules = pytest.mark.parametrize("ties", TIES)
both_moments = pytest.mark.parametrize("at", ["event", "root"])
examples = settings(max_examples=150, deadline=None)


def rows_of(stream: Stream) -> Rows:
    return Rows(np.stack([stream.src, stream.dst], 1), stream.t, stream.msg)


def hop_of(window: Window) -> Hop:
    assert window.hop is not None
    return window.hop


@both_rules
@both_moments
@examples
@given(
    stream=streams(largest=24),
    history=st.sampled_from([1, 5]),
    length=st.sampled_from([1, 2, 30]),
    reach=st.sampled_from([1, 4, 11, 1 << 16]),
)
def test_a_hop_is_the_last_events_of_the_other_node_that_could_be_seen(
    ties: Ties, at: At, stream: Stream, history: int, length: int, reach: int
) -> None:
    needs = Needs(hop=length, at=at, reach=reach)
    window = stream.index(ties).rows(torch.arange(len(stream)), history, needs)
    hop, reference = hop_of(window), stream.reference(ties)
    assert hop.mask.shape == (len(stream), 2, history, length)
    for row, event in enumerate(reference.events):
        for end, node in enumerate((event.src, event.dst)):
            for slot, first in enumerate(reference.window(event, node, history)):
                if first is None:
                    assert not hop.mask[row, end, slot].any()
                    continue
                past = first[0]
                found = reference.hop(event, past, node, length, at=at, reach=reach)
                for place, second in enumerate(found):
                    here = (row, end, slot, place)
                    assert bool(hop.mask[here]) == (second is not None)
                    if second is not None:
                        earlier, gap = second
                        assert hop.node[here] == earlier.partner_of(past.partner_of(node))
                        assert hop.gap[here].item() == np.float32(gap)
                        assert hop.msg[here].tolist() == stream.msg[earlier.row].tolist()
                        assert torch.equal(hop.context[here], window.context[earlier.row])


def test_events_of_one_time_are_both_past_of_a_later_one_and_nothing_to_each_other() -> None:
    # 1 meets 2 at time 0, then 3 and 4 at time 1, then 0 at time 2; the last event is of 0 alone
    stream = [(1, 2, 0), (1, 3, 1), (1, 4, 1), (0, 1, 2), (0, 5, 3), (3, 6, 3)]
    src, dst, t = (np.array(column) for column in zip(*stream, strict=True))
    buffer = HistoryBuffer(1, 0, needs=Needs(hop=4))
    window = buffer.push(Rows(np.stack([src, dst], 1), t, np.zeros((6, 0), np.float32)))
    assert window.past_node[4, 0].tolist() == [1]
    assert hop_of(window).node[4, 0, 0].tolist() == [-1, 2, 3, 4]  # of 1, when it met 0
    assert window.past_node[5, 0].tolist() == [1]
    assert hop_of(window).node[5, 0, 0].tolist() == [
        -1,
        -1,
        -1,
        2,
    ]  # of 1, when it met 3: not what came with it


@both_rules
@both_moments
@examples
@given(stream=streams(smallest=1), reach=st.sampled_from([2, 9, 1 << 16]), data=st.data())
def test_a_hypothetical_event_has_the_second_hop_that_it_would_have_if_it_happened(
    ties: Ties, at: At, stream: Stream, reach: int, data: st.DataObject
) -> None:
    needs = Needs(hop=3, at=at, reach=reach, time=True)
    node = st.integers(0, stream.nodes - 1)
    src, dst, row = data.draw(node), data.draw(node), data.draw(st.integers(1, len(stream)))
    t = stream.t[row - 1] if ties == "arrival" else stream.t[row - 1] + 1
    assume(row == len(stream) or t <= stream.t[row])
    assume(stream.seconds(t) > stream.seconds(stream.t[row - 1]) or ties == "arrival")
    assume(row == len(stream) or ties == "arrival" or stream.seconds(t) < stream.seconds(stream.t[row]))
    msg = np.full(stream.msg.shape[1], -1, np.float32)
    happened = stream.with_row(row, src, dst, t, msg).index(ties)
    index = stream.index(ties)
    query = index.hypothetical(
        torch.tensor([src]),
        torch.tensor([dst]),
        torch.tensor([stream.seconds(t)], dtype=torch.float64),
        torch.tensor([row]),
    )
    made = index.window(query, HISTORY, torch.from_numpy(msg)[None], needs)
    assert_same_bits(made, happened.rows(torch.tensor([row]), HISTORY, needs))


@both_rules
@examples
@given(stream=streams(smallest=1))
def test_stored_and_computed_windows_are_the_same_whatever_is_needed(ties: Ties, stream: Stream) -> None:
    needs = Needs(hop=2, reach=7, time=True)
    index, rows = stream.index(ties), torch.arange(len(stream))
    stored = index.rows(rows, HISTORY, needs)
    assert_same_bits(index.window(index.stored(rows), HISTORY, index.msg(rows), needs), stored)
    assert stored.event is not None
    assert stored.event.tolist() == rows.tolist()
    assert stored.time is not None
    assert stored.time.tolist() == [stream.seconds(t) for t in stream.t]
    plain = index.rows(rows, HISTORY)
    assert_same_bits(replace(stored, hop=None, time=None, event=None), plain)


@both_rules
@both_moments
@examples
@given(stream=streams(smallest=1), reach=st.sampled_from([1, 5, 1 << 16]))
def test_empty_slots_hold_nothing_in_the_index_in_the_buffer_and_in_padding(
    ties: Ties, at: At, stream: Stream, reach: int
) -> None:
    needs = Needs(hop=3, at=at, reach=reach)
    live = HistoryBuffer(HISTORY, stream.msg.shape[1], clock=stream.clock, ties=ties, needs=needs)
    stored = stream.index(ties).rows(torch.arange(len(stream)), HISTORY, needs)
    for window in (stored, live.push(rows_of(stream)), live.window_of_nothing()):
        padded, hop = window.padded(len(stream) + 2), hop_of(window.padded(len(stream) + 2))
        assert (padded.node[len(window) :] == -1).all()
        assert not padded.mask[len(window) :].any()
        assert not hop.mask[len(window) :].any()
        for mask, nodes, others in (
            (padded.mask, padded.past_node, (padded.past_gap, padded.past_msg, padded.past_context)),
            (hop.mask, hop.node, (hop.gap, hop.msg, hop.context)),
        ):
            assert (nodes[~mask] == -1).all()
            assert (nodes[mask] >= 0).all()
            assert not any(values[~mask].any() for values in others)


def test_recent_events_take_no_more_room_than_is_said_and_no_less_when_they_are_full() -> None:
    random, needs = np.random.default_rng(0), Needs(hop=2, reach=300)
    buffer = HistoryBuffer(3, 2, needs=needs)
    said = most_bytes(needs, buffer.shape)
    assert said == 300 * (2 * 8 + 8 + 2 * 4 + buffer.shape.context * 4 + 4 * 8)
    for step in range(50):
        buffer.push(Rows(random.integers(0, 30, (17, 2)), np.full(17, step), np.ones((17, 2), np.float32)))
        assert buffer.room_of_recent_events <= said
    assert buffer.room_of_recent_events == said
    assert sum(a.nbytes for name, a in buffer.arrays().items() if name.startswith("recent.")) == said


def test_the_reach_and_its_cost_are_said_in_words() -> None:
    shape = WindowShape(20, 0, 33)
    assert in_words(Needs(hop=5), shape) == (
        "second hops reach the stream's latest 65,536 events: 11.8 MiB live"
    )
    assert most_bytes(Needs(), shape) == most_bytes(Needs(hop=5, at="root"), shape) == 0


def test_what_nobody_needs_is_not_kept() -> None:
    plain = HistoryBuffer(3, 0).arrays().keys()
    assert HistoryBuffer(3, 0, needs=Needs(time=True)).arrays().keys() == plain
    more = HistoryBuffer(3, 0, needs=Needs(hop=1)).arrays().keys() - plain
    assert {name.split(".")[0] for name in more} == {"recent", "nodes"}
    assert HistoryBuffer(3, 0, needs=Needs(hop=1, at="root")).arrays().keys() - plain == {"nodes.past_event"}


@pytest.mark.parametrize("retention", [Retention(max_nodes=5), Retention(max_age=5.0)], ids=str)
def test_second_hops_of_now_are_refused_where_nodes_are_forgotten(retention: Retention) -> None:
    with pytest.raises(InputError, match=r"max_nodes and max_age\.$"):
        HistoryBuffer(3, 0, retention=retention, needs=Needs(hop=1, at="root"))


def test_saved_events_beyond_the_reach_are_refused() -> None:
    def buffer(reach: int) -> HistoryBuffer:
        return HistoryBuffer(1, 0, needs=Needs(hop=1, reach=reach))

    longer = buffer(9)
    longer.push(Rows(np.zeros((9, 2), np.int64), np.arange(9), np.zeros((9, 0), np.float32)))
    with pytest.raises(ValueError, match="more than 4 recent events"):
        buffer(4).load(longer.arrays())
