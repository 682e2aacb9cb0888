"""Processes that write one model folder, over and over, and what a reader should find there."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad import atomic
from sdgad.cli.main import run
from sdgad.detectors.folder import ModelFiles, read_folder, write_folder
from sdgad.detectors.registry import MODULES

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["sdgad.cli.main", "sdgad.events.read", "sdgad.detectors.card", *MODULES])


def numbered(n: int) -> ModelFiles:
    """A model in which every file says the same number, and has a size of its own."""
    return ModelFiles(
        config={"n": n, "text": "x" * (n % 97)},
        calibration={"n": n},
        weights={"n": np.full(1 + n % 50, n)},
        state={"n": np.full(1 + n % 70, n)},
        vocabulary=pa.table({"n": np.full(1 + n % 30, n)}),
        card=f"{n}\n",
    )


def number_in(path: Path) -> int:
    """The number that all files of a model agree on."""
    files = read_folder(path)
    assert files.vocabulary is not None
    said = {files.config["n"], files.calibration["n"], int(files.card)}
    said |= {*files.weights["n"].tolist(), *files.state["n"].tolist(), *files.vocabulary["n"].to_pylist()}
    assert len(said) == 1, f"a mixture: {said}"
    return int(said.pop())


def write_on(path: Path, first: int, one_step: bool) -> None:
    """Write numbered models, until somebody kills this process."""
    as_if(one_step)
    n = first
    while True:
        write_folder(path, numbered(n))
        n += 1


def command(words: list[str], notes: Path, one_step: bool = True) -> None:
    """A command line in this process; its stderr goes into a file."""
    as_if(one_step)
    with notes.open("w") as out:
        os.dup2(out.fileno(), 2)
        os.dup2(out.fileno(), 1)
    raise SystemExit(run(words))


def as_if(one_step: bool) -> None:
    """Nobody pulls the plug here; and not every file system can swap two folders in one step."""
    os.fsync = lambda _: None  # type: ignore[assignment]
    if not one_step:
        atomic.swapped = lambda *_: False  # type: ignore[assignment]


def started(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    process = SERVER.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def beside(path: Path) -> list[str]:
    """What lies beside a model, and in it, that is no part of it."""
    return sorted(file.name for file in path.parent.iterdir() if file.name.startswith(f".{path.name}."))
