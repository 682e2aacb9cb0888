"""How much a command says beside its result: nothing (`--quiet`), all that the library logs (`--verbose`), or what helps."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Annotated

from typer import BadParameter, Option


class Manner(Enum):
    """Of one run of a command."""

    plain = "plain"
    quiet = "quiet"
    verbose = "verbose"


_now = Manner.plain


def manner() -> Manner:
    """Of the command that is running."""
    return _now


def begin_plainly() -> None:
    """Before the options of a command are read."""
    global _now  # noqa: PLW0603  one command runs at a time, and its log has one handler
    _now = Manner.plain


def watched() -> bool:
    """Whether somebody sees bars and steps: a terminal, and nobody asked for silence or for the whole log."""
    return _now is Manner.plain and sys.stderr.isatty()


def _be(wanted: Manner, asked: bool) -> bool:
    global _now  # noqa: PLW0603
    if asked:
        if _now not in (Manner.plain, wanted):
            raise BadParameter("--quiet and --verbose exclude each other.")
        _now = wanted
    return asked


Quiet = Annotated[
    bool,
    Option(
        "--quiet",
        "-q",
        callback=lambda asked: _be(Manner.quiet, asked),
        help="Nothing but the result and errors.",
    ),
]
Verbose = Annotated[
    bool,
    Option(
        "--verbose",
        "-v",
        callback=lambda asked: _be(Manner.verbose, asked),
        help="All that the library logs, on stderr, at once.",
    ),
]
