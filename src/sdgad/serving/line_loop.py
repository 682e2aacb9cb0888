"""Lines in, answers out, until the input ends or someone says stop."""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

from sdgad.serving.answer_output import AnswerOutput
from sdgad.serving.consumed import Consumed
from sdgad.serving.line_scorer import LineScorer
from sdgad.serving.line_source import LineSource
from sdgad.serving.state_folder import StateFolder

PIECE = (
    512  # answers between looks at acknowledgements: their pipe must not fill up while the reader's is full
)
LAST_WORDS = 10.0  # seconds in which a reader may acknowledge after someone has said stop


class Tally(NamedTuple):
    """How many lines were answered, how many of them could not be used, and why the first of these could not."""

    answered: int = 0
    errors: int = 0
    first: str | None = None


def answer_lines(
    source: LineSource,
    scorer: LineScorer,
    out: BinaryIO,
    consumed: Consumed,
    *,
    batch: int = 1,
    state: StateFolder | None = None,
) -> Tally:
    """Answer every line at once; `batch` lines together, if so many are waiting already.

    `consumed` counts the lines whose answers were written. A snapshot is taken only then: after a crash lines can be
    answered again, in the same words, but none is left without an answer.
    """
    output, tally = AnswerOutput(out), Tally()
    output.mend(repeated=state is not None)
    last = consumed.lines  # that the reader may have heard of
    while not source.finished:
        lines = source.take(
            batch, None if state is None else state.patience(consumed), None if state is None else state.wake
        )
        answers = scorer.answer(lines, consumed.lines + 1)
        for start in range(0, len(answers), PIECE):
            last = max(last, consumed.lines + len(answers[: start + PIECE]))
            try:
                output.write(answers[start : start + PIECE])
            finally:  # a reader who has gone may have acknowledged something before
                if state is not None:
                    state.hear(last)
        half = bool(source.torn and answers and "error" in answers[-1])  # to be read again when it is whole
        errors = [answer["error"] for answer in answers if "error" in answer]
        tally = Tally(
            tally.answered + len(answers), tally.errors + len(errors), tally.first or next(iter(errors), None)
        )
        for line in lines[: len(lines) - half]:
            consumed.add(line)
        if state is not None:
            state.hear(last)
            if state.is_due(consumed):
                output.settle()
                state.save(consumed)
    if state is not None:
        output.settle()
        if state.acks is not None:
            output.close()
        state.finish(consumed, last, LAST_WORDS if source.stopped else None)
    return tally
