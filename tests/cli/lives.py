"""`sdgad stream` in a process of its own, which can be watched and killed at any moment.

Processes are forked from a server that has imported everything, so that fifty of them are quick.
"""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sdgad.cli.main import run

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
