"""The one file that matters out of a .gz or .zip, without trusting it."""

from __future__ import annotations

import gzip
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from sdgad.errors import InputError
from sdgad.events.file_kinds import need_gzip

LARGEST = 16 << 30  # bytes; the largest published file has 2.4 GB
_CHUNK = 1 << 20
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile)


@contextmanager
def unpacked(path: Path, wanted: Sequence[str], where: str) -> Iterator[Path]:
    """The file itself, or what is packed in it as a temporary file: of a .zip the first of the `wanted` names.

    No name in an archive is ever used as a path. `where` is what messages call the file.
    """
    opener = {".gz": _gzip, ".zip": _zip}.get(path.suffix.lower())
    if opener is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="sdgad.") as folder:
        with opener(path, wanted, where) as (name, packed):
            plain = Path(folder) / name
            _copy(packed, plain, where)
        yield plain


@contextmanager
def _gzip(path: Path, wanted: Sequence[str], where: str) -> Iterator[tuple[str, IO[bytes]]]:  # noqa: ARG001
    need_gzip(path, where)
    with gzip.open(path, "rb") as packed:
        yield path.stem, cast(IO[bytes], packed)


@contextmanager
def _zip(path: Path, wanted: Sequence[str], where: str) -> Iterator[tuple[str, IO[bytes]]]:
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGED as problem:
        raise InputError(f"{where} is no readable zip archive: {problem}.") from None
    with archive:
        held = {PurePosixPath(entry.filename).name: entry for entry in reversed(archive.infolist())}
        name = next((name for name in wanted if name in held), None)
        if name is None:
            raise InputError(f"{where} holds none of {', '.join(wanted)}.")
        try:
            packed = archive.open(held[name])
        except (NotImplementedError, RuntimeError, *_DAMAGED) as problem:
            raise InputError(f"{where}: {name} cannot be unpacked here: {problem}.") from None
        with packed:
            yield name, packed


def _copy(packed: IO[bytes], plain: Path, where: str) -> None:
    size = 0
    with plain.open("wb") as file:
        while True:
            try:
                chunk = packed.read(_CHUNK)
            except _DAMAGED as problem:
                raise InputError(f"{where} is damaged: {problem}.") from None
            if not chunk:
                return
            size += len(chunk)
            if size > LARGEST:
                raise InputError(f"{where} unpacks to more than {LARGEST:,} bytes, which no dataset has.")
            _write(file, chunk, plain)


def _write(file: IO[bytes], chunk: bytes, plain: Path) -> None:
    try:
        file.write(chunk)
    except OSError as problem:
        raise InputError(f"{plain} cannot be written: {problem.strerror or problem}.") from None
