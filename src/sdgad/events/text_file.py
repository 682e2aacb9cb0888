"""A file of text, unpacked where its name ends in .gz, and where it stops being UTF-8."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

from sdgad.errors import InputError
from sdgad.events.file_kinds import HEAD, need_gzip, need_text

LONGEST = 64 << 20  # bytes of one line; a longer one is no row, and would be read into memory whole
_MOST_PACKED = 1032  # bytes that gzip can make of one
_PART = 1 << 20


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def need_readable(path: Path) -> bytes:
    """The first bytes of a text file; one that is something else, or unpacks to more than fits, is refused."""
    if is_packed(path):
        need_gzip(path)
    with open_bytes(path) as file:
        head = file.read(HEAD)
    need_text(path, head)
    if is_packed(path):
        _need_memory(path)
    return head


def open_bytes(path: Path) -> io.BufferedReader:
    """The bytes of a text file."""
    return io.BufferedReader(gzip.GzipFile(path, "rb")) if is_packed(path) else path.open("rb")


def open_text(path: Path, errors: str = "strict") -> io.TextIOWrapper:
    """The same as text, with its line ends as they are."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", errors=errors, newline="")


def memory() -> int:
    """Bytes that this machine has; where it does not say, more than any has."""
    if not hasattr(os, "sysconf"):
        return 1 << 50
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _need_memory(path: Path) -> None:
    """A packed file may be a thousand times larger than it looks; where it could be too large, it is measured."""
    most = memory()
    if path.stat().st_size * _MOST_PACKED <= most:
        return
    unpacked = 0
    with open_bytes(path) as file:
        while part := file.read(_PART):
            unpacked += len(part)
            if unpacked > most:
                raise InputError(
                    f"{path} unpacks to more than {most >> 30:,} GiB, which is all the memory there is."
                )


def not_utf8(path: Path, row: int | None = None) -> InputError:
    """How to make it UTF-8: what begins with a byte order mark is UTF-16, other text mostly Western European."""
    with open_bytes(path) as file:
        encoding = "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "latin1"
    where = "" if row is None or encoding == "utf-16" else f" in row {row}" if row else " in its header"
    return InputError(
        f"{path} is not UTF-8 text{where}; convert it, for instance by iconv -f {encoding} -t utf-8 {path.name}."
    )


def first_row_not_utf8(path: Path, delimiter: str) -> int | None:
    """The first row of separated values that is not UTF-8, 0 for the header; None where that is hard to say."""
    row = -1
    with open_text(path, errors="surrogateescape") as file:
        try:
            for record in csv.reader(file, delimiter=delimiter):
                row += bool(record)
                if any("\udc80" <= c <= "\udcff" for field in record if not field.isascii() for c in field):
                    return row
        except csv.Error:
            pass
    return None
