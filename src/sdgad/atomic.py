"""Output that appears whole or not at all: written under a temporary name beside its place, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sdgad.errors import InputError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; on success it becomes `path`, on failure it is removed."""
    target = Path(path)
    _need_folder(target)
    with _naming(target):
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with _naming(target):
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; on success it takes the place of `path`, on failure it is removed."""
    target = Path(path)
    _need_folder(target)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file, not a folder.")
    with _naming(target):
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if target.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
            target.replace(old / "model")
            try:
                temporary.replace(target)
            except BaseException:
                (old / "model").replace(target)
                raise
            finally:
                shutil.rmtree(old)
        else:
            temporary.replace(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _need_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise InputError(f"The folder {target.parent} for {target.name} does not exist.")


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Nobody has heard of the temporary name, so a failure names the target."""
    try:
        yield
    except OSError as problem:
        raise InputError(f"{target} cannot be written: {problem.strerror or problem}.") from problem


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
