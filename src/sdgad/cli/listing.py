"""`sdgad list`: the names that can be used."""

from __future__ import annotations

from typing import Annotated

import typer

from sdgad.errors import InputError


def listing(kind: Annotated[str, typer.Argument(metavar="encoders|detectors", show_default=False)]) -> None:
    """List encoders or detectors by name.

    One per line, with those of installed packages.

    \b
    sdgad list detectors
    """
    from sdgad.detectors.registry import list_detectors
    from sdgad.encoders.base import list_encoders

    listers = {"encoders": list_encoders, "detectors": list_detectors}
    if kind not in listers:
        raise InputError(f"There is no list of {kind!r}, only of {' and '.join(listers)}.")
    for name in listers[kind]():
        print(name)
