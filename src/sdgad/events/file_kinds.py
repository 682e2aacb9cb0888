"""What a file holds by its first bytes, whatever it is called."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sdgad.errors import InputError

HEAD = 4096  # bytes that tell
GZIP = b"\x1f\x8b"
_UNPACK = "unpack it first"
_SIGNS: tuple[tuple[re.Pattern[bytes], str, str], ...] = tuple(
    (re.compile(sign, re.DOTALL | re.IGNORECASE if sign.startswith(rb"\s") else re.DOTALL), holds, advice)
    for sign, holds, advice in (
        (rb"PAR[1E]", "Parquet", "rename it to end in .parquet"),
        (GZIP, "data packed by gzip", "rename it to {name}.gz"),
        (rb"PK\x03\x04", "a zip archive or a workbook", "unpack it, or save the sheet as CSV"),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", "save the sheet as CSV"),
        (rb"BZh[1-9]1AY&SY", "data packed by bzip2", _UNPACK),
        (rb"\xfd7zXZ\x00", "data packed by xz", _UNPACK),
        (rb"\x28\xb5\x2f\xfd", "data packed by zstd", _UNPACK),
        (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
        (rb"ARROW1\x00\x00", "an Arrow file", "write it as Parquet"),
        (rb"Obj\x01", "an Avro file", "write it as Parquet"),
        (rb"SQLite format 3\x00", "an SQLite database", "export the rows as CSV"),
        (rb"\x89HDF\r\n", "an HDF5 file", "export the rows as CSV"),
        (rb"\x80[\x02-\x05][\x8c\x95c}\](]", "a Python pickle, which is never opened", "write it as Parquet"),
        (rb"\s*(?:<!doctype html|<html)", "a web page", "look at it in a browser"),
        (rb"\s*<\?xml", "XML", "export the rows as CSV"),
    )
)


def need_text(path: Path, head: bytes) -> None:
    """A file of text whose first bytes, unpacked, are those of something else is told by what it is."""
    for sign, holds, advice in _SIGNS:
        if sign.match(head):
            raise InputError(f"{path} holds {holds}, not rows of text; {advice.format(name=path.name)}.")


def need_gzip(path: Path, where: str | None = None) -> None:
    """A file whose name ends in .gz without being packed is told by what it is; `where` is what messages call it."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith(GZIP):
        return
    held = next((holds for sign, holds, _ in _SIGNS if sign.match(head)), None)
    rest = f"if it is not packed, rename it to {path.stem}" if held is None else f"it holds {held}"
    raise InputError(f"{where or path} is not gzip, though its name ends in .gz; {rest}.")


def need_no_json(path: Path, head: bytes) -> None:
    """A file of separated values that begins with a JSON object would lose its first row to the header."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    if not line.startswith(b"{"):
        return
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return
    raise InputError(f"{path} holds JSON lines, not separated values; rename it to end in .jsonl.")


def why_no_parquet(path: Path) -> str:
    """What is there in place of Parquet, to follow a sentence that says that it is none."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        file.seek(max(0, path.stat().st_size - 4))
        tail = file.read(4)
    if head.startswith(b"PAR1"):
        return "" if tail == b"PAR1" else "; it is cut off, or still being written"
    if head.startswith(b"PARE") or tail == b"PARE":
        return "; it is encrypted"
    for sign, holds, _ in _SIGNS:
        if sign.match(head):
            return f"; it holds {holds}"
    try:
        text = head[: -3 if len(head) == HEAD else None].decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""
    if (
        not text.isprintable()
        and not text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable()
    ):
        return ""
    return f"; it holds text, so rename it to end in {'.jsonl' if text.lstrip().startswith('{') else '.csv'}"
