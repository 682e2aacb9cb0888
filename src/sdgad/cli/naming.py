"""Errors name the file that they are about, also where the library did not know it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sdgad.errors import BadRows, InputError, SdgadError

_KEYWORD = re.compile(r"\b(name (?:it|the column) with )(src|dst|time|label|categories|features)=")
_UNIT = re.compile(r"\bwith time_unit=")


@contextmanager
def naming(source: str | os.PathLike[str]) -> Iterator[None]:
    """Put `source` before any error that does not mention it, and speak of options, not of keywords."""
    try:
        yield
    except SdgadError as problem:
        sentence = as_options(str(problem))
        if str(source) not in sentence:
            sentence = f"{source}: {_continued(sentence)}"
        if isinstance(problem, BadRows):
            them = "it" if len(problem.rows) == 1 else "them"
            raise InputError(f"{sentence.removesuffix('.')}; --bad-rows skip sets {them} aside.") from problem
        raise type(problem)(sentence) from problem


def as_options(sentence: str) -> str:
    """Keywords of the library, in what it advises, as options of a command."""
    return _UNIT.sub("with --time-unit", _KEYWORD.sub(r"\1--\2", sentence))


def _continued(sentence: str) -> str:
    """A sentence after a colon: its first letter is small, unless it begins an abbreviation."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]
