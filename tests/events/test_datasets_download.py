"""A download ends with the whole dataset in the cache, or with one sentence and nothing in it."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdgad.errors import InputError
from sdgad.events.datasets import download as module
from sdgad.events.datasets.dataset import Source
from sdgad.events.datasets.download import download
from sdgad.events.datasets.loading import fetch_dataset, load_dataset
from sdgad.events.datasets.places import cache
from sdgad.events.datasets.uci import UCI
from sdgad.events.stream import EventStream

from .published import college_messages, same
from .web import Web, chunked, cut, rest, serving, status, to, unmeasured, whole

BODY = bytes(range(256)) * 4_000
PATH = "/CollegeMsg.txt.gz"


@pytest.fixture(scope="module")
def one_web() -> Iterator[Web]:
    with serving() as web:
        yield web


@pytest.fixture
def web(one_web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Web:
    """A server, an empty cache, and UCI to be had from that server alone."""
    one_web.answers.clear()
    one_web.asked.clear()
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("SDGAD_DATA", raising=False)
    monkeypatch.setattr(module, "PAUSE", 0.0)
    monkeypatch.setattr(UCI, "sources", (Source(one_web.url(PATH)),))
    return one_web


@pytest.fixture
def messages(tmp_path: Path) -> bytes:
    """A small file of the published form."""
    rng = np.random.default_rng(0)
    events = EventStream(np.arange(300) % 7, rng.integers(7, 9, 300), np.arange(300.0))
    return college_messages(tmp_path / "messages.txt.gz", events).read_bytes()


def left_behind() -> list[str]:
    return sorted(path.name for path in cache().iterdir()) if cache().exists() else []


# ---------------------------------------------------------------------- one file
@pytest.mark.parametrize(
    "answers",
    [
        [whole(BODY)],
        [unmeasured(BODY)],
        [chunked(BODY)],
        [status(500), whole(BODY)],
        [status(503), status(429), whole(BODY)],
        [cut(BODY, 70_000), whole(BODY)],
        [cut(BODY, 70_000, ETag='"a"'), rest(BODY, ETag='"a"')],
        [cut(BODY, 70_000, ETag='"a"'), whole(BODY, ETag='"b"')],
        [cut(BODY, 70_000, ETag='"a"'), status(416), whole(BODY)],
        [chunked(BODY[:70_000], ends=False), whole(BODY)],
        [to("/elsewhere")],
    ],
    ids=[
        "plain", "no length", "chunks", "500 then ok", "busy then ok", "cut then ok", "resumed",
        "changed meanwhile", "nothing to resume", "chunks cut", "redirected",
    ],
)  # fmt: skip
def test_every_byte_arrives(web: Web, answers: list[Any], tmp_path: Path) -> None:
    web.answers = {PATH: answers, "/elsewhere": [whole(BODY)]}
    download(web.url(PATH), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY


def test_what_was_cut_off_is_resumed_and_not_begun_again(web: Web, tmp_path: Path) -> None:
    last = "Mon, 01 Jan 2024 00:00:00 GMT"
    stamp = {"ETag": 'W/"weak"', "Last-Modified": last}
    web.answers = {PATH: [cut(BODY, 70_000, **stamp), rest(BODY, **stamp)]}
    download(web.url(PATH), tmp_path / "file")
    (_, first), (_, second) = web.asked
    assert "Range" not in first
    assert (second["Range"], second["If-Range"]) == ("bytes=70000-", last)


@pytest.mark.parametrize(
    ("answers", "complaint", "requests"),
    [
        ([status(404)], "the server answers 404 Not Found.", 1),
        ([status(403)], "the server answers 403 Forbidden.", 1),
        ([status(500)], "the server answers 500 Internal Server Error (4 attempts).", 4),
        ([cut(BODY, 70_000)], "it was cut off after 70,000 of 1,024,000 bytes (4 attempts).", 4),
        ([chunked(BODY, ends=False)], "the connection broke", 4),
        ([whole(b"<!DOCTYPE html><title>Log in</title>")], "a web page came in place of the file.", 1),
        ([whole(b"\n <html><body>")], "a web page came in place of the file.", 1),
        ([whole(b"")], "the file is empty.", 1),
        ([to("ftp://127.0.0.1/x")], "it redirects to ftp://127.0.0.1/x, where", 1),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence_with_the_address(
    web: Web, answers: list[Any], complaint: str, requests: int, tmp_path: Path
) -> None:
    web.answers = {PATH: answers}
    with pytest.raises(InputError) as caught:
        download(web.url(PATH), tmp_path / "file")
    assert str(caught.value).startswith(f"{web.url(PATH)}: {complaint}")
    assert len(web.asked) == requests


def test_a_server_that_is_not_there_is_told(web: Web, tmp_path: Path) -> None:
    with serving() as gone:
        address = gone.url("/x")
    with pytest.raises(InputError, match=r"the server cannot be reached: Connection refused \(4 attempts\)"):
        download(address, tmp_path / "file")
    assert not web.asked


def test_a_silent_server_is_not_waited_for_forever(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    done = threading.Event()
    monkeypatch.setattr(module, "TIMEOUT", 0.05)
    web.answers = {PATH: [lambda _: done.wait(10) and None]}
    try:
        with pytest.raises(InputError, match="timed out"):
            download(web.url(PATH), tmp_path / "file")
    finally:
        done.set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_a_full_disk_is_told(web: Web) -> None:
    web.answers = {PATH: [whole(BODY)]}
    with pytest.raises(InputError, match=r"^/dev/full cannot be written: No space left on device\.$"):
        download(web.url(PATH), Path("/dev/full"))


def test_an_endless_file_is_given_up(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 300_000)
    web.answers = {PATH: [unmeasured(BODY)]}
    with pytest.raises(InputError, match="more than 300,000 bytes"):
        download(web.url(PATH), tmp_path / "file")


def test_no_redirect_leads_from_an_encrypted_address_to_a_plain_one(tmp_path: Path) -> None:
    import urllib.request
    from email.message import Message

    asked = urllib.request.Request("https://example.org/a")
    handler = module._SafeRedirects()
    nothing: Any = None
    with pytest.raises(
        InputError, match=r"https://example.org/a: it redirects to http://example.org/a, where"
    ):
        handler.redirect_request(asked, nothing, 302, "", Message(), "http://example.org/a")
    further = handler.redirect_request(asked, nothing, 302, "", Message(), "https://example.com/b")
    assert further is not None
    assert further.full_url == "https://example.com/b"
    with pytest.raises(InputError, match=r"^nonsense is no address"):
        download("nonsense", tmp_path / "file")


# ---------------------------------------------------------------------- a dataset
def test_a_download_is_kept_and_used_from_then_on(web: Web, messages: bytes, tmp_path: Path) -> None:
    web.answers = {PATH: [whole(messages)]}
    events = load_dataset("uci")
    assert left_behind() == ["uci.parquet", "uci.sha256"]
    same(events, load_dataset("uci"))
    assert len(web.asked) == 1
    (tmp_path / "CollegeMsg.txt.gz").write_bytes(messages)
    same(events, load_dataset("uci", data=tmp_path))


def test_the_first_checksum_is_recorded_and_said(
    web: Web, messages: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    web.answers = {PATH: [whole(messages)]}
    fetch_dataset("uci")
    checksum = hashlib.sha256(messages).hexdigest()
    assert (cache() / "uci.sha256").read_text() == f"{checksum}  CollegeMsg.txt.gz\n"
    assert f"no checksum of it is known; its sha256 {checksum} is recorded in" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        fetch_dataset("uci")
    assert "no checksum" not in caplog.text


def test_a_later_download_that_differs_is_refused(web: Web, messages: bytes) -> None:
    web.answers = {PATH: [whole(messages), whole(gzip.compress(b"1 2 3\n"))]}
    kept = fetch_dataset("uci").read_bytes()
    with pytest.raises(InputError, match=r"its sha256 is \w{64}, but that of the first download was \w{64}"):
        fetch_dataset("uci")
    assert (cache() / "uci.parquet").read_bytes() == kept
    assert left_behind() == ["uci.parquet", "uci.sha256"]
    (cache() / "uci.sha256").unlink()
    assert len(load_dataset("uci", data=fetch_dataset("uci"))) == 1


def test_a_known_checksum_must_be_right(
    web: Web, messages: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    web.answers = {PATH: [whole(messages)]}
    monkeypatch.setattr(UCI, "sources", (Source(web.url(PATH), sha256="0" * 64),))
    with pytest.raises(InputError, match=r"its sha256 is \w{64}, but it should be 0{64}"):
        fetch_dataset("uci")
    assert left_behind() == []
    monkeypatch.setattr(UCI, "sources", (Source(web.url(PATH), hashlib.sha256(messages).hexdigest()),))
    fetch_dataset("uci")
    assert left_behind() == ["uci.parquet"]
    assert "checksum" not in caplog.text


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda body: body[:-40], "is damaged: Compressed file ended before"),
        (lambda body: body[:60] + bytes(20) + body[80:], "is damaged"),
        (gzip.decompress, "is not gzip, though its name ends in .gz"),
        (lambda _: gzip.compress(b"a b\n"), "is not the published uci"),
    ],
)
def test_a_damaged_file_leaves_nothing(web: Web, messages: bytes, spoil: Any, complaint: str) -> None:
    web.answers = {PATH: [whole(spoil(messages))]}
    with pytest.raises(InputError) as caught:
        load_dataset("uci")
    assert complaint in str(caught.value)
    assert web.url(PATH) in str(caught.value)
    assert left_behind() == []


def test_a_failed_download_names_the_dataset_and_another_way(web: Web) -> None:
    with pytest.raises(InputError) as caught:
        load_dataset("uci")
    assert str(caught.value) == (
        f"uci cannot be downloaded: {web.url(PATH)}: the server answers 404 Not Found; "
        "a copy from elsewhere is taken by `sdgad data import uci FILE`."
    )
    assert left_behind() == []


def test_the_next_address_is_tried(web: Web, messages: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = (Source(web.url("/gone.txt.gz")), Source(web.url(PATH)))
    monkeypatch.setattr(UCI, "sources", sources)
    web.answers = {PATH: [whole(messages)]}
    assert len(load_dataset("uci")) == 300
    assert [path for path, _ in web.asked] == ["/gone.txt.gz", PATH]


def test_an_interrupted_download_leaves_nothing(
    web: Web, messages: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.answers = {PATH: [whole(messages)]}

    def interrupted(*_: object) -> None:
        assert any((cache() / name).is_dir() for name in left_behind())
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_dataset("uci")
    assert left_behind() == []


def test_what_a_killed_download_left_is_removed_the_day_after(web: Web, messages: bytes) -> None:
    web.answers = {PATH: [whole(messages)]}
    old, young = cache() / ".uci.old", cache() / ".uci.young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, times=(time.time() - 90_000,) * 2)
    fetch_dataset("uci")
    assert left_behind() == [".uci.young", "uci.parquet", "uci.sha256"]


def test_a_bar_is_shown_to_who_asks_for_it_at_a_terminal(
    web: Web, messages: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    web.answers = {PATH: [whole(messages)]}
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    fetch_dataset("uci", progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich, any output is a terminal then
    fetch_dataset("uci")
    assert capsys.readouterr() == ("", "")
    fetch_dataset("uci", progress=True)
    assert "CollegeMsg.txt.gz" in capsys.readouterr().err


def test_a_cache_that_takes_nothing_is_named_as_such(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied", str(cache() / ".uci.x1y2z3"))

    monkeypatch.setattr("sdgad.events.datasets.loading.tempfile.TemporaryDirectory", refuse)
    with pytest.raises(InputError, match=f"^Nothing can be written to {cache()}: Permission denied.$"):
        fetch_dataset("uci")
    assert not web.asked
