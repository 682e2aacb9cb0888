"""A HistoryIndex says of every event what plain loops over the earlier events say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.history.context import NAMES
from sdgad.history.index import HistoryIndex, Ties
from sdgad.history.needs import Needs

from .streams import TIES, Stream, everything, streams, tensors

both_rules = pytest.mark.parametrize("ties", TIES)


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(), history=st.sampled_from([1, 2, 5, 50]))
def test_histories_are_the_last_visible_events_of_each_endpoint(
    ties: Ties, stream: Stream, history: int
) -> None:
    window = everything(stream.index(ties), history)
    reference = stream.reference(ties)
    assert window.shape.history == history
    assert window.node.tolist() == np.stack([stream.src, stream.dst], 1).tolist()
    for row, event in enumerate(reference.events):
        assert window.msg[row].tolist() == stream.msg[row].tolist()
        for end, node in enumerate((event.src, event.dst)):
            for slot, past in enumerate(reference.window(event, node, history)):
                here = (row, end, slot)
                assert bool(window.mask[here]) == (past is not None)
                if past is None:
                    assert window.past_node[here] == -1
                    assert window.past_gap[here] == 0
                    assert not window.past_msg[here].any()
                    assert not window.past_context[here].any()
                else:
                    earlier, gap = past
                    assert window.past_node[here] == earlier.partner_of(node)
                    assert window.past_gap[here].item() == np.float32(gap)
                    assert window.past_msg[here].tolist() == stream.msg[earlier.row].tolist()
                    assert torch.equal(window.past_context[here], window.context[earlier.row])


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams())
def test_context_features_are_sums_and_counts_over_visible_events(ties: Ties, stream: Stream) -> None:
    index = stream.index(ties)
    context = index.stored_context(torch.arange(len(stream))).double().numpy()
    reference = stream.reference(ties)
    for row, event in enumerate(reference.events):
        expected = reference.context(event)
        assert set(expected) == set(NAMES)
        for name, value in zip(index.context_names, context[row], strict=True):
            if name in expected:
                assert value == pytest.approx(expected[name], rel=1e-6, abs=1e-12), name


@both_rules
@settings(max_examples=200, deadline=None)
@given(stream=streams(smallest=1))
def test_computed_and_stored_windows_are_the_same(ties: Ties, stream: Stream) -> None:
    index, rows = stream.index(ties), torch.arange(len(stream))
    computed = index.window(index.stored(rows), 5, index.msg(rows))
    assert torch.equal(computed.context, index.stored_context(rows))
    assert torch.equal(computed.past_context, index.rows(rows, 5).past_context)


def test_a_self_loop_is_one_half_event_and_its_own_partner() -> None:
    index = HistoryIndex(np.array([0, 0]), np.array([0, 1]), np.array([0, 5]))
    window = everything(index, 3)
    assert window.mask[1].tolist() == [[False, False, True], [False, False, False]]
    assert window.past_node[1, 0].tolist() == [-1, -1, 0]
    said = dict(zip(index.context_names, window.context[1].tolist(), strict=True))
    for name in ("log count src", "log count src as source", "log partners src"):
        assert said[name] == pytest.approx(np.log1p(1))


@both_rules
def test_events_of_one_time_see_each_other_only_in_order_of_arrival(ties: Ties) -> None:
    zeros = np.zeros(4, np.int64)
    window = everything(HistoryIndex(zeros, zeros + 1, zeros, ties=ties), 6)
    seen = [0, 1, 2, 3] if ties == "arrival" else [0, 0, 0, 0]
    assert window.mask[:, 0].sum(1).tolist() == seen
    assert torch.isfinite(window.context).all()


@both_rules
def test_an_empty_index_has_an_empty_past(ties: Ties) -> None:
    none = np.empty(0, np.int64)
    index = HistoryIndex(none, none, none, np.empty((0, 2), np.float32), num_nodes=3, ties=ties)
    assert len(everything(index, 4)) == 0
    node = torch.tensor([1, 2])
    window = index.window(index.hypothetical(node, node, torch.zeros(2, dtype=torch.float64)), 4)
    assert not window.mask.any()
    said = dict(zip(index.context_names, window.context[0].tolist(), strict=True))
    assert {name for name, value in said.items() if value} == {"new src", "new dst", "new pair"}


@both_rules
def test_a_first_event_is_all_new(ties: Ties) -> None:
    one = np.array([3])
    index = HistoryIndex(one, one + 1, one, ties=ties)
    window = everything(index, 2)
    assert not window.mask.any()
    said = dict(zip(index.context_names, window.context[0].tolist(), strict=True))
    assert {name for name, value in said.items() if value} == {"new src", "new dst", "new pair"}


def test_nanoseconds_keep_their_last_digit() -> None:
    t = np.array([0, 1, 2]) + 1_700_000_000_123_456_789
    zeros = np.zeros(3, np.int64)
    window = everything(HistoryIndex(zeros, zeros + 1, t, clock=Clock("ns")), 2)
    assert window.past_gap[2, 0].tolist() == pytest.approx([2e-9, 1e-9], rel=1e-6)


def test_without_context_windows_differ_in_nothing_else() -> None:
    rng = np.random.default_rng(0)
    src, dst, t = rng.integers(0, 4, 50), rng.integers(0, 4, 50), np.sort(rng.integers(0, 20, 50))
    bare = everything(HistoryIndex(src, dst, t, context=False), 4)
    full = everything(HistoryIndex(src, dst, t), 4)
    assert bare.shape.context == 0
    assert bare.past_context.shape == (50, 2, 4, 0)
    for name in ("node", "mask", "past_node", "past_gap"):
        assert torch.equal(getattr(bare, name), getattr(full, name))


def test_narrow_node_numbers_do_not_overflow() -> None:
    """With 2^17 nodes, (0, x) and (2^15, x) are one pair to 32 bits."""
    node, other = np.array([0, 1 << 15], np.int32), np.array([70_000, 70_000], np.int32)
    index = HistoryIndex(node, other, np.arange(2), num_nodes=1 << 17)
    said = dict(zip(index.context_names, everything(index, 1).context[1].tolist(), strict=True))
    assert said["new pair"] == 1


@pytest.mark.parametrize(
    ("src", "t", "options", "words"),
    [
        ([0, 1], [1, 0], {}, "sorted by time"),
        ([0, 1], [0, 1], {"ties": "loose"}, "strict, arrival"),
        ([0, 5], [0, 1], {"num_nodes": 3}, "numbered 0 to 2"),
        ([0, -1], [0, 1], {}, "numbered 0 to"),
    ],
)
def test_what_cannot_be_indexed_is_refused(src: list[int], t: list[int], options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        HistoryIndex(np.array(src), np.array([0, 0]), np.array(t), **options)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@both_rules
def test_the_device_does_not_matter(ties: Ties) -> None:
    rng = np.random.default_rng(0)
    src, dst, t = rng.integers(0, 9, 900), rng.integers(0, 9, 900), np.sort(rng.integers(0, 10**6, 900))
    here, there = (HistoryIndex(src, dst, t, ties=ties, device=device) for device in ("cpu", "cuda"))
    needs = Needs(hop=3, reach=100, time=True)
    expected = here.rows(torch.arange(900), 5, needs)
    window = there.rows(torch.arange(900, device="cuda"), 5, needs)
    for name, value in tensors(expected).items():
        torch.testing.assert_close(tensors(window)[name].cpu(), value)
    real = there.stored(torch.arange(900, device="cuda"))
    copy = there.hypothetical(real.node[:, 0], real.node[:, 1], real.time, real.before)
    assert torch.equal(copy.position, real.position)
    assert torch.equal(copy.pair_position, real.pair_position)
