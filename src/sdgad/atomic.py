"""Output that appears whole or not at all: made in a hidden workplace beside its place, then moved there in one step.

A workplace is the folder `.NAME.1f2e3d4c.part`, locked by whoever works in it. The lock ends with its process, however that ends;
so the next to write the same output knows what a killed one left behind, and clears it away. Nothing is made with the private
modes of temporary files: all output has the modes that the umask gives.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sdgad.durable import folder_to_disk
from sdgad.errors import InputError
from sdgad.locks import lock_now, unlocked
from sdgad.swapping import swapped

MODEL_MARKS = ("config.json", "manifest.json")  # a folder with both is a model
TRIES = 100  # to begin a workplace
NEW, OLD = "new", "old"  # in the workplace of a folder


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path; on success it becomes `path`, on failure it is removed."""
    target = Path(path)
    _need_folder(target)
    need_outside_models(target)
    with _workplace(target) as place:
        temporary = place / target.name
        with _naming(target):
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            mode = temporary.stat().st_mode & 0o777
        yield temporary
        with _naming(target):
            temporary.chmod(mode)  # some libraries put a private file in its place
            temporary.replace(target)


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder; on success it takes the place of `path`, on failure it is removed."""
    target = Path(path)
    _need_folder(target)
    need_outside_models(target)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file, not a folder.")
    _clear_old_kind(target)
    with _workplace(target) as place:
        new = place / NEW
        with _naming(target):
            new.mkdir()
        mode = new.stat().st_mode & 0o777
        yield new
        for file in new.rglob("*"):
            if (
                file.is_file() and file.stat().st_nlink == 1
            ):  # some libraries make private files; a link is another's
                file.chmod(mode & 0o666)
        for folder in {new, *(file.parent for file in new.rglob("*"))}:
            folder_to_disk(folder)
        with _naming(target):
            _put(new, target, place / OLD)
            folder_to_disk(target.parent)


def need_writable(path: str | os.PathLike[str]) -> None:
    """Output can be made there, as is seen by beginning it and leaving it at that."""
    with _workplace(Path(path)):
        pass


def recovered(path: str | os.PathLike[str]) -> bool:
    """Give a folder its name back that a killed process took away, and did not give to the new one; whether there was one.

    Only where a file system cannot swap two folders in one step, and in what older versions left behind. Nobody else may write it
    meanwhile (`model_lock`).
    """
    target = Path(path)
    for found in sorted(displaced(target), key=lambda folder: folder.stat().st_mtime, reverse=True):
        if os.path.lexists(target):
            return False
        with _naming(target):
            found.rename(target)
            folder_to_disk(target.parent)
        shutil.rmtree(found.parent, ignore_errors=True)
        return True
    return False


def displaced(path: str | os.PathLike[str]) -> list[Path]:
    """Folders that had this name when their process was killed."""
    target = Path(path)
    found = [place / OLD for place in _beside(target, _part(target))]
    found += [place / "model" for place in _beside(target, _old_kind(target))]
    return [folder for folder in found if folder.is_dir()]


def need_outside_models(path: str | os.PathLike[str]) -> None:
    """Output has no place in a model folder: it would overwrite a part of the model, or keep it from being replaced."""
    target = Path(path)
    home = target.parent.resolve()
    for folder in (home, *home.parents):
        if all(os.access(folder / mark, os.F_OK) for mark in MODEL_MARKS):
            raise InputError(
                f"{target} lies in the model folder {folder}; give the output a place outside of it."
            )


# ---------------------------------------------------------------------- the workplace


@contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """A locked folder beside the target, removed at the end; those that killed processes left are removed before."""
    _clear(target)
    with _naming(target):
        place, handle = _new_workplace(target)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(handle)


def _new_workplace(target: Path) -> tuple[Path, int]:
    problem: OSError | None = None
    for _ in range(TRIES):
        place = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
        try:
            place.mkdir()
            handle = os.open(place, os.O_RDONLY)
        except (FileExistsError, FileNotFoundError) as found:
            problem = (
                found  # who clears away may be quicker than the lock; and nothing can ever be made in /proc
            )
            continue
        if lock_now(handle) and place.exists():
            return place, handle
        os.close(handle)
    raise problem or FileExistsError("others clear away what is begun")


def _clear(target: Path) -> None:
    """Remove the workplaces of this target in which nobody works; one that holds the only model stays, see `recovered`."""
    for place in _beside(target, _part(target)):
        with contextlib.suppress(OSError), unlocked(place) as free:
            if free and (target.exists() or not (place / OLD).exists()):
                shutil.rmtree(place, ignore_errors=True)


def _clear_old_kind(target: Path) -> None:
    """The same for what versions before workplaces left of a folder that is there again."""
    if target.exists():
        for place in _beside(target, _old_kind(target)):
            shutil.rmtree(place, ignore_errors=True)


def _part(target: Path) -> str:
    return rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part"


def _old_kind(target: Path) -> str:
    return rf"\.{re.escape(target.name)}\.old\.[a-z0-9_]{{8}}"


def _beside(target: Path, pattern: str) -> list[Path]:
    """Folders beside the target with names of this pattern."""
    with contextlib.suppress(OSError):
        return sorted(place for place in target.parent.iterdir() if re.fullmatch(pattern, place.name))
    return []


# ---------------------------------------------------------------------- taking the place


def _put(new: Path, target: Path, old: Path) -> None:
    """The new folder takes the place of the target, in one step where the system has such."""
    if not target.exists():
        new.rename(target)
    elif not swapped(new, target):
        target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            old.rename(target)
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
