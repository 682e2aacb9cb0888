"""check_encoder: all that an encoder has to obey."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdgad.checks import encoder_at_work, encoder_memory, encoder_past, encoder_training, encoder_vectors
from sdgad.checks.encoder_subject import EncoderSubject
from sdgad.checks.running import Named, checks_of, run_checks
from sdgad.encoders.base import Encoder

MODULES = (encoder_vectors, encoder_past, encoder_training, encoder_memory, encoder_at_work)


def encoder_checks() -> list[Named[EncoderSubject]]:
    """Name and function of every check, in order: `check(EncoderSubject(MyEncoder))`."""
    return checks_of(MODULES)


def check_encoder(
    cls: type[Encoder], *, only: Iterable[str] | None = None, device: str = "cpu", **options: Any
) -> None:
    """Whether an encoder keeps the contract; `CheckFailed` says which promise is broken, and what was found.

    It is built with its `check_options`, and these options over them. `only` names the checks to run. The last ones put the
    encoder to work in a small `classifier`: half a minute in all.
    """
    run_checks(EncoderSubject(cls, device=device, **options), encoder_checks(), only)
