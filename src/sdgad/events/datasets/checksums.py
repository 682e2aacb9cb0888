"""Checksums of what was downloaded, kept beside it in the form of `sha256sum`."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from sdgad.atomic import whole_file
from sdgad.errors import InputError
from sdgad.events.datasets.dataset import Source

logger = logging.getLogger("sdgad.events")


def verify(file: Path, source: Source, record: Path) -> str:
    """The sha256 of a downloaded file, which must be the known one, or else the one in `record`, where there is one."""
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    earlier = _read(record).get(source.file)
    if source.sha256 is not None and found != source.sha256:
        raise InputError(f"{source.url}: its sha256 is {found}, but it should be {source.sha256}.")
    if source.sha256 is None and earlier not in (None, found):
        raise InputError(
            f"{source.url}: its sha256 is {found}, but that of the first download was {earlier}; "
            f"who trusts the new file removes {record}."
        )
    return found


def keep(found: str, source: Source, record: Path) -> None:
    """Record the checksum of a first download, and say that nobody could check it."""
    known = _read(record)
    if source.sha256 is not None or source.file in known:
        return
    with whole_file(record) as temporary:
        lines = (f"{value}  {file}\n" for file, value in {**known, source.file: found}.items())
        temporary.write_text("".join(lines), encoding="utf-8")
    logger.warning(
        "%s: no checksum of it is known; its sha256 %s is recorded in %s, and later downloads must agree.",
        source.url, found, record,
    )  # fmt: skip


def _read(record: Path) -> dict[str, str]:
    if not record.is_file():
        return {}
    entries = (line.split(None, 1) for line in record.read_text(encoding="utf-8").splitlines())
    return {entry[1].strip(): entry[0] for entry in entries if len(entry) == 2}
