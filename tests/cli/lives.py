"""`sdgad stream` in a process of its own, which can be watched and killed at any moment.

Processes are forked from a server that has imported everything, so that fifty of them are quick.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import multiprocessing
import os
import resource
import sys
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sdgad.cli.main import run
from sdgad.cli.standard_streams import open_closed_streams

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["sdgad.detectors.registry", "sdgad.detectors.live", "sdgad.serving.line_loop"])

Answer = dict[str, Any]


class Life:
    """One run of the command, from `source` (a file or a FIFO) to a pipe that this object reads."""

    def __init__(self, source: Path, *arguments: object) -> None:
        reader, writer = SERVER.Pipe(duplex=False)
        fcntl.fcntl(writer.fileno(), fcntl.F_SETPIPE_SZ, 4096)  # so that the process cannot run far ahead
        self.notes = source.with_suffix(".stderr")
        words = [str(argument) for argument in arguments]
        self.process = SERVER.Process(target=_live, args=(source, self.notes, writer, words), daemon=True)
        self.process.start()
        writer.close()
        self._out = os.fdopen(os.dup(reader.fileno()), "rb")
        reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.join()
        self._out.close()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def answers(self, most: int | None = None) -> list[Answer]:
        """The next answers, as they come; fewer if the process ends. A line that was cut off is no answer."""
        lines: list[bytes] = []
        while most is None or len(lines) < most:
            line = self._out.readline()
            if not line.endswith(b"\n"):
                break
            lines.append(line)
        return [json.loads(line) for line in lines]

    def exit_code(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def stop_reading(self) -> None:
        self._out.close()


def _live(source: Path, notes: Path, out: Connection, arguments: Sequence[str]) -> None:
    import torch

    torch.set_num_threads(1)
    os.dup2(os.open(source, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    out.close()
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    code = run(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


Prepare = Callable[[], None]  # what is done to a process before the command begins; can be pickled


def apart(source: Path, *arguments: object, prepare: Sequence[Prepare] = ()) -> tuple[int | None, str]:
    """Exit code and notes of a command in a process that was prepared, among other things with a standard output."""
    process = begun(source, *arguments, prepare=prepare)
    process.join(120)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode, source.with_suffix(".stderr").read_text("utf-8")


def begun(source: Path, *arguments: object, prepare: Sequence[Prepare] = ()) -> ForkServerProcess:
    """The same, at work."""
    words = [str(argument) for argument in arguments]
    given = (source, source.with_suffix(".stderr"), list(prepare), words)
    process = SERVER.Process(target=_apart, args=given, daemon=True)
    process.start()
    return process


def to_file(path: Path, *, append: bool = True, number: int = 1) -> Prepare:
    """`>> path`, or `> path`."""
    return partial(_open_as, number, path, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC))


def to_pipe(path: Path) -> Prepare:
    """`> path`, which is a named pipe."""
    return partial(_open_as, 1, path, os.O_WRONLY)


def closed(number: int) -> Prepare:
    """`>&-`"""
    return partial(os.close, number)


def without_reader(number: int) -> Prepare:
    """A pipe whose reader has gone."""
    return partial(_lonely, number)


def with_files_of_at_most(size: int) -> Prepare:
    """As if the disk were full as soon as a file is so large."""
    return partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))


def with_a_failing_disk(what: str) -> Prepare:
    """fsync fails for files whose path ends like that."""
    return partial(_fail_fsync, what)


def unbuffered() -> None:
    """As under PYTHONUNBUFFERED=1, at the mercy of a pipe that takes what it likes."""
    os.set_blocking(1, False)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)  # type: ignore[type-var]


def _open_as(number: int, path: Path, flags: int) -> None:
    descriptor = os.open(path, flags, 0o666)
    os.dup2(descriptor, number)
    os.close(descriptor)


def _lonely(number: int) -> None:
    reader, writer = os.pipe()
    os.dup2(writer, number)
    os.close(reader)
    os.close(writer)


def _fail_fsync(what: str) -> None:
    def fsync(descriptor: int) -> None:
        if str(Path(f"/proc/self/fd/{descriptor}").readlink()).endswith(what):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    os.fsync = fsync


def _apart(source: Path, notes: Path, prepare: Sequence[Prepare], arguments: Sequence[str]) -> None:
    import torch

    torch.set_num_threads(1)
    _open_as(0, source, os.O_RDONLY)
    _open_as(1, Path(os.devnull), os.O_WRONLY)
    _open_as(2, notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    sys.stdout = sys.__stdout__  # type: ignore[assignment]
    before = sys.stdout
    for change in prepare:
        change()
    opened = [_is_open(number) for number in (0, 1, 2)]
    sys.stdin = os.fdopen(0) if opened[0] else None  # type: ignore[assignment]
    if sys.stdout is before:
        sys.stdout = os.fdopen(1, "w") if opened[1] else None  # type: ignore[assignment]
        sys.__stdout__ = sys.stdout  # type: ignore[misc]
    sys.stderr = os.fdopen(2, "w", closefd=False) if opened[2] else None  # type: ignore[assignment]
    open_closed_streams()
    code = run(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
