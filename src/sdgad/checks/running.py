"""A check is a function of a subject that fails or returns; here they are collected and run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import getdoc
from types import ModuleType
from typing import TypeVar

from sdgad.errors import InputError

S = TypeVar("S")
Check = Callable[[S], None]
Named = tuple[str, Check[S]]

PREFIX = "check_"


class CheckFailed(AssertionError):
    """A promise is not kept: which check found it, what the check defends, what was found."""


def checks_of(modules: Iterable[ModuleType]) -> list[Named[S]]:
    """Names and functions, in the order in which they are written: whatever a module itself calls `check_…`."""
    return [
        (name.removeprefix(PREFIX), function)
        for module in modules
        for name, function in vars(module).items()
        if name.startswith(PREFIX) and getattr(function, "__module__", None) == module.__name__
    ]


def run_checks(subject: S, checks: Sequence[Named[S]], only: Iterable[str] | None = None) -> None:
    """One after the other, without the warnings that odd streams bring; the first that fails ends it."""
    for name, check in chosen(checks, only):
        try:
            with quiet():
                check(subject)
        except Exception as problem:
            defends = (getdoc(check) or "").partition("\n")[0].strip()
            found = " ".join(str(problem).split()) or "(no word about it)"
            kind = "" if isinstance(problem, AssertionError) else f"{type(problem).__name__}: "
            raise CheckFailed(f"{subject} fails {PREFIX}{name}. {defends}\nFound: {kind}{found}") from problem


@contextmanager
def quiet() -> Iterator[None]:
    """No warning of ours within."""
    logger = logging.getLogger("sdgad")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def chosen(checks: Sequence[Named[S]], only: Iterable[str] | None) -> list[Named[S]]:
    """Those of some names, with or without `check_`; all, where no name is given."""
    if only is None:
        return list(checks)
    known = dict(checks)
    wanted = [name.removeprefix(PREFIX) for name in only]
    for name in wanted:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}."
            raise InputError(f"There is no check {name!r}; {hint}")
    return [(name, check) for name, check in checks if name in wanted]
