"""A file from the web: whole, or one sentence that says why not."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import IO, Any

from sdgad.errors import InputError
from sdgad.events.datasets.download_bar import DownloadBar
from sdgad.events.datasets.unpacking import LARGEST

ATTEMPTS = 4
PAUSE = 1.0  # seconds before the second attempt; doubled before each further one
TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 18
_PASSING = {408, 425, 429, 500, 502, 503, 504}  # a server may answer otherwise a moment later
_PARTIAL, _BEYOND = 206, 416
_PAGE = (b"<!doctype html", b"<html")


class _Passing(Exception):
    """A fault that may be gone at the next attempt."""


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from https to where anyone on the way could change the file, nor away from the web."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        safe = ("https:",) if req.type == "https" else ("https:", "http:")
        if not newurl.lower().startswith(safe):
            raise InputError(f"{req.full_url}: it redirects to {newurl}, where anyone could change the file.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(url: str, target: Path, *, progress: bool = False) -> None:
    """Write what is at `url` to `target`. What broke off is resumed where the server can, else begun again."""
    partial = _Partial(url, target)
    with DownloadBar(target.name, progress) as bar:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                partial.go_on(bar)
                return
            except _Passing as problem:
                if attempt == ATTEMPTS:
                    raise InputError(f"{url}: {problem} ({ATTEMPTS} attempts).") from None
            time.sleep(PAUSE * 2 ** (attempt - 1))


class _Partial:
    """As much of a file as has arrived."""

    def __init__(self, url: str, target: Path) -> None:
        self.url = url
        self.target = target
        self.size = 0
        self.version: str | None = None  # what the server calls this state of the file
        self.opener = urllib.request.build_opener(_SafeRedirects())

    def go_on(self, bar: DownloadBar) -> None:
        """One more attempt, from where the last one ended."""
        try:
            with self.opener.open(self._request(), timeout=TIMEOUT) as answer:
                self._receive(answer, bar)
        except InputError:  # is a ValueError, and final
            raise
        except urllib.error.HTTPError as problem:
            if problem.code == _BEYOND:
                self.size = 0
            elif problem.code not in _PASSING:
                raise InputError(f"{self.url}: the server answers {_status(problem)}.") from None
            raise _Passing(f"the server answers {_status(problem)}") from None
        except urllib.error.URLError as problem:
            raise _Passing(f"the server cannot be reached: {_reason(problem.reason)}") from None
        except (http.client.HTTPException, OSError) as problem:
            raise _Passing(f"the connection broke: {_reason(problem)}") from None
        except ValueError as problem:
            raise InputError(f"{self.url} is no address: {problem}.") from None

    def _request(self) -> urllib.request.Request:
        headers = {"User-Agent": "sdgad"}  # some servers turn away what looks like a script
        if self.size and self.version:
            headers |= {"Range": f"bytes={self.size}-", "If-Range": self.version}
        return urllib.request.Request(self.url, headers=headers)

    def _receive(self, answer: http.client.HTTPResponse, bar: DownloadBar) -> None:
        resumed = answer.status == _PARTIAL and (answer.headers["Content-Range"] or "").startswith(
            f"bytes {self.size}-"
        )
        if not resumed:
            self.size = 0
        self.version = _version(answer.headers)
        length = answer.headers["Content-Length"]
        total = None if length is None else self.size + int(length)
        with _opened(self.target, "ab" if resumed else "wb") as file:
            while chunk := answer.read(_CHUNK):
                if self.size == 0 and chunk.lstrip()[:20].lower().startswith(_PAGE):
                    raise InputError(f"{self.url}: a web page came in place of the file.")
                _write(file, chunk, self.target)
                self.size += len(chunk)
                if self.size > LARGEST:
                    raise InputError(f"{self.url} has more than {LARGEST:,} bytes, which no dataset has.")
                bar.at(self.size, total)
        if total is not None and self.size < total:
            raise _Passing(f"it was cut off after {self.size:,} of {total:,} bytes")
        if self.size == 0:
            raise InputError(f"{self.url}: the file is empty.")


# ---------------------------------------------------------------------- what went wrong
def _opened(target: Path, mode: str) -> IO[bytes]:
    """Without a buffer of its own, so that a full disk shows where something is written."""
    try:
        return target.open(mode, buffering=0)
    except OSError as problem:
        raise InputError(f"{target} cannot be written: {_reason(problem)}.") from None


def _write(file: IO[bytes], chunk: bytes, target: Path) -> None:
    try:
        while chunk:  # without a buffer a part may be taken
            chunk = chunk[file.write(chunk) :]
    except OSError as problem:
        raise InputError(f"{target} cannot be written: {_reason(problem)}.") from None


def _status(problem: urllib.error.HTTPError) -> str:
    return f"{problem.code} {problem.reason}".strip()


def _reason(problem: object) -> str:
    """The words of an error without its number."""
    return str(getattr(problem, "strerror", None) or problem or type(problem).__name__).rstrip(".")


def _version(headers: Message) -> str | None:
    """What a request to go on may name: a weak tag says nothing about bytes."""
    tag = headers["ETag"]
    return tag if tag and not tag.startswith("W/") else headers["Last-Modified"]
