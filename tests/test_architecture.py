"""The house keeps its order: imports point one way, one idea per file, every file says what it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "sdgad"
FILES = sorted(PACKAGE.rglob("*.py"))

# A room may import from itself and from the rooms above it in this list.
ROOMS = [
    {"errors", "atomic", "durable", "locks", "swapping", "registry", "configuration", "threads"},
    {"events"},
    {"history"},
    {"encoders"},
    {"metrics"},
    {"calibration"},
    {"detectors"},
    {"checks"},
    {"experiments", "serving"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
APART = {"serving"}  # production and experiments know nothing of each other; only the command line imports it


def name_of(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(tree: ast.AST) -> list[tuple[int, str]]:
    """Lines and dotted names of all that is imported, inside functions too."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports name the whole path, from sdgad down"
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def test_there_is_something_to_check() -> None:
    assert {room_of(file) for file in FILES} >= {"errors", "events", "history", "encoders", "detectors"}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_imports_point_one_way(file: Path) -> None:
    here = room_of(file)
    if here == "__init__":  # the front door names everything
        return
    assert here in FLOOR, f"{here} is no room of the house"
    for line, module in imported_modules(ast.parse(file.read_text("utf-8"))):
        top, there, *_ = [*module.split("."), ""]
        if top != "sdgad":
            continue
        if there not in FLOOR:
            assert here == "cli", f"line {line}: {module} goes through the front door instead of to its room"
            continue
        allowed = there == here or FLOOR[there] < FLOOR[here]
        if FLOOR[here] == 0:  # the ground floor is one room
            allowed = FLOOR[there] == 0
        if there in APART:
            allowed = here in {there, "cli"}
        assert allowed, f"line {line}: {here} must not import {module}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_module_says_what_it_is(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text("utf-8")))


def test_no_file_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}
    assert [
        name_of(file) for file in FILES if drawers & set(file.with_suffix("").parts[len(PACKAGE.parts) :])
    ] == []
