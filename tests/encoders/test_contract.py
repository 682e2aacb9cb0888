"""Every registered encoder, ours or another package's, keeps the contract of `sdgad.encoders.base`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import pytest
import torch
from torch import Tensor

from sdgad.encoders import Encoder, EncoderConfig, encoders, list_encoders
from sdgad.encoders.dropout import Dropout, paired_dropout
from sdgad.history.window import Window

MakeWindow = Callable[..., Window]


@pytest.fixture(params=list_encoders())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def build(name: str, window: Window, **options: object) -> Encoder:
    torch.manual_seed(0)
    cls = encoders.get(name)
    return cls(window.shape, cls.config_type(**options)).eval()  # type: ignore[arg-type]


def encoded(encoder: Encoder, window: Window, include_event: bool | Tensor) -> Tensor:
    with torch.no_grad():
        return torch.stack(encoder.encode(window, include_event), 1)


def rows(window: Window, index: Tensor) -> Window:
    return Window(*(getattr(window, f.name)[index] for f in fields(window)))


def other_current_event(window: Window) -> Window:
    return replace(window, msg=window.msg + 1, context=window.context - 2)


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"count": 1},
        {"count": 0},
        {"filled": 0.0},
        {"msg": 0},
        {"context": 0},
        {"msg": 0, "context": 0},
        {"history": 1},
        {"count": 1, "history": 1, "msg": 0, "context": 0, "filled": 0.0},
    ],
)
def test_every_window_gives_finite_vectors_of_the_asked_width(
    name: str, sizes: dict[str, float], make_window: MakeWindow
) -> None:
    window = make_window(**sizes)
    encoder = build(name, window, width=24)
    for training in (False, True):
        encoder.train(training)
        (with_src, with_dst), (without_src, without_dst) = encoder.both(window)
        for z in (with_src, with_dst, without_src, without_dst):
            assert z.shape == (len(window), 24)
            assert z.isfinite().all()


def test_published_sizes_can_be_built(name: str, make_window: MakeWindow) -> None:
    window = make_window(count=2)
    paper = encoders.get(name).paper
    assert isinstance(paper, encoders.get(name).config_type)
    z_src, z_dst = encoders.get(name)(window.shape, paper).encode(window, True)
    assert z_src.shape == z_dst.shape == (2, paper.width)


def test_a_row_does_not_depend_on_the_rest_of_its_batch(name: str, make_window: MakeWindow) -> None:
    window = make_window(count=9)
    encoder = build(name, window)
    together = encoded(encoder, window, True)
    alone = torch.cat([encoded(encoder, rows(window, torch.tensor([i])), True) for i in range(9)])
    torch.testing.assert_close(alone, together, atol=1e-5, rtol=0)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        encoded(encoder, rows(window, order), True), together[order], atol=1e-5, rtol=0
    )


@pytest.mark.parametrize("include_event", [True, False])
def test_what_lies_in_an_empty_slot_does_not_matter(
    name: str, include_event: bool, make_window: MakeWindow
) -> None:
    window = make_window(filled=0.5)
    empty = ~window.mask
    assert empty.any()
    littered = replace(
        window,
        past_node=window.past_node.masked_fill(empty, 3),
        past_gap=window.past_gap.masked_fill(empty, 77.0),
        past_msg=window.past_msg.masked_fill(empty[..., None], 5.0),
        past_context=window.past_context.masked_fill(empty[..., None], -5.0),
    )
    encoder = build(name, window)
    torch.testing.assert_close(
        encoded(encoder, littered, include_event), encoded(encoder, window, include_event), atol=1e-6, rtol=0
    )


def test_without_the_event_nothing_of_it_matters(name: str, make_window: MakeWindow) -> None:
    # The ids of the two endpoints stay: they say whose histories these are, which belongs to the past.
    window = make_window()
    encoder = build(name, window)
    assert torch.equal(encoded(encoder, other_current_event(window), False), encoded(encoder, window, False))


def test_with_the_event_its_features_and_presence_matter(name: str, make_window: MakeWindow) -> None:
    window = make_window()
    encoder = build(name, window)
    with_event = encoded(encoder, window, True)
    for other in (encoded(encoder, other_current_event(window), True), encoded(encoder, window, False)):
        assert ((with_event - other).abs().amax(-1) > 1e-4).all()


@pytest.mark.parametrize("field", ["past_gap", "past_msg", "past_context"])
def test_the_visible_past_matters(name: str, field: str, make_window: MakeWindow) -> None:
    window = make_window(filled=1.0)
    changed = replace(window, **{field: getattr(window, field) * 3 + 1})
    encoder = build(name, window)
    change = encoded(encoder, changed, False) - encoded(encoder, window, False)
    assert (change.abs().amax(-1) > 1e-5).all()


def test_a_flag_per_row_is_the_same_as_one_for_all(name: str, make_window: MakeWindow) -> None:
    window = make_window()
    encoder = build(name, window)
    with_event, without = encoded(encoder, window, True), encoded(encoder, window, False)
    flags = torch.arange(len(window)) % 2 == 0
    expected = torch.where(flags[:, None, None], with_event, without)
    torch.testing.assert_close(encoded(encoder, window, flags), expected, atol=1e-6, rtol=0)


def test_both_is_encode_with_and_without_the_event(name: str, make_window: MakeWindow) -> None:
    window = make_window()
    encoder = build(name, window)
    with torch.no_grad():
        with_event, without = encoder.both(window)
    torch.testing.assert_close(torch.stack(with_event, 1), encoded(encoder, window, True), atol=1e-6, rtol=0)
    torch.testing.assert_close(torch.stack(without, 1), encoded(encoder, window, False), atol=1e-6, rtol=0)


def test_the_two_branches_share_their_dropout_masks(name: str, make_window: MakeWindow) -> None:
    window = make_window(count=32)
    encoder = build(name, window, dropout=0.5).train()
    nothing = torch.zeros(64, dtype=torch.bool)
    with paired_dropout():
        halves = encoded(encoder, window.doubled(), nothing).chunk(2)
    assert torch.equal(*halves)
    if not any(isinstance(module, Dropout) for module in encoder.modules()):
        return  # nothing is dropped, which is fine
    unpaired = encoded(encoder, window.doubled(), nothing).chunk(2)
    assert not torch.allclose(*unpaired, atol=1e-3)


def test_both_pairs_the_masks(name: str, make_window: MakeWindow) -> None:
    # Same masks in both branches and in a doubled batch of the generic path: the draws must agree one by one.
    window = make_window(count=16)
    encoder = build(name, window, dropout=0.5).train()
    torch.manual_seed(5)
    with torch.no_grad():
        with_event, without = encoder.both(window)
    include = torch.arange(32) < 16
    torch.manual_seed(5)
    with paired_dropout():
        expected = encoded(encoder, window.doubled(), include)
    actual = torch.cat([torch.stack(with_event, 1), torch.stack(without, 1)])
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_renaming_the_nodes_changes_nothing(name: str, make_window: MakeWindow) -> None:
    window = make_window(count=20)
    new_id = torch.randperm(1000, generator=torch.Generator().manual_seed(2))
    renamed = replace(
        window,
        node=new_id[window.node],
        past_node=torch.where(window.mask, new_id[window.past_node], -1),
    )
    encoder = build(name, window)
    assert torch.equal(encoded(encoder, renamed, True), encoded(encoder, window, True))


def test_swapping_the_endpoints_swaps_the_vectors(name: str, make_window: MakeWindow) -> None:
    window = make_window()
    per_endpoint = ("node", "past_node", "past_gap", "past_msg", "past_context", "mask")
    swapped = replace(window, **{field: getattr(window, field).flip(1) for field in per_endpoint})
    encoder = build(name, window)
    torch.testing.assert_close(
        encoded(encoder, swapped, True).flip(1), encoded(encoder, window, True), atol=1e-5, rtol=0
    )


@pytest.mark.parametrize("train_time", [False, True])
def test_gradients_reach_every_parameter(name: str, train_time: bool, make_window: MakeWindow) -> None:
    window = make_window(count=64)
    encoder = build(name, window, layers=2, train_time=train_time).train()
    (with_src, with_dst), (without_src, without_dst) = encoder.both(window)
    sum(
        (z.square().sum() for z in (with_src, with_dst * 2, without_src * 3, without_dst)), torch.zeros(())
    ).backward()
    for parameter_name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.abs().max() > 0, parameter_name


def test_a_state_dict_brings_back_the_same_bits(name: str, make_window: MakeWindow) -> None:
    window = make_window()
    encoder = build(name, window)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    twin = build(name, window)
    assert not torch.equal(encoded(twin, window, True), encoded(encoder, window, True))
    twin.load_state_dict(encoder.state_dict())
    assert torch.equal(encoded(twin, window, True), encoded(encoder, window, True))


@pytest.mark.parametrize("training", [False, True])
def test_both_is_one_graph(name: str, training: bool, make_window: MakeWindow) -> None:
    # Graph capture is how a small encoder becomes fast on a GPU; a break would be a host synchronisation.
    window = make_window()
    encoder = build(name, window, dropout=0.5).train(training)

    def residuals(*tensors: Tensor) -> Tensor:
        with_event, without = encoder.both(Window(*tensors))
        return torch.stack(with_event) - torch.stack(without)

    tensors = [getattr(window, f.name) for f in fields(window)]
    compiled = torch.compile(residuals, backend="eager", fullgraph=True)
    with torch.no_grad():
        torch.manual_seed(3)
        actual = compiled(*tensors)
        torch.manual_seed(3)
        torch.testing.assert_close(actual, residuals(*tensors), atol=1e-6, rtol=0)


def test_sizes_that_make_no_sense_are_refused() -> None:
    for wrong in ({"width": 0}, {"heads": -1}, {"dropout": 1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            EncoderConfig(**wrong)  # type: ignore[arg-type]
