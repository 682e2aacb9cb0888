"""Whether output can go where it shall go, asked before the work and not after it."""

from __future__ import annotations

from pathlib import Path

from sdgad.atomic import need_outside_models, need_writable
from sdgad.errors import InputError


def need_place_for_file(path: Path) -> None:
    """A file of rows: its suffix is a known format and its folder is there."""
    from sdgad.events.table import file_format

    file_format(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file.")
    _need_parent(path)


def need_another_file(path: Path, source: Path) -> None:
    """Output that is not its own input."""
    if path.exists() and source.exists() and path.samefile(source):
        raise InputError(f"{path} holds the events themselves; give the output another name.")


def need_place_for_demo(path: Path) -> None:
    """A folder for all kinds of files: it may hold an older demo, and must not be a model, nor lie in one."""
    from sdgad.detectors.folder import MANIFEST

    need_outside_models(path)

    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, not a folder.")
    if (path / MANIFEST).exists():
        raise InputError(f"{path} is a model folder; the demo needs one of its own.")


def need_place_for_page(path: Path) -> None:
    """A web page: its name says so and its folder is there."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path} shall be a web page: give it a name that ends in .html.")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file.")
    _need_parent(path)


def need_place_for_model(path: Path) -> None:
    """A model folder: nothing is there yet, or an empty folder, or another model."""
    from sdgad.detectors.folder import need_replaceable

    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, not a folder.")
    _need_parent(path)
    need_replaceable(path)


def _need_parent(path: Path) -> None:
    """Its folder is there, is not a model nor in one, and can be written."""
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} for {path.name} does not exist.")
    need_outside_models(path)
    need_writable(path)
