"""Walks follow the intended law, and are a function of the event and what it sees: of no batch, generator, id or role."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from sdgad.checks.encoder_subject import other_event
from sdgad.checks.windows import Sizes, littered, random_window, renamed, swapped
from sdgad.encoders.counter_random import draws
from sdgad.encoders.walks import Walks, cumulative, draw_walks, endpoint_keys, pick, tally
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.index import HistoryIndex
from sdgad.history.needs import Needs
from sdgad.history.window import Window

NEEDS = Needs(hop=3, time=True)
SIZES = Sizes(count=20, history=5, filled=0.7)


def window_of(gaps: list[float], rows: int = 1) -> Window:
    """Events at different times, before each of which both endpoints have the same past; edge feature and other node of a past
    event are the number of its slot."""
    slots = torch.arange(len(gaps)).expand(rows, 2, -1)
    return Window(
        node=torch.tensor([100, 200]).expand(rows, 2),
        msg=torch.full((rows, 1), -1.0),
        context=torch.zeros(rows, 0),
        past_node=slots,
        past_gap=torch.tensor(gaps).expand(rows, 2, -1),
        past_msg=slots[..., None].float(),
        past_context=torch.zeros(rows, 2, len(gaps), 0),
        mask=torch.ones(rows, 2, len(gaps), dtype=torch.bool),
        time=1e6 + torch.arange(rows, dtype=torch.float64),
        event=torch.arange(rows),
    )


def drawn(window: Window, walks: int = 7, length: int = 2, seed: int = 1) -> Walks:
    return draw_walks(window, walks, length, 1e-5, seed)


def columns(walks: Walks) -> list[Tensor]:
    """All that there is to see of walks: how often they count, and where they lead."""
    steps = [part for step in walks.steps for part in (step.node, step.gap, step.there)]
    return [walks.count, *steps]


def assert_same(one: Walks, other: Walks) -> None:
    for a, b in zip(columns(one), columns(other), strict=True):
        assert torch.equal(a, b)


# ---------------------------------------------------------------------- the law
@pytest.mark.parametrize("bias", [0.0, 1e-2, 3.0])
@pytest.mark.parametrize("walks", [3, 64])
def test_an_event_is_gone_through_as_often_as_its_age_says(bias: float, walks: int) -> None:
    """With few walks slots are picked, with many they are counted."""
    gaps, rows = [500.0, 300.0, 299.0, 100.0, 50.0, 49.5], 60_000 // walks
    found = draw_walks(window_of(gaps, rows), walks, 1, bias, seed=1)
    slot = found.steps[0].node[..., :-1]
    times = torch.stack([(found.count * (slot == i)).sum((0, 1, 2)) for i in range(len(gaps))]).double()
    age = np.array(gaps)
    law = np.exp(-bias * (age - age.min()))
    law /= law.sum()
    total = float(times.sum())
    assert total == 2 * rows * walks
    # Both endpoints have the same past, and so the same draws: half as many throws.
    deviation = np.sqrt(law * (1 - law) / (total / 2))
    assert (np.abs(times.numpy() / total - law) <= 4 * deviation + 1e-9).all()


def test_by_hand_a_number_falls_upon_the_slot_that_its_share_of_all_weight_is_in() -> None:
    log2 = float(np.log(2))
    sums = cumulative(
        torch.tensor([9.0, 2.0, 1.0, 0.0]), torch.tensor([False, True, True, True]), log2
    )  # 0, 1/4, 1/2, 1
    unit = 1 << 32
    assert sums.tolist() == [0, unit // 4, unit * 3 // 4, unit * 7 // 4]
    numbers = torch.tensor([0, unit // 4 - 1, unit // 4, unit * 3 // 4, unit * 7 // 4 - 1, unit * 7 // 4])
    assert pick(sums, numbers).tolist() == [1, 1, 2, 3, 3, 1]
    assert tally(sums, numbers).tolist() == [0, 3, 1, 2]


def test_weights_do_not_vanish_in_old_pasts_and_empty_slots_have_none() -> None:
    gap = torch.tensor([0.0, 2e9, 1.9e9, 1.9e9 - 1024])
    sums = cumulative(gap, torch.tensor([False, True, True, True]), 1e-3)
    assert sums[0] == 0
    share = sums.diff().double() / sums[-1]
    newest = 1 / (1 + np.exp(-1.024))
    torch.testing.assert_close(share[1:], torch.tensor([1 - newest, newest]).double(), atol=1e-3, rtol=0)


def test_counting_equals_picking() -> None:
    window = random_window(SIZES, NEEDS)
    sums = cumulative(window.past_gap, window.mask, 1e-5)
    numbers = draws(endpoint_keys(window, 1), 0, 50)
    slots = pick(sums, numbers)
    some = window.mask.any(-1, keepdim=True)
    expected = torch.stack([(slots == slot).sum(-1) for slot in range(5)], -1) * some
    assert torch.equal(tally(sums, numbers), expected)
    assert (expected.sum(-1, keepdim=True) == 50 * some).all()
    assert (expected[~window.mask] == 0).all()


# ---------------------------------------------------------------------- what they are a function of
@pytest.mark.parametrize("length", [1, 2])
def test_walks_do_not_depend_on_batch_generator_or_what_lies_in_empty_slots(length: int) -> None:
    window = random_window(SIZES, NEEDS)
    whole = drawn(window, length=length)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    assert_same(drawn(window, length=length), whole)
    assert torch.equal(torch.get_rng_state(), before)
    for row in range(len(window)):
        alone = drawn(window.take(slice(row, row + 1)), length=length)
        for a, b in zip(columns(alone), columns(whole), strict=True):
            assert torch.equal(a[0], b[row])
    assert torch.equal(endpoint_keys(littered(window), 1), endpoint_keys(window, 1))


def test_neither_ids_roles_features_nor_the_number_of_an_event_have_a_say() -> None:
    window = random_window(SIZES, NEEDS)
    keys = endpoint_keys(window, 1)
    for other in (
        renamed(window),
        other_event(window),
        replace(window, event=window.event + 7),  # type: ignore[operator]
        replace(window, past_msg=window.past_msg + 1, past_context=window.past_context + 1),
    ):
        assert torch.equal(endpoint_keys(other, 1), keys)
    assert torch.equal(endpoint_keys(swapped(window), 1).flip(1), keys)


def test_seed_time_and_the_past_of_either_endpoint_have_a_say() -> None:
    window = random_window(replace(SIZES, filled=1.0), NEEDS)
    assert window.time is not None
    keys = endpoint_keys(window, 1)
    nudged = window.past_gap.clone()
    nudged[:, 1, 2] = torch.nextafter(nudged[:, 1, 2], nudged[:, 1, 2] + 1)
    for other in (
        endpoint_keys(window, 2),
        endpoint_keys(replace(window, time=window.time + 1e-6), 1),
        endpoint_keys(replace(window, past_gap=nudged), 1),
    ):
        assert (other != keys).all()
    assert (keys[:, 0] != keys[:, 1]).all()


def test_fewer_and_shorter_walks_are_the_beginning_of_more_and_longer_ones() -> None:
    window = random_window(SIZES, NEEDS)
    many, few = drawn(window, walks=9), drawn(window, walks=4)
    assert torch.equal(few.steps[1].node[..., :4], many.steps[1].node[..., :4])
    short = drawn(window, walks=4, length=1)
    assert torch.equal(short.steps[0].node, few.steps[0].node)


def made_stream() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    src = rng.integers(0, 12, 300)
    return (
        src,
        (src + rng.integers(1, 12, 300)) % 12,
        np.cumsum(rng.integers(0, 3, 300)) * 50.0,
        rng.normal(size=(300, 2)),
    )


def test_live_walks_are_offline_walks_bit_for_bit() -> None:
    src, dst, t, msg = made_stream()
    index = HistoryIndex(src, dst, t, msg.astype(np.float32))
    buffer = HistoryBuffer(6, 2, needs=NEEDS)
    live = buffer.push(Rows(np.stack([src, dst], 1), t, msg.astype(np.float32)))
    stored = index.rows(torch.arange(300), 6, NEEDS)
    assert torch.equal(endpoint_keys(live, 1), endpoint_keys(stored, 1))
    assert_same(drawn(live), drawn(stored))


def test_events_that_did_not_happen_draw_by_what_they_would_have_seen() -> None:
    """At one time, with another destination, both endpoints draw otherwise; as the event that did happen, they draw like it."""
    src, dst, t, msg = made_stream()
    index = HistoryIndex(src, dst, t, msg.astype(np.float32))
    rows = torch.arange(200, 300)
    real = index.stored(rows)
    happened = index.rows(rows, 6, NEEDS)
    again = index.window(
        index.hypothetical(real.node[:, 0], real.node[:, 1], real.time, real.before),
        6,
        index.msg(rows),
        NEEDS,
    )
    assert_same(drawn(again), drawn(happened))
    stranger = (real.node[:, 1] + 1) % 12
    other = index.window(
        index.hypothetical(real.node[:, 0], stranger, real.time, real.before), 6, index.msg(rows), NEEDS
    )
    assert torch.equal(other.past_gap[:, 0], happened.past_gap[:, 0])
    keys, real_keys = endpoint_keys(other, 1), endpoint_keys(happened, 1)
    differ = (other.past_gap[:, 1] != happened.past_gap[:, 1]).any(-1)
    assert differ.sum() > 90
    assert (keys != real_keys)[differ].all()


# ---------------------------------------------------------------------- where they lead
def test_the_walk_through_the_event_leads_to_the_other_endpoint_and_on_through_its_past() -> None:
    window = random_window(SIZES, NEEDS)
    first, second = drawn(window).steps
    assert torch.equal(first.node[..., -1], window.node.flip(1))
    assert (first.gap[..., -1] == 0).all()
    assert torch.equal(first.msg[:, 0, -1], window.msg)
    assert torch.equal(first.context[:, 1, -1], window.context)
    assert torch.equal(second.there[..., -1], window.mask.any(-1).flip(1))
    for row in range(len(window)):
        for end in (0, 1):
            past = [
                (int(n), float(g))
                for n, g in zip(window.past_node[row, 1 - end], window.past_gap[row, 1 - end], strict=True)
            ]
            if second.there[row, end, -1]:
                assert (int(second.node[row, end, -1]), float(second.gap[row, end, -1])) in past


def test_a_second_step_goes_on_from_the_event_of_the_first() -> None:
    window = random_window(replace(SIZES, filled=0.8), NEEDS)
    hop = window.hop
    assert hop is not None
    first, second = drawn(window).steps
    for row, end, walk in np.ndindex(len(window), 2, 7):
        if not window.mask[row, end].any():
            continue
        (slot,) = np.flatnonzero(window.past_gap[row, end] == first.gap[row, end, walk])
        assert first.node[row, end, walk] == window.past_node[row, end, slot]
        at = (row, end, int(slot))
        assert second.there[row, end, walk] == hop.mask[at].any()
        if second.there[row, end, walk]:
            since = window.past_gap[at] + hop.gap[at]
            (place,) = np.flatnonzero((since == second.gap[row, end, walk]) & hop.mask[at])
            assert second.node[row, end, walk] == hop.node[at][place]
            assert torch.equal(second.msg[row, end, walk], hop.msg[at][place])
