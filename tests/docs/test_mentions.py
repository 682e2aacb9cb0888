"""What a sentence calls by name is there: commands and options, functions and arguments, files and targets."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import sdgad
from sdgad.cli.main import app
from sdgad.detectors.folder import KNOWN, MANIFEST
from sdgad.detectors.live import LiveScorer
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import encoders

from .markdown import PAGES, ROOT, Page, name_of
from .shell import execute, typed

ROOTS: dict[str, Any] = {"sdgad": sdgad, "det": sdgad.SDGAD, "live": LiveScorer, "events": sdgad.EventStream}
COMMAND = re.compile(r"(?:^|\| )(sdgad(?: .*)?)$")
FILE = re.compile(r"^[\w./-]+\.(?:py|md)$")
PLACEHOLDERS = {"COMMAND"}


# ---------------------------------------------------------------------- the command line
def options_by_command(command: Any = None, name: str = "") -> dict[str, set[str]]:
    """Options of a command and of those below it: `fit`, `data`, `data list`."""
    command = command or typer.main.get_command(app)
    found = {
        name: {"--help"}
        | {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    }
    for below, each in getattr(command, "commands", {}).items():
        found |= options_by_command(each, f"{name} {below}".strip())
    return found


OPTIONS = options_by_command()
GROUPS = {name.rpartition(" ")[0] for name in OPTIONS} - {""}


def check_command(text: str) -> None:
    """`sdgad fit … --detector boosting`: there is such a command, and it has these options."""
    _, *words = re.sub(r"[<>|].*", "", text).split()
    name = words[0] if words and not words[0].startswith("-") else ""
    if name in GROUPS and len(words) > 1 and not words[1].startswith("-"):
        name = f"{name} {words[1]}"
    if name in PLACEHOLDERS:
        name = "fit"
    assert name in OPTIONS, f"there is no command {name!r}"
    for word in words:
        if word == "-":  # stdout, in place of a file
            continue
        option = word.partition("=")[0]
        assert not option.startswith("-") or option in OPTIONS[name], f"{name!r} has no option {option!r}"


def check_option(text: str) -> None:
    """`--labels few-shot --k 3`: some command has all of these."""
    named = {word.partition("=")[0] for word in text.split() if re.match(r"-.", word)}
    assert any(named <= known for known in OPTIONS.values()), f"no command has {sorted(named)}"


# ---------------------------------------------------------------------- Python
def has(owner: Any, name: str) -> bool:
    """Whether a module or a class has a public name, if only declared or made by a submodule."""
    if inspect.ismodule(owner):
        try:
            return hasattr(owner, name) or bool(import_module(f"{owner.__name__}.{name}"))
        except ImportError:
            return False
    declared = {key for kind in owner.__mro__ for key in getattr(kind, "__annotations__", {})}
    return not name.startswith("_") and (hasattr(owner, name) or name in declared)


def resolve(node: ast.expr) -> Any:
    """The object that a dotted name means; None where only a running program could tell."""
    if isinstance(node, ast.Name):
        assert node.id in ROOTS, f"nobody knows what {node.id!r} is"
        return ROOTS[node.id]
    if isinstance(node, ast.Attribute):
        owner = resolve(node.value)
        if owner is None:
            return None
        assert has(owner, node.attr), f"{ast.unparse(node.value)} has no {node.attr!r}"
        return getattr(owner, node.attr, None)
    return None


def check_python(text: str) -> None:
    """`det.set_threshold("fpr", 0.001)`: the names are there, and what is called takes these arguments."""
    for node in ast.walk(ast.parse(text.replace("…", "..."), mode="eval")):
        if isinstance(node, ast.Attribute):
            resolve(node)
        if isinstance(node, ast.Call):
            called = resolve(node.func)
            if called is None:
                continue
            known = option_names() if called is sdgad.SDGAD else set(inspect.signature(called).parameters)
            for keyword in node.keywords:
                assert keyword.arg in known, f"{ast.unparse(node.func)} takes no {keyword.arg!r}"


def option_names() -> set[str]:
    """All options of detectors and encoders."""
    kinds = [detectors.get(name).config_type for name in detectors.names()]
    kinds += [encoders.get(name).config_type for name in encoders.names()]
    return {"dataset"} | {field.name for kind in kinds for field in fields(kind)}


def check_keywords(text: str) -> None:
    """`history=20`, `residual= restriction=`: options of a detector, or arguments of what everybody calls."""
    calls: list[Callable[..., Any]] = [
        sdgad.read_events, sdgad.simulate_payments, sdgad.EventStream, sdgad.EventStream.split, sdgad.SDGAD.fit,
        sdgad.SDGAD.save, sdgad.SDGAD.live,
    ]  # fmt: skip
    known = option_names().union(*(inspect.signature(call).parameters for call in calls))
    for name in re.findall(r"(?:^| )(\w+)=", text):
        assert name in known, f"nothing takes {name!r}"


# ---------------------------------------------------------------------- files
def check_file(text: str) -> None:
    """A file of the repository, or one that is part of a model."""
    held = {path.relative_to(ROOT).as_posix() for top in ("src", "docs", "examples", "tests", "benchmarks")
            for path in (ROOT / top).rglob("*") if path.is_file()}  # fmt: skip
    found = text in KNOWN | {MANIFEST} or (ROOT / text).is_file() or any(p.endswith(f"/{text}") for p in held)
    assert found, f"there is no file {text!r}"


def check_target(text: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(text.split()[1:]) <= targets, f"the Makefile has no target {text!r}"


def check_install(text: str) -> None:
    code, problem = execute(text, ROOT)
    assert code == 0, problem


# ---------------------------------------------------------------------- what is looked at
CHECKS: list[tuple[re.Pattern[str], Callable[[str], None]]] = [
    (re.compile(r"^(?:sdgad|det|live|events)\.\w"), check_python),
    (re.compile(r"^sdgad(?: |$)"), check_command),
    (re.compile(r"^--\w"), check_option),
    (re.compile(r"^make \w"), check_target),
    (re.compile(r"^pip "), check_install),
    (re.compile(r"^\w+=(?:\S|$| \w+=)"), check_keywords),
    (FILE, check_file),
]


def check_span(text: str) -> bool:
    """Check a piece of code in a sentence; False for what is no name of ours, such as a column of an example."""
    piped = COMMAND.search(text)
    text = piped[1] if piped else text
    for pattern, check in CHECKS:
        if pattern.search(text):
            check(text)
            return True
    return False


def mentions(path: Path) -> Iterator[tuple[int, str]]:
    """Code in sentences, and the commands of blocks."""
    page = Page.read(path)
    yield from page.spans()
    for block in page.blocks:
        if block.kind == "sh":
            yield from ((block.line, step.command) for step in typed(block.text))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_what_a_page_names_is_there(path: Path) -> None:
    for line, text in mentions(path):
        try:
            check_span(text)
        except (AssertionError, SyntaxError) as problem:
            pytest.fail(f"{name_of(path)}:{line}: {text!r}: {problem}")


def test_the_pages_name_much() -> None:
    assert sum(check_span(text) for path in PAGES for _, text in mentions(path)) > 80


@pytest.mark.parametrize("command", sorted(set(OPTIONS) - {""}))
def test_every_command_is_in_the_documentation(command: str) -> None:
    assert any(re.search(rf"\bsdgad {command}\b", path.read_text("utf-8")) for path in PAGES)


@pytest.mark.parametrize(
    "text",
    [
        "sdgad fly",
        "sdgad data fly",
        "sdgad data list --wings",
        "sdgad fit … --wings 2",
        "sdgad stream model --statue state < events.jsonl",
        "tail -f events.jsonl | sdgad stream model --statue state",
        "--wings 2",
        "--labels few-shot --port 3",
        "sdgad.fly(1)",
        "sdgad.encoders.Wing",
        "det.fly()",
        "det.save(\"model/\", history=False, wings=2)",
        "sdgad.SDGAD(wings=2)",
        "live.fly(batch)",
        "events.to_wings()",
        "residual= wings=",
        "wings=2",
        "make coffee",
        "pip install '.[coffee]'",
        "benchmarks/coffee.py",
        "coffee.md",
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_found_out(text: str) -> None:
    with pytest.raises(AssertionError):
        check_span(text)
