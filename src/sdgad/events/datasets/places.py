"""Where datasets are: the folder named by SDGAD_DATA, and the user's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from sdgad.errors import InputError
from sdgad.events.datasets.dataset import Dataset

VARIABLE = "SDGAD_DATA"


class Found(NamedTuple):
    """A file with the events of a dataset, and what kind of place it is in."""

    path: Path
    place: str


def find(dataset: type[Dataset], data: str | os.PathLike[str] | None = None) -> Found | None:
    """The first copy of a dataset: in `data` (a file, or a folder in place of SDGAD_DATA), then in the cache.

    In a folder it is `name.parquet`, or the published file under its own name.
    """
    if data is not None and Path(data).is_file():
        return Found(Path(data), "data")
    parquet = f"{dataset.name}.parquet"
    folder, place = _folder(data), VARIABLE if data is None else "data"
    places = [] if folder is None else [Found(folder / name, place) for name in (parquet, *dataset.files)]
    places.append(Found(cache() / parquet, "cache"))
    return next((found for found in places if found.path.is_file()), None)


def _folder(data: str | os.PathLike[str] | None) -> Path | None:
    if data is not None:
        if not Path(data).is_dir():
            raise InputError(f"{Path(data)} does not exist.")
        return Path(data)
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise InputError(f"{VARIABLE} names {named}, which is no folder.")
    return Path(named)


def cache() -> Path:
    """The folder for downloads: `sdgad/datasets` in XDG_CACHE_HOME, else where this system keeps caches."""
    return _caches() / "sdgad" / "datasets"


def _caches() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    if named and Path(named).is_absolute():  # a relative one is to be ignored, says its specification
        return Path(named)
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return Path(local)
    try:
        home = Path.home()
    except RuntimeError:
        raise InputError(
            "There is no home folder for a cache; name a folder with XDG_CACHE_HOME or SDGAD_DATA."
        ) from None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
