"""The live buffer: its Windows are those of the index, however the stream is cut, and nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdgad.events.clock import Clock
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.context import context_names
from sdgad.history.index import HistoryIndex, Ties
from sdgad.history.log import EventLog
from sdgad.history.needs import NONE, Needs
from sdgad.history.retention import Retention
from sdgad.history.window import Window

from .streams import TIES, Stream, assert_same_bits, streams, tensors

FORGETFUL = [
    None,
    Retention(max_age=60.0),
    Retention(max_age=10.0),
    Retention(max_age=1e-6),
    Retention(max_nodes=2),
    Retention(max_nodes=3, max_age=86_400.0),
]
NEEDED = [
    NONE,
    Needs(time=True),
    Needs(hop=1, reach=3),
    Needs(hop=3),
    Needs(hop=4, reach=9, time=True),
    Needs(hop=2, at="root"),
    Needs(hop=12, at="root", reach=6),
    Needs(sequels=1),
    Needs(sequels=3, time=True),
    Needs(sequels=14, hop=2, reach=5),
]
examples = settings(max_examples=250, deadline=None)
some = {
    "stream": streams(smallest=1),
    "ties": st.sampled_from(TIES),
    "retention": st.sampled_from(FORGETFUL),
    "history": st.sampled_from([0, 1, 3, 12]),
    "needs": st.sampled_from(NEEDED),
    "seed": st.integers(0, 2**32 - 1),
}


def log_of(stream: Stream) -> EventLog:
    return EventLog(stream.src, stream.dst, stream.t, stream.msg)


def index_of(stream: Stream, ties: Ties, retention: Retention | None) -> HistoryIndex:
    return log_of(stream).index(stream.clock, ties, retention=retention)


def buffer_of(
    stream: Stream, ties: Ties, retention: Retention | None, history: int, needs: Needs
) -> HistoryBuffer:
    """A buffer that has seen the stream as a log."""
    return HistoryBuffer.from_log(
        log_of(stream), history, clock=stream.clock, ties=ties, retention=retention, needs=needs
    )


def possible(needs: Needs, retention: Retention | None) -> bool:
    return retention is None or needs.at == "event"


def rows_of(stream: Stream) -> Rows:
    return Rows(np.stack([stream.src, stream.dst], 1), stream.t, stream.msg)


def assert_same(live: Window, stored: Window, context_names: tuple[str, ...]) -> None:
    """Bit for bit, the decayed rates to 1e-6."""
    rates = torch.tensor(["rate" in name for name in context_names], dtype=torch.bool)
    found = tensors(live)
    assert found.keys() == tensors(stored).keys()
    for name, value in tensors(stored).items():
        other = found[name]
        assert (other.dtype, other.shape) == (value.dtype, value.shape), name
        if "context" in name:
            torch.testing.assert_close(other[..., rates], value[..., rates], rtol=1e-6, atol=1e-7)
            assert torch.equal(other[..., ~rates], value[..., ~rates]), name
        else:
            assert torch.equal(other, value), name


def contents(buffer: HistoryBuffer) -> dict[str, Any]:
    return {name: (array.dtype, array.tobytes()) for name, array in buffer.arrays().items()}


@given(**some)
@examples
def test_windows_are_those_of_the_index_however_the_stream_is_cut(
    stream: Stream, ties: Ties, retention: Retention | None, history: int, needs: Needs, seed: int
) -> None:
    assume(possible(needs, retention))
    random = np.random.default_rng(seed)
    start = int(random.integers(0, len(stream)))
    index = index_of(stream, ties, retention)
    buffer = buffer_of(stream[:start], ties, retention, history, needs)
    windows = []
    while start < len(stream):
        size = int(random.integers(1, 9))
        windows.append(buffer.push(rows_of(stream[start : start + size])))
        start += size
        if random.random() < 0.3:
            buffer.forgotten()
    live = Window.cat(windows)
    stored = index.rows(torch.arange(len(stream) - len(live), len(stream)), history, needs)
    assert_same(live, stored, index.context_names)
    assert buffer.shape == index.shape(history)


@given(**some)
@examples
def test_a_trial_shows_what_would_come_and_leaves_no_trace(
    stream: Stream, ties: Ties, retention: Retention | None, history: int, needs: Needs, seed: int
) -> None:
    assume(possible(needs, retention))
    random = np.random.default_rng(seed)
    middle, end = np.sort(random.integers(0, len(stream) + 1, 2))
    buffer = buffer_of(stream[:middle], ties, retention, history, needs)
    before = contents(buffer)
    if middle < len(stream):
        with buffer.trial():
            tried = buffer.push(rows_of(stream[middle:]))
        assert contents(buffer) == before
        come = buffer.push(rows_of(stream[middle : max(end, middle + 1)]))
        assert_same(come, tried.take(slice(0, len(come))), buffer.context_names)


@given(**some)
@examples
def test_what_was_saved_goes_on_with_the_same_bits(
    stream: Stream, ties: Ties, retention: Retention | None, history: int, needs: Needs, seed: int
) -> None:
    assume(possible(needs, retention))
    middle = int(np.random.default_rng(seed).integers(0, len(stream)))
    buffer = buffer_of(stream[:middle], ties, retention, history, needs)
    restored = buffer_of(stream[:0], ties, retention, history, needs)
    restored.load({name: array.copy() for name, array in buffer.arrays().items()})
    assert contents(restored) == contents(buffer)
    one, other = (b.push(rows_of(stream[middle:])) for b in (buffer, restored))
    assert_same_bits(one, other)
    assert contents(restored) == contents(buffer)


@given(some["stream"], some["ties"], some["history"], some["needs"], some["seed"])
@examples
def test_events_that_are_not_kept_leave_no_trace_but_the_time(
    stream: Stream, ties: Ties, history: int, needs: Needs, seed: int
) -> None:
    keep = np.random.default_rng(seed).random(len(stream)) < 0.5
    keep[0] = True  # where time begins
    needs = replace(needs, time=False)  # events that did not happen have no number of their own
    keep |= stream.t == stream.t[0]
    rows = rows_of(stream)
    buffer = HistoryBuffer(history, stream.msg.shape[1], clock=stream.clock, ties=ties, needs=needs)
    seen = []
    for part in buffer.runs(rows, alone=True):
        look = buffer.look(rows[part])
        buffer.enter(look, keep[part])
        seen.append(look.window)
    live = Window.cat(seen)
    kept = stream[keep].index(ties)
    visible = np.cumsum(keep) - keep  # kept events that came before each row
    if ties == "strict":
        visible = np.array([keep[stream.t < t].sum() for t in stream.t])
    query = kept.hypothetical(
        torch.from_numpy(stream.src),
        torch.from_numpy(stream.dst),
        torch.from_numpy(np.asarray((stream.t - stream.t[0]) * stream.clock.seconds, float)),
        torch.from_numpy(visible.astype(np.int64)),
    )
    stored = kept.window(query, history, torch.from_numpy(stream.msg), needs)
    assert_same(live, stored, kept.context_names)


@given(**some)
@examples
def test_who_is_left_out_keeps_nobody_alive_and_makes_nobody_old(
    stream: Stream, ties: Ties, retention: Retention | None, history: int, needs: Needs, seed: int
) -> None:
    assume(possible(needs, retention))
    keep = np.random.default_rng(seed).random(len(stream)) < 0.5
    keep |= stream.t == stream.t[0]
    leaving_out, without = (buffer_of(stream[:0], ties, retention, history, needs) for _ in range(2))
    rows = rows_of(stream)
    for part in leaving_out.runs(rows, alone=True):
        leaving_out.enter(leaving_out.look(rows[part]), keep[part])
    without.push(rows[np.flatnonzero(keep)])
    later = rows_of(replace(stream, t=stream.t + (stream.t[-1] - stream.t[0]) + 1))
    one, other = leaving_out.push(later), without.push(later)
    assert_same(one, other, leaving_out.context_names)


@pytest.mark.parametrize("ties", TIES)
def test_a_pair_is_new_again_after_a_silence_though_both_nodes_live_on(ties: Ties) -> None:
    # 0 and 1 meet at 0 and at 100; both are busy with others in between
    src, dst = np.array([0, 0, 1, 0, 1, 0, 0]), np.array([1, 2, 3, 2, 3, 1, 1])
    log = EventLog(src, dst, np.array([0, 40, 40, 80, 80, 100, 101]), np.zeros((7, 0), np.float32))
    new_pair = list(context_names(Clock())).index("new pair")
    for age, expected in ((60.0, [1, 1, 1, 0, 0, 1, 0]), (200.0, [1, 1, 1, 0, 0, 0, 0])):
        retention = Retention(max_age=age)
        index = log.index(Clock(), ties, retention=retention)
        assert index.stored_context(torch.arange(7))[:, new_pair].tolist() == expected
        query = index.hypothetical(torch.tensor([0, 0]), torch.tensor([1, 1]), torch.tensor([99.0, 170.0]))
        assert index.context(query)[:, new_pair].tolist() == [float(age == 60.0), float(age == 60.0)]
        buffer = HistoryBuffer(2, 0, ties=ties, retention=retention)
        rows = Rows(np.stack([src, dst], 1), log.t, log.msg)
        assert buffer.push(rows).context[:, new_pair].tolist() == expected


@given(stream=streams(smallest=1), ties=st.sampled_from(TIES), alone=st.booleans())
@examples
def test_no_event_of_a_run_has_to_see_another(stream: Stream, ties: Ties, alone: bool) -> None:
    rows = rows_of(stream)
    buffer = HistoryBuffer(1, stream.msg.shape[1], ties=ties)
    parts = list(buffer.runs(rows, alone=alone))
    assert [row for part in parts for row in range(len(rows))[part]] == list(range(len(rows)))
    for part in parts:
        inside = range(len(rows))[part]
        for late in inside:
            for early in inside[: late - part.start]:
                sees = rows.t[early] < rows.t[late] if ties == "strict" else True
                meet = bool(set(rows.slot[early]) & set(rows.slot[late]))
                assert not (sees and (meet or alone))


def test_a_flood_at_one_time_leaves_the_last_events_of_the_flood() -> None:
    count = 50
    rows = Rows(
        np.tile([0, 1], (count, 1)),
        np.full(count, 5),
        np.arange(count, dtype=np.float32)[:, None],
    )
    buffer = HistoryBuffer(3, 1)
    buffer.push(rows)
    window = buffer.push(Rows(np.array([[0, 2]]), np.array([6]), np.zeros((1, 1), np.float32)))
    assert window.past_msg[0, 0, :, 0].tolist() == [47, 48, 49]
    assert not window.mask[0, 1].any()


@pytest.mark.parametrize("ties", TIES)
def test_without_context_features_windows_are_still_those_of_the_index(ties: Ties) -> None:
    random = np.random.default_rng(0)
    log = EventLog(
        random.integers(0, 5, 60),
        random.integers(0, 5, 60),
        np.sort(random.integers(0, 30, 60)),
        np.zeros((60, 0), np.float32),
    )
    clock = HistoryIndex(log.src, log.dst, log.t).clock
    index = log.index(clock, ties, context=False)
    buffer = HistoryBuffer.from_log(log.take(np.arange(20)), 4, clock=clock, ties=ties, context=False)
    rest = log.take(np.arange(20, 60))
    live = buffer.push(Rows(np.stack([rest.src, rest.dst], 1), rest.t, rest.msg))
    assert_same(live, index.rows(torch.arange(20, 60), 4), ())
