"""Checks of encoders that keep a memory (`needs.memory`); of others, that they keep none."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from sdgad.checks.encoder_past import MATTERS
from sdgad.checks.encoder_subject import EncoderSubject, encoded, other_event
from sdgad.checks.saying import close, need, refused, same
from sdgad.checks.windows import Sizes, memory_of_nobody, renamed
from sdgad.encoders.base import Encoder
from sdgad.history.window import Window


def check_commit_writes_one_row_per_endpoint(subject: EncoderSubject) -> None:
    """`commit` gives finite rows `[B, 2, needs.memory]`, also of nodes that nothing is known of; without memory it is refused."""
    encoder, window = subject.case()
    if not encoder.needs.memory:
        with refused(TypeError, "keeps no memory", "commit without needs.memory"):
            encoder.commit(window)
        return
    need(encoder.needs == encoder.needs, "`needs` is not the same twice")
    first = replace(window, memory=memory_of_nobody(window, encoder.needs))
    for block in (window, first):
        rows = written(encoder, block)
        expected = (len(window), 2, encoder.needs.memory)
        need(tuple(rows.shape) == expected, f"commit gave shape {tuple(rows.shape)} instead of {expected}")
        need(rows.isfinite().all(), "commit gave NaN or infinity")


def check_commit_is_a_function_of_each_event(subject: EncoderSubject) -> None:
    """What is written about an event depends on its own Window alone, whatever else is in the block, and is the same twice."""
    encoder, window = subject.case(Sizes(count=9))
    if not encoder.needs.memory:
        need(window.memory is None, "there is a memory that nobody needs")
        return
    together = written(encoder, window)
    same(written(encoder, window), together, "the same block, committed twice")
    alone = torch.cat([written(encoder, window.take(slice(i, i + 1))) for i in range(9)])
    close(alone, together, "rows of events alone against those in one block")
    same(written(encoder, renamed(window)), together, "rows of renamed nodes")


def check_what_happened_is_written(subject: EncoderSubject) -> None:
    """The event itself, and what was known before it, leave a mark in the rows that `commit` gives."""
    encoder, window = subject.case()
    if not encoder.needs.memory:
        return
    rows = written(encoder, window)
    moved = (written(encoder, other_event(window)) - rows).abs().amax(-1)
    need((moved > MATTERS).all(), "another event is written in the same way")
    assert window.memory is not None
    known = window.memory.known[:, :, 0]
    blank = replace(window, memory=memory_of_nobody(window, encoder.needs))
    moved = (written(encoder, blank) - rows).abs().amax(-1)
    need((moved[known] > MATTERS).all(), "what was known before leaves no mark")


def check_what_was_written_matters(subject: EncoderSubject) -> None:
    """`encode` reads the memory of both endpoints, with the event and without it; of nodes without any there is none to read."""
    encoder, window = subject.case(Sizes(count=100, filled=0.4))
    if not encoder.needs.memory:
        return
    assert window.memory is not None
    blank = replace(window, memory=memory_of_nobody(window, encoder.needs))
    endpoint = window.memory.known[:, :, 0]
    any_known = window.memory.known.flatten(1).any(1)
    need(
        endpoint.any() and not any_known.all(),
        "there are no nodes with, or none without, memory to check with",
    )
    for include_event in (True, False):
        moved = encoded(encoder, window, include_event) - encoded(encoder, blank, include_event)
        moved = moved.abs().amax(-1)
        need((moved[endpoint] > MATTERS).all(), "a vector does not depend on what was written about its node")
        need((moved[~any_known] == 0).all(), "a vector changes though nothing was written about its nodes")


def written(encoder: Encoder, block: Window) -> Tensor:
    """The rows that `commit` gives, without gradients."""
    with torch.no_grad():
        return encoder.commit(block)
