"""CAWN equals a slow reading of its definition, walk by walk, and sees what it is there to see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from sdgad.checks import EncoderSubject, encoder_checks
from sdgad.checks.encoder_subject import encoded
from sdgad.checks.windows import Sizes, random_window
from sdgad.encoders.cawn import CAWN, CAWNConfig
from sdgad.encoders.counter_random import draws
from sdgad.encoders.walks import cumulative, endpoint_keys, pick
from sdgad.errors import InputError
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

from .lstm_twin import at_the_end, lstm_of

SIZES = Sizes(count=9, history=4, filled=0.6)
Position = tuple[int, Tensor, Tensor, Tensor]  # node, gap, edge features, context features
Walk = list[Position]


def make(sizes: Sizes = SIZES, **options: Any) -> tuple[CAWN, Window]:
    torch.manual_seed(0)
    small = {"width": 8, "time_width": 4, "walk_width": 6, "position_width": 6, "heads": 2, "bias": 1e-5}
    encoder = CAWN(sizes.shape, CAWNConfig(**{**small, **options})).eval()
    return encoder, random_window(sizes, encoder.needs)


def walks_of(encoder: CAWN, window: Window, row: int, end: int) -> tuple[list[Walk], Walk]:
    """All M walks of an endpoint, one by one, those that are equal too; and the one through the event."""
    config, key = encoder.config, endpoint_keys(window, encoder.config.walk_seed)[row, end]
    nothing = (torch.zeros(()), torch.zeros_like(window.msg[0]), torch.zeros_like(window.context[0]))
    start = (int(window.node[row, end]), *nothing)

    def past(side: int, number: int) -> tuple[int, Walk]:
        """The slot that a draw falls upon, and the position; nowhere if there is no past."""
        at = (row, side)
        if not window.mask[at].any():
            return 0, []
        sums = cumulative(window.past_gap[at], window.mask[at], config.bias)
        slot = int(pick(sums, draws(key, number, 1)))
        columns = (window.past_gap, window.past_msg, window.past_context)
        return slot, [(int(window.past_node[at][slot]), *(column[at][slot] for column in columns))]  # type: ignore[list-item]

    def on(slot: int, number: int) -> Walk:
        hop, at = window.hop, (row, end, slot)
        if hop is None or not hop.mask[at].any():
            return []
        place = int(pick(cumulative(hop.gap[at], hop.mask[at], config.bias), draws(key, number, 1)))
        gap = window.past_gap[at] + hop.gap[at][place]
        return [(int(hop.node[at][place]), gap, hop.msg[at][place], hop.context[at][place])]

    walks = []
    for number in range(0, 2 * config.walks, 2):
        slot, first = past(end, number)
        if first:
            walks.append([start, *first, *on(slot, number + 1)])
    event = (int(window.node[row, 1 - end]), torch.zeros(()), window.msg[row], window.context[row])
    further = past(1 - end, 2 * config.walks + 1)[1] if config.length == 2 else []
    return walks, [start, event, *further]


def slowly(encoder: CAWN, window: Window, row: int, end: int, include_event: bool) -> Tensor:
    """The vector of one endpoint, with torch's own LSTMs, every walk a token of its own."""
    length = encoder.config.length
    drawn = {side: walks_of(encoder, window, row, side) for side in (0, 1)}

    def code(node: int) -> Tensor:
        rows = []
        for side in (0, 1):
            walks, met = drawn[side][0], [float(node == int(window.node[row, side]))]
            for place in range(1, length + 1):
                there = sum(len(walk) > place and walk[place][0] == node for walk in walks)
                met.append(there / len(walks) if walks else 0.0)
            rows.append(encoder.code.each(torch.tensor(met)).relu())
        joint: Tensor = encoder.code.joint(rows[0] + rows[1])
        return joint

    def token(walk: Walk) -> Tensor:
        codes = torch.stack([code(node) for node, *_ in walk])
        features = torch.stack(
            [torch.cat([encoder.clock(gap), msg, context]) for _, gap, msg, context in walk]
        )
        size = torch.tensor([len(walk)])
        read = at_the_end(lstm_of(encoder.read), torch.cat([features, codes], -1)[None], size)
        read_code = at_the_end(lstm_of(encoder.read_code), codes[None], size)
        joined: Tensor = encoder.join(torch.cat([read, read_code], -1)[0])
        return joined

    walks, event = drawn[end]
    tokens = [token(walk) for walk in walks + [event] * include_event]
    if not tokens:
        return encoder.out.bias
    x = torch.stack(tokens)[None]
    for block in encoder.blocks:
        x = block(x, x, torch.ones(1, x.shape[1], dtype=torch.bool))
    z: Tensor = encoder.out(x[0].mean(0))
    return z


@pytest.mark.parametrize(
    "options", [{"walks": 3}, {"walks": 9, "layers": 2}, {"walks": 3, "length": 2, "hop": 2}], ids=str
)
@pytest.mark.parametrize("include_event", [True, False])
def test_vectors_equal_a_slow_reading_of_the_definition(options: dict[str, Any], include_event: bool) -> None:
    """Fewer walks than past events, more (equal ones are then counted), and walks of two steps."""
    encoder, window = make(**options)
    found = encoded(encoder, window, include_event)
    assert not window.mask.any(-1).all()
    for row in range(len(window)):
        for end in (0, 1):
            expected = slowly(encoder, window, row, end, include_event)
            torch.testing.assert_close(found[row, end], expected, atol=1e-5, rtol=0)


def slow(name: str) -> bool:
    return name.startswith("at_work") or name == "both_is_one_graph"


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=name, marks=[pytest.mark.slow] * slow(name)) for name, check in encoder_checks()],
)
def test_the_contract_holds_for_walks_of_two_steps(check: Any) -> None:
    check(EncoderSubject(CAWN, length=2, hop=3))


@pytest.mark.parametrize("walks", [3, 9])
def test_the_event_adds_one_walk_and_changes_no_other(walks: int) -> None:
    encoder, window = make(walks=walks)
    seen: list[tuple[Tensor, Tensor]] = []
    encoder.blocks[0].register_forward_hook(lambda _, given, __: seen.append((given[0], given[2])))
    encoder.both(window)
    ((tokens, times),) = seen
    before, after = tokens.chunk(2)
    assert torch.equal(before, after)
    with_event, without = times.chunk(2)
    assert torch.equal(with_event[:, :-1], without[:, :-1])
    assert (with_event[:, -1] == 1).all()
    assert (without[:, -1] == 0).all()
    some = window.mask.any(-1).flatten()
    assert torch.equal(without.sum(1), walks * some.float())


def test_a_node_without_a_past_is_the_same_at_any_time_and_beside_anybody() -> None:
    encoder, window = make(Sizes(count=60, history=4, filled=0.5))
    cold = ~window.mask.any(-1)
    z = encoded(encoder, window, False)[cold]
    assert cold.sum() > 20
    torch.testing.assert_close(z, encoder.out.bias.expand_as(z), atol=1e-6, rtol=0)


def test_who_met_whom_matters() -> None:
    encoder, window = make(Sizes(count=9, history=4, msg=0, context=0, filled=1.0), walks=16)
    window = replace(window, past_node=window.past_node + 100)
    met = window.past_node.clone()
    met[:, 0, 1:] = window.node[:, 1:]  # the source knows the destination
    for include_event in (True, False):
        moved = encoded(encoder, replace(window, past_node=met), include_event) - encoded(
            encoder, window, include_event
        )
        assert (moved.abs().amax(-1) > 1e-4).all()


def test_another_seed_draws_other_walks_and_the_same_one_the_same() -> None:
    sizes = Sizes(count=9, history=20, filled=1.0)
    (one, window), (again, _), (other, _) = (make(sizes, walks=3, walk_seed=seed) for seed in (1, 1, 2))
    vectors = encoded(one, window, True)
    assert torch.equal(encoded(again, window, True), vectors)
    assert ((encoded(other, window, True) - vectors).abs().amax(-1) > 1e-5).all()


def test_half_precision_is_near_full_precision() -> None:
    encoder, window = make(replace(SIZES, count=50), walks=9, walk_width=32, heads=4)
    exact = encoded(encoder, window, True)
    with torch.autocast("cpu", torch.bfloat16):
        rough = encoded(encoder, window, True)
    torch.testing.assert_close(rough.float(), exact, atol=0.05, rtol=0)


def test_it_asks_for_the_time_and_for_second_hops_where_walks_have_two_steps() -> None:
    shape = WindowShape(history=7, msg=1, context=0)
    assert CAWN(shape, CAWNConfig()).needs == Needs(time=True)
    assert CAWN(shape, CAWNConfig(length=2)).needs == Needs(hop=7, time=True)
    assert CAWN(shape, CAWNConfig(length=2, hop=3, reach=100)).needs == Needs(hop=3, reach=100, time=True)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"length": 3}, r"^length=3: walks of CAWN have 1 or 2 steps\.$"),
        ({"walks": 10**8}, r"^walks=100000000: must be at most 10000\.$"),
        ({"bias": -1e-6}, r"^bias=-1e-06: must be at least 0 and finite\.$"),
        ({"bias": float("nan")}, r"^bias=nan: must be at least 0 and finite\.$"),
    ],
    ids=str,
)
def test_walks_that_make_no_sense_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        CAWNConfig(**wrong)
