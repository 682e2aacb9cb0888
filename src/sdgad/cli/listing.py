"""`sdgad list`: the names that can be used."""

from __future__ import annotations

from typing import Annotated

import typer

from sdgad.errors import InputError


def listing(
    kind: Annotated[str, typer.Argument(metavar="encoders|detectors|datasets", show_default=False)],
) -> None:
    """List encoders, detectors or datasets by name.

    One per line, with those of installed packages.

    \b
    sdgad list detectors
    """
    from sdgad.detectors.registry import list_detectors
    from sdgad.encoders.base import list_encoders
    from sdgad.events.datasets.dataset import list_datasets

    listers = {"encoders": list_encoders, "detectors": list_detectors, "datasets": list_datasets}
    if kind not in listers:
        *others, last = listers
        raise InputError(f"There is no list of {kind!r}, only of {', '.join(others)} and {last}.")
    for name in listers[kind]():
        print(name)
