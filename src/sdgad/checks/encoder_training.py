"""Checks of encoders: what training relies on."""

from __future__ import annotations

import torch

from sdgad.checks.encoder_subject import EncoderSubject, encoded
from sdgad.checks.saying import close, need, same, seeded
from sdgad.checks.windows import Sizes
from sdgad.encoders.dropout import Dropout, paired_dropout

STRONG = 0.5  # dropout


def check_the_two_branches_share_their_dropout_masks(subject: EncoderSubject) -> None:
    """Under `paired_dropout` equal rows of the two branches stay equal, or a residual would be dropout noise.

    Dropout comes from `sdgad.encoders.dropout.Dropout`.
    """
    encoder, window = subject.case(Sizes(count=32), dropout=STRONG)
    encoder.train()
    for include_event in (False, True):
        with seeded(6), paired_dropout():
            one, other = encoded(encoder, window.doubled(), include_event).chunk(2)
        same(one, other, "equal rows of the two branches")
    if any(isinstance(module, Dropout) for module in encoder.modules()):
        with seeded(6):  # with the event: where it is all that is worked in, nothing else is under dropout
            one, other = encoded(encoder, window.doubled(), True).chunk(2)
        need(not torch.allclose(one, other, atol=1e-3), "without pairing nothing is dropped")


def check_both_pairs_the_masks(subject: EncoderSubject) -> None:
    """`both` draws the masks that a doubled batch would draw, one by one."""
    encoder, window = subject.case(Sizes(count=16), dropout=STRONG)
    encoder.train()
    with seeded(5), torch.no_grad():
        with_event, without = encoder.both(window)
    include = torch.arange(32, device=subject.device) < 16
    with seeded(5), paired_dropout():
        expected = encoded(encoder, window.doubled(), include)
    close(
        torch.cat([torch.stack(with_event, 1), torch.stack(without, 1)]),
        expected,
        "`both` against a doubled batch under the same seed",
    )


def check_gradients_reach_every_parameter(subject: EncoderSubject) -> None:
    """Whatever has weights learns, the cell of a memory too; weights that nothing reads would only decay."""
    for train_time in (False, True):
        encoder, window = subject.case(Sizes(count=64), layers=2, train_time=train_time)
        encoder.train()
        with seeded(7):
            (with_src, with_dst), (without_src, without_dst) = encoder.both(window)
        parts = (with_src, with_dst * 2, without_src * 3, without_dst)
        torch.stack([z.square().sum() for z in parts]).sum().backward()  # type: ignore[no-untyped-call]
        for name, parameter in encoder.named_parameters():
            if not parameter.requires_grad:
                continue
            need(parameter.grad is not None, f"no gradient reaches {name!r}")
            assert parameter.grad is not None
            need(parameter.grad.isfinite().all(), f"the gradient of {name!r} is not finite")
            need(parameter.grad.abs().max() > 0, f"the gradient of {name!r} is zero")
