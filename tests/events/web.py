"""A web server on this machine that answers as it is told, one answer per request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Gives the next answer of a path; the last one is given again and again."""

    protocol_version = "HTTP/1.1"
    server: Web

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        answers = self.server.answers.get(self.path.partition("?")[0], [status(404)])
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nobody wants to read it."""

    def reply(self, code: int, body: bytes, **headers: str) -> None:
        self.send_response(code)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": str(len(body)), **named}.items():
            if value:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class Web(ThreadingHTTPServer):
    """`answers[path]` is what to answer, `asked` what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


@contextmanager
def serving() -> Iterator[Web]:
    web = Web()
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield web
    finally:
        web.shutdown()
        thread.join()
        web.server_close()


# ---------------------------------------------------------------------- answers
def whole(body: bytes, **headers: str) -> Answer:
    return lambda handler: handler.reply(200, body, **headers)


def status(code: int) -> Answer:
    return lambda handler: handler.reply(code, b"no")


def to(place: str) -> Answer:
    return lambda handler: handler.reply(302, b"", Location=place)


def cut(body: bytes, after: int, **headers: str) -> Answer:
    """Promises all of the body and hangs up early."""
    return lambda handler: handler.reply(200, body[:after], Content_Length=str(len(body)), **headers)


def rest(body: bytes, **headers: str) -> Answer:
    """What a range asks for."""

    def answer(handler: Handler) -> None:
        start = int(handler.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        part = f"bytes {start}-{len(body) - 1}/{len(body)}"
        handler.reply(206, body[start:], Content_Range=part, **headers)

    return answer


def unmeasured(body: bytes) -> Answer:
    """Without Content-Length: the end is where the connection closes."""
    return lambda handler: handler.reply(200, body, Content_Length="")


def chunked(body: bytes, *, ends: bool = True) -> Answer:
    """In chunks; one that does not end was cut off."""

    def answer(handler: Handler) -> None:
        content = f"{len(body):x}\r\n".encode() + body + b"\r\n" + (b"0\r\n\r\n" if ends else b"")
        handler.reply(200, content, Content_Length="", Transfer_Encoding="chunked")

    return answer
