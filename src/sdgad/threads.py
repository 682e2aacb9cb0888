"""Threads of the numerical libraries: how many there are, and that they do not spin."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from threadpoolctl import ThreadpoolController

R = TypeVar("R")

SPINS = "5000"
TURN = 5e-5  # seconds, instead of 5e-3


def wait_calmly() -> None:
    """Let threads that wait for each other sleep after a few microseconds, unless the user has said how they shall wait.

    Those of torch and scikit-learn wait many thousand times a second. By default they spin while they do, and beside any other
    busy process a fit then takes many times as long; if they fell asleep at once, it would take a third longer on a machine of
    its own. It has to be said before these libraries are loaded.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "passive"
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)


def use_threads(count: int) -> None:
    """So many threads for numerical work, by libraries that are loaded already and by those that will be."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)


@contextmanager
def short_turns() -> Iterator[None]:
    """Inside, a thread that waits for Python gets it after 50 µs, whoever has it.

    Fits that share a process are threads that ask for Python some ten thousand times a second, for a few microseconds each. Five
    that grow trees at once took 3.1 s with such turns and 3.9 s without (16 cores).
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


_at_work: ContextVar[int] = ContextVar("at_work", default=1)


@contextmanager
def beside_others(at_work: int) -> Iterator[None]:
    """Say that what the calling thread does here, one of so many do at the same time."""
    before = _at_work.set(_at_work.get() * at_work)
    try:
        yield
    finally:
        _at_work.reset(before)


@contextmanager
def share_of_threads() -> Iterator[None]:
    """For trees: of the threads of scikit-learn the share of one of those that are at work.

    Each of them would otherwise start as many as there are cores, for every split of every tree. Trees come out the same; what
    torch adds up would not, to the last bit, so nothing of torch belongs inside.
    """
    if _at_work.get() == 1:
        yield
        return
    loaded = _openmp()
    with loaded.limit(
        limits=max(1, _most(loaded) // _at_work.get())
    ):  # a limit holds for the thread that sets it
        yield


def side_by_side(pieces: Sequence[Callable[[], R]]) -> list[R]:
    """What these pieces of work return, each in a thread of its own; one after the other where one thread is all there is.

    Trees of several ensembles hardly wait for each other so, while the threads of one ensemble wait at every split. Ctrl-C is
    heard at once: who is at work then ends by itself, and nobody hears of it.
    """
    if len(pieces) == 1 or _most(_openmp()) == 1:
        return [piece() for piece in pieces]
    from concurrent.futures import Future

    found: list[Future[R]] = [Future() for _ in pieces]

    def work(piece: Callable[[], R], result: Future[R]) -> None:
        try:
            with beside_others(len(pieces)):
                result.set_result(piece())
        except BaseException as problem:
            result.set_exception(problem)

    for piece, result in zip(pieces, found, strict=True):
        threading.Thread(target=copy_context().run, args=(work, piece, result), daemon=True).start()
    return [result.result() for result in found]


def _openmp() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


def _most(loaded: ThreadpoolController) -> int:
    """Threads, by whichever library has the most."""
    return max((library["num_threads"] for library in loaded.info()), default=1)
