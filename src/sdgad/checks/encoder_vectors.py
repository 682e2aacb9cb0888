"""Checks of encoders: the vectors that they return."""

from __future__ import annotations

from dataclasses import replace

import torch

from sdgad.checks.encoder_subject import EncoderSubject, encoded
from sdgad.checks.saying import close, need, same, seeded
from sdgad.checks.windows import Sizes, swapped
from sdgad.encoders.base import encoders
from sdgad.history.window import Window

ODD = (
    Sizes(),
    Sizes(count=1),
    Sizes(count=0),
    Sizes(filled=0.0),
    Sizes(msg=0),
    Sizes(context=0),
    Sizes(msg=0, context=0),
    Sizes(history=1),
    Sizes(count=1, history=1, msg=0, context=0, filled=0.0),
)


def check_it_is_found_by_its_name(subject: EncoderSubject) -> None:
    """A detector and a model folder name their encoder: `@encoders.register("name")` stands above the class."""
    name = getattr(subject.cls, "name", None)
    need(name is not None, "the class has no name")
    need(encoders.get(str(name)) is subject.cls, f"another class is registered under the name {name!r}")


def check_every_window_gives_finite_vectors_of_the_asked_width(subject: EncoderSubject) -> None:
    """Two vectors of width `config.width` per event, also without features, without a past, for one event or none."""
    for sizes in ODD:
        encoder, window = subject.case(sizes, width=24)
        for training in (False, True):
            encoder.train(training)
            with seeded(1):
                with_event, without = encoder.both(window)
            for z in (*with_event, *without):
                need(
                    z.shape == (sizes.count, 24),
                    f"a vector has shape {tuple(z.shape)} instead of {(sizes.count, 24)} for {sizes}",
                )
                need(z.isfinite().all(), f"a vector holds NaN or infinity for {sizes}, training={training}")


def check_published_sizes_can_be_built(subject: EncoderSubject) -> None:
    """`paper` is a config of the encoder's own type, and an encoder of these sizes works."""
    paper = subject.cls.paper
    need(
        isinstance(paper, subject.cls.config_type),
        f"`paper` is a {type(paper).__name__}, not a {subject.cls.config_type.__name__}",
    )
    sizes = Sizes(count=2)
    with seeded(0):
        encoder = subject.cls(sizes.shape, paper).to(subject.device).eval()
    z_src, z_dst = encoder.encode(subject.window(encoder, sizes), True)
    need(z_src.shape == z_dst.shape == (2, paper.width), f"vectors of shape {tuple(z_src.shape)}")


def check_a_row_does_not_depend_on_the_rest_of_its_batch(subject: EncoderSubject) -> None:
    """Each event is encoded by itself: alone, among others, in any order."""
    encoder, window = subject.case(Sizes(count=9))
    together = encoded(encoder, window, True)
    alone = torch.cat([encoded(encoder, window.take(slice(i, i + 1)), True) for i in range(9)])
    close(alone, together, "vectors of events alone against those in one batch")
    order = torch.randperm(9, generator=torch.Generator().manual_seed(1)).to(subject.device)
    close(encoded(encoder, window.take(order), True), together[order], "vectors of a batch in another order")


def check_a_flag_per_row_is_the_same_as_one_for_all(subject: EncoderSubject) -> None:
    """`include_event` may be one bool, or one for each row."""
    encoder, window = subject.case()
    flags = torch.arange(len(window), device=subject.device) % 2 == 0
    expected = torch.where(
        flags[:, None, None], encoded(encoder, window, True), encoded(encoder, window, False)
    )
    close(encoded(encoder, window, flags), expected, "flags per row against one flag")


def check_both_is_encode_with_and_without_the_event(subject: EncoderSubject) -> None:
    """`both` is a quicker way to the same two pairs of vectors."""
    encoder, window = subject.case()
    with torch.no_grad():
        with_event, without = encoder.both(window)
    close(torch.stack(with_event, 1), encoded(encoder, window, True), "with the event")
    close(torch.stack(without, 1), encoded(encoder, window, False), "without the event")


def check_swapping_the_endpoints_swaps_the_vectors(subject: EncoderSubject) -> None:
    """Source and destination are treated alike: which is which says the place of a vector."""
    encoder, window = subject.case()
    close(
        encoded(encoder, swapped(window), True).flip(1),
        encoded(encoder, window, True),
        "vectors of swapped endpoints",
    )


def check_a_state_dict_brings_back_the_same_bits(subject: EncoderSubject) -> None:
    """All that was learned or measured is in `state_dict`, and nothing else: neither encoding nor a memory changes it."""
    encoder, window = subject.case()
    twin = subject.build(window.shape)
    with seeded(4), torch.no_grad():
        encoder.fit_scales(window)
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    if any(True for _ in encoder.parameters()):
        need(
            not torch.equal(encoded(twin, window, True), encoded(encoder, window, True)),
            "other parameters give the same vectors",
        )
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    encoded(encoder, window, True)
    if encoder.needs.memory:
        with torch.no_grad():
            encoder.commit(window)
    after = encoder.state_dict()
    need(before.keys() == after.keys(), "the state dict has other entries after encoding")
    for name, value in before.items():
        need(torch.equal(value, after[name]), f"encoding changes {name!r} in the state dict")
    twin.load_state_dict(after)
    same(encoded(twin, window, True), encoded(encoder, window, True), "vectors under a loaded state dict")


def check_both_is_one_graph(subject: EncoderSubject) -> None:
    """Graph capture is how a small encoder becomes fast on a GPU; a break would be a host synchronisation."""
    encoder, window = subject.case(dropout=0.5)

    def residuals(window: Window) -> torch.Tensor:
        with_event, without = encoder.both(window)
        return torch.stack(with_event) - torch.stack(without)

    for training in (False, True):
        encoder.train(training)
        torch._dynamo.reset()
        compiled = torch.compile(residuals, backend="eager", fullgraph=True)
        with torch.no_grad():
            with seeded(3):
                actual = compiled(replace(window))
            with seeded(3):
                expected = residuals(window)
        close(actual, expected, "residuals of the captured graph")
