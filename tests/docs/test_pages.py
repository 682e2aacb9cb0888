"""The documentation is run: every block of every page, in order, as a reader would."""

from __future__ import annotations

import csv
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sdgad.detectors.registry import detectors
from sdgad.encoders.base import encoders
from sdgad.registry import Registry

from .conftest import HEADER
from .markdown import PAGES, ROOT, Block, Page, name_of
from .shell import Step, differences, execute, session, typed

GUIDES = [path for path in PAGES if path.parent.name == "docs"]
Namespace = dict[str, Any]


# ---------------------------------------------------------------------- kinds of blocks
def run_python(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    """Blocks of one page share their names, as cells of a notebook do."""
    exec(compile(block.text, str(block), "exec"), names)


def run_steps(block: Block, folder: Path, steps: Iterable[Step]) -> None:
    for command, shown in steps:
        code, printed = execute(command, folder)
        if shown is None:
            assert code == 0, f"{block}: {command!r} ended with {code}: {printed}"
        else:
            assert code in (0, 2), f"{block}: {command!r} ended with {code}: {printed}"
            found = differences(shown, printed)
            assert found is None, f"{block}: {command!r}: {found}"


def run_shell(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    run_steps(block, folder, typed(block.text))


def run_session(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    run_steps(block, folder, session(block.text))


def check_rows(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    """A few rows of a file: the columns that the page's commands then name."""
    head, *rows = csv.reader(block.text.splitlines())
    assert tuple(head) == HEADER, f"{block}: the commands below are run on columns {HEADER}"
    assert all(len(row) == len(head) for row in rows), f"{block}: ragged rows"


def check_json(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    for line in block.text.splitlines():
        assert isinstance(json.loads(line), dict), f"{block}: {line}"


def check_package(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    """A `pyproject.toml`: it is built by what builds ours, and its entry points lead to classes that the page defines."""
    package = tomllib.loads(block.text)
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    backends = {project["build-system"]["build-backend"] for project in (ours, package)}
    assert len(backends) == 1, f"{block}: {backends}"
    module = package["project"]["name"].replace("-", "_")
    registries: tuple[Registry[Any], ...] = (encoders, detectors)
    groups = {registry.group: registry for registry in registries}
    for group, points in package["project"]["entry-points"].items():
        assert group in groups, f"{block}: nobody looks for {group!r}"
        for name, target in points.items():
            place, _, cls = target.partition(":")
            assert place == module, f"{block}: the package holds no {place!r}"
            assert groups[group].get(name) is names[cls], f"{block}: {target!r} is not {name!r}"


def look_at(block: Block, folder: Path, names: Namespace) -> None:  # noqa: ARG001
    """A drawing: nothing in it may look like something to be run."""
    suspicious = re.search(r"^\s*(\$ |sdgad |import |from \w+ import |det\.|make )", block.text, re.MULTILINE)
    assert not suspicious, f"{block}: {suspicious[0]!r} stands in a block that no test runs"


KINDS: dict[str, Callable[[Block, Path, Namespace], None]] = {
    "python": run_python,
    "sh": run_shell,
    "console": run_session,
    "csv": check_rows,
    "json": check_json,
    "toml": check_package,
    "text": look_at,
}
RUN = {"python", "sh", "console"}


def run_page(page: Page, folder: Path) -> None:
    module = ModuleType("a_page")  # which can be imported, as a file or a notebook can
    sys.modules[module.__name__] = module
    try:
        for block in page.blocks:
            assert block.kind in KINDS, f"{block}: {block.kind!r} is no kind of block that is checked"
            KINDS[block.kind](block, folder, vars(module))
    finally:
        del sys.modules[module.__name__]


# ---------------------------------------------------------------------- the pages
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_line_of_a_page_runs(path: Path, desk: Path) -> None:
    run_page(Page.read(path), desk)


def test_the_pages_are_there() -> None:
    assert {path.name for path in GUIDES} >= {
        "README.md", "own-data.md", "thresholds.md", "streaming.md", "model-folder.md",
    }  # fmt: skip
    assert all(any(block.kind in RUN for block in Page.read(path).blocks) for path in [PAGES[0], *GUIDES])


@pytest.mark.parametrize("path", GUIDES, ids=name_of)
def test_a_guide_starts_from_a_question_and_ends_with_a_command(path: Path) -> None:
    page = Page.read(path)
    title = page.prose.splitlines()[0]
    assert title.startswith("# ")
    assert title.endswith("?")
    last = page.blocks[-1]
    end = last.line + len(last.text.splitlines()) + 1
    assert last.kind in ("sh", "console")
    assert not "\n".join(page.prose.splitlines()[end:]).strip(), "something follows the last command"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_link_leads_somewhere(path: Path) -> None:
    page = Page.read(path)
    for line, target in page.links():
        if re.match(r"https?://", target):
            continue
        where, _, anchor = target.partition("#")
        there = (path.parent / where).resolve() if where else path
        assert there.exists(), f"{name_of(path)}:{line}: {target}"
        assert there.is_relative_to(ROOT), f"{name_of(path)}:{line}: {target}"
        assert not anchor or anchor in Page.read(there).anchors(), f"{name_of(path)}:{line}: {target}"


def test_every_guide_can_be_reached_from_the_start_page() -> None:
    for start in (ROOT / "README.md", ROOT / "docs" / "README.md"):
        linked = {
            (start.parent / target.partition("#")[0]).resolve() for _, target in Page.read(start).links()
        }
        assert set(PAGES) - {start, ROOT / "README.md"} <= linked, name_of(start)
        assert ROOT / "examples" in linked


# ---------------------------------------------------------------------- the checks can fail
PACKAGE = """[build-system]
build-backend = "hatchling.build"
[project]
name = "a-b"
[project.entry-points."""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```\nsdgad --version\n```", "no kind of block"),
        ("```yaml\na: 1\n```", "no kind of block"),
        ("```sh\ncurl example.com\n```", "nothing here knows"),
        ("```sh\nsdgad fly\n```", "No such command"),
        ("```sh\nsdgad info nothing\n```", "does not exist"),
        ("```sh\nsdgad --version | grep nothing\n```", "ended with 1"),
        ("```sh\nmake coffee\n```", "no such target"),
        ("```sh\npip install '.[coffee]'\n```", "cannot be installed"),
        ("```sh\npython examples/99_nothing.py\n```", "is no example"),
        ("```console\n$ sdgad --version\nsdgad one\n```", "the page shows"),
        ("```console\n$ sdgad info nothing\nAll is well.\n```", "the page shows"),
        ("```text\nsdgad info nothing\n```", "no test runs"),
        (f'```toml\n{PACKAGE}"sdgad.nothing"]\n```', "nobody looks for"),
        (f'```toml\n{PACKAGE}"sdgad.encoders"]\ntcl = "yours:TCL"\n```', "holds no 'yours'"),
        (
            f'```python\nTCL = int\n```\n```toml\n{PACKAGE}"sdgad.encoders"]\ntcl = "a_b:TCL"\n```',
            "is not 'tcl'",
        ),
        ("```python\nx = 1\n```\n\n```python\nassert x == 2, 'shared'\n```", "shared"),
        ("```python title\nx = 1\n```", "one word"),
        ("```python\nx = 1\n", "never closed"),
        ("- item\n  ```python\n  x = 1\n  ```", "begins its line"),
    ],
)
def test_a_page_that_lies_is_found_out(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=complaint):
        run_page(Page.parse(Path("page.md"), text), tmp_path)


def test_what_a_page_shows_may_differ_in_numbers_only() -> None:
    shown = ["scores.csv: 400 events scored, 41 anomalous (score ≥ 0.6).", "…", "AUROC   0.97"]
    assert (
        differences(shown, "scores.csv: 1,150 events scored, 2 anomalous (score ≥ 5e-3).\nAUROC –\n") is None
    )
    assert (
        differences(shown, "scores.csv: 1 events scored, 2 anomalous (score ≥ 1).\na\nb\nAUROC 1\n") is None
    )
    assert differences(shown, "scores.csv: 1 events scored, 2 anomalous (score > 1).\nAUROC 1\n") is not None
    assert differences(shown, "scores.csv: 1 events scored, 2 anomalous (score ≥ 1).\n") is not None
