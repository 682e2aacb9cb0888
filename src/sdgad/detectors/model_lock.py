"""The lock of a model folder: whoever changes a model holds it from before the reading to after the writing.

It is the file `.NAME.lock` beside the folder, which is there while somebody holds it (or was killed holding it, which does no
harm: the lock itself ends with its process).
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sdgad.errors import InputError, ModelFolderError
from sdgad.locks import lock_now

WAIT = 600.0  # seconds until one gives up
PAUSES = (0.01, 0.5)  # seconds between two attempts, at first and at most

logger = logging.getLogger("sdgad.detectors")


class _Held(threading.local):
    """The folders whose locks this thread holds; what it does within asks for them again."""

    def __init__(self) -> None:
        self.folders: set[Path] = set()


_held = _Held()


@contextmanager
def model_lock(path: str | os.PathLike[str], wait: float = WAIT) -> Iterator[None]:
    """Within, nobody else writes this model folder; who comes second waits, and says so.

    >>> import sdgad, tempfile
    >>> from sdgad.detectors.model_lock import model_lock
    >>> with tempfile.TemporaryDirectory() as place, model_lock(f"{place}/model"):
    ...     pass  # det = sdgad.load(…); det.update(…); det.save(…)
    """
    folder = Path(path).resolve()
    if folder in _held.folders:
        yield
        return
    file = folder.with_name(f".{folder.name}.lock")
    handle = _taken(file, Path(path), wait)
    _held.folders.add(folder)
    try:
        yield
    finally:
        _held.folders.discard(folder)
        with contextlib.suppress(OSError):
            file.unlink()  # whoever waits for it sees that it is gone, and makes another
        os.close(handle)


def _taken(file: Path, folder: Path, wait: float) -> int:
    """The lock file, open and locked, once nobody else has it."""
    end, pause, told = time.monotonic() + wait, PAUSES[0], False
    while True:
        handle = _open(file, folder)
        if lock_now(handle):
            if _is(handle, file):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
                return handle
            os.close(handle)
            continue
        who = _holder(handle)
        os.close(handle)
        left = end - time.monotonic()
        if left <= 0:
            raise ModelFolderError(
                f"The model folder {folder} is being written by {who}, which did not end within {wait:g} seconds."
            )
        if not told:
            logger.warning("%s is being written by %s: waiting for it.", folder, who)
            told = True
        time.sleep(min(pause, left))
        pause = min(2 * pause, PAUSES[1])


def _open(file: Path, folder: Path) -> int:
    if not file.parent.is_dir():
        raise InputError(f"The folder {folder.parent} for {folder.name} does not exist.")
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as problem:
        raise InputError(f"{folder} cannot be written: {problem.strerror or problem}.") from problem


def _is(handle: int, file: Path) -> bool:
    """Whether the file of this name is still the one that is open: its last holder may have removed it."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(handle)
    return (mine.st_ino, mine.st_dev) == (found.st_ino, found.st_dev)


def _holder(handle: int) -> str:
    number = os.pread(handle, 20, 0).decode(errors="replace").strip()
    return f"process {number}" if number.isdigit() else "another process"
