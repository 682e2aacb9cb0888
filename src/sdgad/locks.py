"""Locks of the operating system, which end with the process that holds them, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without them
    fcntl = None  # type: ignore[assignment]


def lock_now(handle: int) -> bool:
    """Lock an open file or folder for oneself; False where another process or handle has it. Without locks, always True."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system that knows no locks
        return True
    return True


@contextmanager
def unlocked(folder: Path) -> Iterator[bool]:
    """Whether nobody has locked a folder; if so it is locked within. Where there are no locks nobody knows: False."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield fcntl is not None and _taken(handle)
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
