"""Lines in, answers out, until the input ends or someone says stop."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import BinaryIO

from sdgad.serving.consumed import Consumed
from sdgad.serving.line_scorer import LineScorer
from sdgad.serving.line_source import LineSource
from sdgad.serving.state_folder import StateFolder


def answer_lines(
    source: LineSource,
    scorer: LineScorer,
    out: BinaryIO,
    consumed: Consumed,
    *,
    batch: int = 1,
    state: StateFolder | None = None,
) -> tuple[int, int]:
    """Answer every line at once; `batch` lines together, if so many are waiting already.

    `consumed` counts the lines whose answers were written. A snapshot is taken only then: after a crash lines can be
    answered again, in the same words, but none is left without an answer. Returns how many were answered, and how many
    of them could not be used.
    """
    answered = errors = 0
    while not source.finished:
        lines = source.take(batch, None if state is None else state.patience(consumed))
        answers = scorer.answer(lines, consumed.lines + 1)
        for answer in answers:
            out.write(json.dumps(answer, allow_nan=False).encode() + b"\n")
        out.flush()
        answered += len(answers)
        errors += sum("error" in answer for answer in answers)
        half = bool(source.torn and answers and "error" in answers[-1])  # to be read again when it is whole
        for line in lines[: len(lines) - half]:
            consumed.add(line)
        if state is not None and state.is_due(consumed):
            _settle(out)
            state.save(consumed)
    if state is not None:
        _settle(out)
        state.save(consumed)
    return answered, errors


def _settle(out: BinaryIO) -> None:
    """Answers in a file reach the disk before the snapshot that counts them does."""
    with suppress(OSError):  # a pipe has no disk
        os.fsync(out.fileno())
