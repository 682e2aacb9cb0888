"""An EventLog keeps events in time order, late ones where they belong."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.history.log import EventLog

from .streams import Stream, streams


def log_of(stream: Stream) -> EventLog:
    return EventLog(stream.src, stream.dst, stream.t, stream.msg)


@settings(max_examples=200, deadline=None)
@given(stream=streams(), data=st.data())
def test_merging_late_events_is_sorting_with_the_old_first(stream: Stream, data: st.DataObject) -> None:
    is_new = np.array(data.draw(st.lists(st.booleans(), min_size=len(stream), max_size=len(stream))), bool)
    old, new = stream[~is_new], stream[is_new]
    merged, place = log_of(old).merged(log_of(new))

    events = [(t, late, row) for late, part in enumerate((old, new)) for row, t in enumerate(part.t.tolist())]
    order = sorted(events)  # by time, then old before new, then row
    parts = (old, new)
    assert merged.src.tolist() == [parts[late].src[row] for _, late, row in order]
    assert merged.dst.tolist() == [parts[late].dst[row] for _, late, row in order]
    assert merged.t.tolist() == [t for t, _, _ in order]
    assert merged.msg.tolist() == [parts[late].msg[row].tolist() for _, late, row in order]
    assert place.tolist() == [i for i, (_, late, _) in enumerate(order) if late]
    assert merged.t.dtype == stream.t.dtype


@settings(max_examples=200, deadline=None)
@given(stream=streams(), data=st.data())
def test_a_stream_in_pieces_is_the_stream(stream: Stream, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(stream)))
    merged, place = log_of(stream[:cut]).merged(log_of(stream[cut:]))
    assert merged.src.tolist() == stream.src.tolist()
    assert merged.t.tolist() == stream.t.tolist()
    assert place.tolist() == list(range(cut, len(stream)))


def test_an_empty_log_takes_the_times_of_what_comes() -> None:
    new = EventLog(np.array([0]), np.array([1]), np.array([0.5]), np.ones((1, 2), np.float32))
    merged, _ = EventLog.empty(2).merged(new)
    assert merged.t.dtype == np.float64
    assert merged.msg.shape == (1, 2)
    whole_numbers = EventLog(np.array([0]), np.array([1]), np.array([2**60 + 1]), np.ones((1, 2), np.float32))
    merged, _ = EventLog.empty(2).merged(whole_numbers)
    assert merged.t.tolist() == [2**60 + 1]


@settings(max_examples=50, deadline=None)
@given(stream=streams(smallest=1))
def test_arrays_and_back_are_the_same_log(stream: Stream) -> None:
    log = EventLog.from_arrays(log_of(stream).arrays(), stream.msg.shape[1])
    for name, column in vars(log_of(stream)).items():
        assert np.array_equal(getattr(log, name), column)
    index = log.index(stream.clock, "strict")
    rows = torch.arange(len(stream))
    assert torch.equal(index.stored_context(rows), stream.index("strict").stored_context(rows))


ROW = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.sampled_from([-1.5, 0.0, 2.0]))


@settings(max_examples=200, deadline=None)
@given(held=st.lists(ROW, max_size=14), again=st.lists(ROW, max_size=14), width=st.integers(0, 2))
def test_rows_that_a_log_holds_are_found_one_to_one(
    held: list[tuple[int, int, int, float]], again: list[tuple[int, int, int, float]], width: int
) -> None:
    def log(rows: list[tuple[int, int, int, float]]) -> EventLog:
        t, src, dst, value = np.array(rows, np.float64).reshape(-1, 4).T
        msg = np.repeat(value[:, None], width, 1).astype(np.float32)
        return EventLog(src.astype(np.int64), dst.astype(np.int64), t, msg)

    held = sorted(held, key=lambda row: row[0])
    key = 4 if width else 3
    free = list(enumerate(held))
    for row, place in zip(again, log(held).find(log(again)), strict=True):
        expected = next((i for i, old in free if old[:key] == row[:key]), -1)
        assert place == expected
        free = [(i, old) for i, old in free if i != expected]
