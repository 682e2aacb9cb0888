"""A model folder that is open: its files belong together, whatever happens to its name meanwhile.

A save puts a new folder in the place of the old one. So all files are opened at once, through the folder itself and not through
its name; and it is asked whether the name still meant it when the last of them was open. If not, the new folder is opened.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NoReturn, TypeVar

from sdgad.atomic import displaced, recovered
from sdgad.detectors.folder_formats import CONTENT_ERRORS, is_pickle
from sdgad.detectors.model_lock import model_lock
from sdgad.errors import ModelFolderError

ATTEMPTS = 1000  # saves that a reader lets overtake it
HEAD = 9  # bytes that tell a pickle

T = TypeVar("T")
logger = logging.getLogger("sdgad.detectors")


class OpenFolder:
    """Some files of a folder by name."""

    def __init__(
        self, path: Path, handle: int, files: dict[str, BufferedReader], links: frozenset[str]
    ) -> None:
        self.path, self._handle, self._files, self._links = path, handle, files, links

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def parse(self, name: str, read: Callable[[BufferedReader], T]) -> T:
        """What a reader makes of a file; whatever is wrong with it is told in one sentence."""
        try:
            return read(self._files[name])
        except (*CONTENT_ERRORS, OSError) as problem:  # arrow and parquet raise OSError on damage, too
            refuse(self.path, f"{name} is not readable ({one_line(problem)})", "read", problem)

    def need(self, name: str) -> None:
        if name in self._links:
            refuse(self.path, f"{name} is a link, not a file")
        if name not in self._files:
            refuse(self.path, f"{name} is missing")

    def need_unchanged(self, name: str, size: int, digest: str, manifest: str) -> None:
        self.need(name)
        file = self._files[name]
        found = os.fstat(file.fileno()).st_size
        if found < size:
            refuse(self.path, f"{name} is truncated ({found} of {size} bytes)")
        if found > size:
            refuse(self.path, f"{name} was altered ({found} bytes instead of {size})")
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            refuse(self.path, f"{name} was altered (its SHA-256 is not the one in {manifest})")

    def need_no_pickle(self) -> None:
        """Neither among its own files nor among those that somebody put there."""
        for folder, _, names, handle in os.fwalk(".", dir_fd=self._handle):
            for name in sorted(names):
                place = os.path.normpath(f"{folder}/{name}")
                if is_pickle(name, self._head(place, name, handle)):
                    refuse(self.path, f"{place} is a pickle, which could run any code and is never opened")

    def _head(self, place: str, name: str, handle: int) -> bytes:
        """The first bytes of a file, of one of the open ones even if it is gone by now."""
        if place in self._files:
            return os.pread(self._files[place].fileno(), HEAD, 0)
        file = _opened(name, handle)
        if file is None:
            return b""
        with file:
            return file.read(HEAD)


@contextmanager
def open_folder(path: Path, names: frozenset[str]) -> Iterator[OpenFolder]:
    """Those of these files that are there."""
    for _ in range(ATTEMPTS):
        need_folder(path)
        with ExitStack() as stack:
            try:
                handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            stack.callback(os.close, handle)
            found = {name: _opened(name, handle) for name in sorted(names)}
            files = {name: stack.enter_context(file) for name, file in found.items() if file is not None}
            links = frozenset(name for name in names if name not in files and _is_link(name, handle))
            if _is(handle, path):
                yield OpenFolder(path, handle, files, links)
                return
    refuse(path, f"it was replaced {ATTEMPTS} times while it was opened")


def need_folder(path: Path) -> None:
    """A folder has this name; one that a killed save took it away from gets it back."""
    if path.is_dir():
        return
    target = path.resolve()
    if displaced(target) and not os.path.lexists(target):
        with model_lock(path):
            if recovered(target):
                logger.warning("%s was recovered: a save was killed before the new model had its name.", path)
    if not path.is_dir():
        raise ModelFolderError(
            f"The model folder {path} {'is a file' if path.exists() else 'does not exist'}."
        )


def _opened(name: str, folder: int) -> BufferedReader | None:
    """A plain file, or None; nothing else is opened, and nobody is waited for."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as problem:
        if isinstance(problem, PermissionError):
            raise
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _is(handle: int, path: Path) -> bool:
    """Whether a name still means this folder."""
    mine = os.fstat(handle)
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (found.st_dev, found.st_ino)


def refuse(folder: Path, why: str, what: str = "read", cause: BaseException | None = None) -> NoReturn:
    raise ModelFolderError(f"The model folder {folder} cannot be {what}: {why}.") from cause


def one_line(problem: BaseException) -> str:
    text = str(problem.args[0]) if isinstance(problem, KeyError) and problem.args else str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        text = (
            problem.strerror
            if problem.filename is None
            else f"{Path(problem.filename).name}: {problem.strerror}"
        )
    return " ".join(text.split()).rstrip(".")
