"""Lines of a terminal, run as a reader would type them. A command that nobody here knows is an error."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from sdgad.cli.main import run

from .markdown import ROOT

SHELL = set("|;&$`*")
MODES = {"<": "r", ">": "w", ">>": "a"}
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|–")


class Outcome(NamedTuple):
    code: int
    text: str


class Step(NamedTuple):
    """A command, and the lines that the page shows below it (None where it shows nothing at all)."""

    command: str
    shown: list[str] | None


def typed(text: str) -> Iterator[Step]:
    """A block of commands: one per line, a backslash goes on."""
    for line in text.replace("\\\n", " ").splitlines():
        if command := re.sub(r"(^|\s)#.*", "", line).strip():
            yield Step(command, None)


def session(text: str) -> Iterator[Step]:
    """A block with prompts: `$ command`, then what it prints."""
    command, shown = "", list[str]()
    for line in [*text.replace("\\\n", " ").splitlines(), "$ "]:
        if line.startswith("$ "):
            if command:
                yield Step(command, shown)
            command, shown = line[2:].strip(), []
        else:
            assert command, f"{line!r} comes before any command"
            shown.append(line)


def execute(command: str, folder: Path) -> Outcome:
    """Run one command in a folder; its exit code and all that it printed."""
    words = shlex.split(command)
    if words[0] not in COMMANDS:
        raise AssertionError(f"{command!r}: nothing here knows how to check {words[0]!r}")
    return COMMANDS[words[0]](command, folder)


# ---------------------------------------------------------------------- what the pages use
def _sdgad(command: str, folder: Path) -> Outcome:
    """In this process, which is quick; a pipe needs a shell."""
    if SHELL & set(command):
        return _bash(command, folder)
    words = shlex.split(command)
    places = {mark: words[words.index(mark) + 1] for mark in ("<", ">", ">>") if mark in words}
    words = words[: min([words.index(mark) for mark in places], default=None)]
    if words[1:2] == ["demo"] and "--events" not in words:
        words += ["--events", "600"]  # the full one takes a good minute
    printed = StringIO()
    with chdir(folder), ExitStack() as stack:
        enter = stack.enter_context
        enter(redirect_stdout(printed))
        enter(redirect_stderr(printed))
        for mark, path in places.items():
            file = enter(Path(path).open(MODES[mark], encoding="utf-8"))  # noqa: SIM115
            enter(patch("sys.stdin", file) if mark == "<" else redirect_stdout(file))
        code = run(words[1:])
    return Outcome(code, printed.getvalue())


def _bash(command: str, folder: Path) -> Outcome:
    """With a shell that finds `sdgad` as it would once installed."""
    scripts = folder / ".bin"
    scripts.mkdir(exist_ok=True)
    for name, module in {"sdgad": "-m sdgad.cli.main", "python": ""}.items():
        (scripts / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (scripts / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout)


def _make(command: str, folder: Path) -> Outcome:  # noqa: ARG001
    """It would install a virtual environment: that there is such a target has to be enough."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    wrong = set(shlex.split(command)[1:]) - targets
    return Outcome(len(wrong), f"no such target: {wrong}" if wrong else "")


def _pip(command: str, folder: Path) -> Outcome:  # noqa: ARG001
    """It would reach for the network: it has to install this package with extras that there are."""
    found = re.fullmatch(r"pip install \.(?:\[([\w,]+)\])?", " ".join(shlex.split(command)))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(found[1].split(",")) if found and found[1] else set()
    right = found is not None and extras <= set(project["optional-dependencies"])
    return Outcome(not right, "" if right else f"cannot be installed: {command}")


def _python(command: str, folder: Path) -> Outcome:  # noqa: ARG001
    """Examples have a test of their own, which runs every one of them."""
    script = ROOT / shlex.split(command)[1]
    right = script.is_file() and script.parent == ROOT / "examples"
    return Outcome(not right, "" if right else f"{script} is no example")


COMMANDS: dict[str, Callable[[str, Path], Outcome]] = {
    "sdgad": _sdgad,
    "make": _make,
    "pip": _pip,
    "python": _python,
    **dict.fromkeys(("cat", "cp", "cut", "echo", "head", "ls", "rm", "tail"), _bash),
}


# ---------------------------------------------------------------------- what a page shows
def differences(shown: list[str], printed: str) -> str | None:
    """Why the lines of a page are not what a command prints; numbers and the width of columns may differ.

    A line `…` stands for any lines, `…` within a line for any text.
    """
    expected = [_plain(line) for line in shown if line.strip()]
    pattern = "".join("(?:.*\n)*" if line == "…" else _matching(line) + "\n" for line in expected)
    found = "".join(_plain(line) + "\n" for line in printed.splitlines() if line.strip())
    if re.fullmatch(pattern, found):
        return None
    return "the page shows\n" + "\n".join(expected) + "\nbut the command prints\n" + found


def _plain(line: str) -> str:
    return " ".join(NUMBER.sub("#", line).split())


def _matching(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…"))
