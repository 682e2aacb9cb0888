"""`sdgad list`: the names that can be used."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """What there are names of."""

    encoders = "encoders"
    detectors = "detectors"


def listing(kind: Annotated[Kind, typer.Argument(metavar="encoders|detectors", show_default=False)]) -> None:
    """List encoders or detectors by name.

    One per line, with those of installed packages.

    \b
    sdgad list detectors
    """
    from sdgad.detectors.registry import list_detectors
    from sdgad.encoders.base import list_encoders

    listers = {Kind.encoders: list_encoders, Kind.detectors: list_detectors}
    for name in listers[kind]():
        print(name)
