"""Sequels: what plain loops say, the same for events that might have happened, and kept live only as far as needed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.index import Ties
from sdgad.history.needs import Needs
from sdgad.history.retention import Retention
from sdgad.history.window import Sequels, Window

from .streams import TIES, Stream, assert_same_bits, streams

both_rules = pytest.mark.parametrize("ties", TIES)
examples = settings(max_examples=150, deadline=None)


def sequels_of(window: Window) -> Sequels:
    assert window.sequels is not None
    return window.sequels


def pushed(buffer: HistoryBuffer, *events: tuple[int, int, float]) -> Window:
    src, dst, t = (np.array(column) for column in zip(*events, strict=True))
    return buffer.push(Rows(np.stack([src, dst], 1), t, np.zeros((len(src), 0), np.float32)))


@both_rules
@examples
@given(stream=streams(largest=24), length=st.sampled_from([1, 3, 30]))
def test_a_sequel_is_the_next_event_of_the_other_node_that_could_be_seen(
    ties: Ties, stream: Stream, length: int
) -> None:
    window = stream.index(ties).rows(torch.arange(len(stream)), 2, Needs(sequels=length))
    found, reference = sequels_of(window), stream.reference(ties)
    assert found.mask.shape == (len(stream), 2, length)
    for row, event in enumerate(reference.events):
        for end, node in enumerate((event.src, event.dst)):
            for slot, first in enumerate(reference.window(event, node, length)):
                here = (row, end, slot)
                assert bool(found.mask[here]) == (first is not None)
                if first is None:
                    assert found.wait[here] == 0
                    continue
                past, gap = first
                later = [e for e in reference.history(event, past.partner_of(node)) if e.row > past.row]
                wait = gap - reference.seconds(event, later[0]) if later else gap
                assert found.wait[here].item() == pytest.approx(wait, rel=1e-6, abs=1e-6)


@both_rules
@examples
@given(stream=streams(smallest=1), data=st.data())
def test_a_hypothetical_event_has_the_sequels_that_it_would_have_if_it_happened(
    ties: Ties, stream: Stream, data: st.DataObject
) -> None:
    needs = Needs(sequels=3, time=True)
    node = st.integers(0, stream.nodes - 1)
    src, dst = data.draw(node), data.draw(node)
    at = data.draw(st.integers(0, len(stream)))
    t = stream.t[min(at, len(stream) - 1)]
    at = int(np.searchsorted(stream.t, t, side="left" if ties == "strict" else "right"))
    index = stream.index(ties)
    query = index.hypothetical(
        torch.tensor([src]), torch.tensor([dst]), torch.tensor([stream.seconds(t)], dtype=torch.float64)
    )
    msg = np.zeros(stream.msg.shape[1], np.float32)
    real = stream.with_row(at, src, dst, t, msg).index(ties).rows(torch.tensor([at]), 3, needs)
    assert_same_bits(index.window(query, 3, torch.from_numpy(msg)[None], needs), real)


def test_events_that_come_together_are_sequels_for_each_other() -> None:
    # 1 meets 2, 3 meets 4; then, in one batch, 2 goes on and 1 comes again, 3 comes again and 4 goes on
    buffer = HistoryBuffer(1, 0, ties="arrival", needs=Needs(sequels=1))
    pushed(buffer, (1, 2, 0.0), (3, 4, 0.0))
    found = sequels_of(pushed(buffer, (2, 5, 10.0), (1, 6, 30.0), (3, 7, 40.0), (4, 8, 50.0)))
    assert found.wait[:, 0, 0].tolist() == [10.0, 10.0, 40.0, 40.0]


def test_who_was_forgotten_never_goes_on() -> None:
    buffer = HistoryBuffer(1, 0, retention=Retention(max_age=100.0), needs=Needs(sequels=1))
    pushed(buffer, (1, 2, 0.0))
    pushed(buffer, (1, 1, 90.0))  # 1 stays, 2 is silent for too long
    found = sequels_of(pushed(buffer, (2, 3, 150.0), (1, 4, 160.0)))
    assert not found.mask[0, 0, 0]
    assert found.wait[1, 0, 0] == 70.0  # since its own last event


def test_sequels_that_nobody_needs_are_not_kept() -> None:
    plain = HistoryBuffer(3, 0).arrays().keys()
    more = HistoryBuffer(3, 0, needs=Needs(sequels=5)).arrays().keys() - plain
    assert more == {f"sequels.{name}" for name in ("slot", "twin", "next")}


def test_saved_sequels_of_nobody_are_refused() -> None:
    buffer = HistoryBuffer(1, 0, needs=Needs(sequels=2))
    pushed(buffer, (0, 1, 0.0), (1, 2, 1.0))
    arrays = buffer.arrays()
    slots = arrays["sequels.slot"].copy()
    slots[0, 0] = 99
    with pytest.raises(ValueError, match="speaks of nobody"):
        HistoryBuffer(1, 0, needs=Needs(sequels=2)).load(arrays | {"sequels.slot": slots})
