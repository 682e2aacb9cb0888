"""`load_dataset`: a dataset by its name, from wherever it is."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sdgad.errors import InputError
from sdgad.events.datasets.checksums import keep, verify
from sdgad.events.datasets.dataset import Dataset, datasets
from sdgad.events.datasets.download import download as download_file
from sdgad.events.datasets.places import VARIABLE, cache, find
from sdgad.events.datasets.published import read_dataset
from sdgad.events.datasets.statistics import compare, describe
from sdgad.events.stream import EventStream
from sdgad.events.write import write_events

logger = logging.getLogger("sdgad.events")

IDENTITY = {"nodes", "events"}  # a copy of a dataset has at least one of these figures

_FORGOTTEN = 86_400  # seconds after which what a killed download left behind is removed


def load_dataset(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    download: bool = True,
    progress: bool = False,
) -> EventStream:
    """A public dataset by name (`list_datasets()`): from `$SDGAD_DATA/name.parquet`, the cache, or a download.

    In the folder named by SDGAD_DATA (or `data`, which may also be the file itself) the published file will do too. A
    download, with a bar where `progress` is asked for, is kept in the user's cache as Parquet. Without `download`, a dataset
    that is not here is an error. Whichever copy it was, the stream is the same: nodes are numbered from 0, times
    are seconds since the first event.
    """
    dataset = datasets.get(name)
    found = find(dataset, data)
    if found is None:
        if not download:
            raise InputError(
                f"{name} is not here: neither in the folder that {VARIABLE} names nor in {cache()}; "
                f"`sdgad data fetch {name}` downloads it, `sdgad data import {name} FILE` takes a copy."
            )
        return read_dataset(fetch_dataset(name, progress=progress), dataset)
    return read_dataset(found.path, dataset)


def fetch_dataset(name: str, *, progress: bool = False) -> Path:
    """Download a dataset into the cache, in place of an older copy; the path of its Parquet file."""
    dataset = datasets.get(name)
    problems = []
    with _workplace(name) as folder:
        for source in dataset.sources:
            file = folder / source.file
            try:
                download_file(source.url, file, progress=progress)
            except InputError as problem:
                problems.append(str(problem).rstrip("."))
                continue
            record = cache() / f"{name}.sha256"
            checksum = verify(file, source, record)
            events = read_dataset(file, dataset, source.url)
            path = _keep(events, dataset, source.url, _different(events, dataset))
            keep(checksum, source, record)
            return path
    why = "; ".join(problems) or "its publisher has no address for programs"
    raise InputError(
        f"{name} cannot be downloaded: {why}; a copy from elsewhere is taken by `sdgad data import {name} FILE`."
    )


def import_dataset(name: str, file: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Take a file that holds a dataset, as published or as a table, into the cache; the path of its Parquet file.

    One whose nodes and events are both others than those of the dataset is another one, and taken only by `force`.
    """
    dataset = datasets.get(name)
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{path} is a folder, not a file." if path.is_dir() else f"{path} does not exist.")
    events = read_dataset(path, dataset)
    different = _different(events, dataset)
    if not force and different.keys() >= IDENTITY:
        raise InputError(
            f"{path} is not {name}: {', '.join(different.values())}; "
            f"`sdgad data import {name} FILE --force` takes it all the same."
        )
    _make_cache()
    return _keep(events, dataset, str(path), different)


def _different(events: EventStream, dataset: type[Dataset]) -> dict[str, str]:
    """The figures that are not those that are known by this name, and how they differ."""
    compared = compare(describe(events), dataset.figures)
    return {
        each.name: f"{each.name} {each.here}, not {each.stated}" for each in compared if each.equal is False
    }


def _keep(events: EventStream, dataset: type[Dataset], where: str, different: dict[str, str]) -> Path:
    """Write to the cache, and tell of figures that differ."""
    if different and dataset.figures is not None:
        logger.warning(
            "%s is kept as %s, but differs from what the %s says of it: %s.",
            where, dataset.name, dataset.figures.stated_by, ", ".join(different.values()),
        )  # fmt: skip
    target = cache() / f"{dataset.name}.parquet"
    try:
        write_events(events, target)
    except OSError as problem:
        raise InputError(f"{target} cannot be written: {problem.strerror or problem}.") from None
    return target


@contextmanager
def _workplace(name: str) -> Iterator[Path]:
    """A folder in the cache for a download, gone when it is done, has failed or was interrupted."""
    folder = _make_cache()
    for old in folder.glob(f".{name}.*"):
        if old.is_dir() and time.time() - old.stat().st_mtime > _FORGOTTEN:
            shutil.rmtree(old, ignore_errors=True)
    try:
        place = tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder)
    except OSError as problem:
        raise InputError(f"Nothing can be written to {folder}: {problem.strerror or problem}.") from None
    with place:
        yield Path(place.name)


def _make_cache() -> Path:
    folder = cache()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"The cache {folder} cannot be made: {problem.strerror or problem}.") from None
    return folder
