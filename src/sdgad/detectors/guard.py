"""Guard: one at a time."""

from __future__ import annotations

from threading import RLock
from typing import Any


class Guard:
    """A lock that a copy of its owner, deep or pickled, has anew."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __deepcopy__(self, memo: dict[int, Any]) -> Guard:
        return Guard()

    def __reduce__(self) -> tuple[type[Guard], tuple[()]]:
        return Guard, ()
