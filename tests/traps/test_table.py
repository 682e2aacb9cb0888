"""docs/traps.md, the list of cares and the tests agree: no line without a test, no test without a care that it needs."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from .cares import CARES, Care
from .package_copy import ROOT, without

TRAPS = [*range(1, 11), *range(30, 40)]
_TEST = re.compile(r"`(tests/[\w/]+\.py::\w+)`")


def lines_of_the_table() -> dict[int, str]:
    """The line of each trap."""
    page = (ROOT / "docs" / "traps.md").read_text("utf-8")
    return {int(found[1]): found[0] for found in re.finditer(r"^\| (\d+) \|.*\|$", page, re.MULTILINE)}


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_trap_has_a_line_and_no_line_is_about_another() -> None:
    assert sorted(lines_of_the_table()) == TRAPS


@pytest.mark.parametrize("trap", TRAPS)
def test_a_line_names_the_tests_that_are_shown_to_fail_and_no_others(trap: int) -> None:
    named = set(_TEST.findall(lines_of_the_table()[trap]))
    assert named == {care.test for care in CARES if care.trap == trap}
    for file, _, name in (test.partition("::") for test in named):
        assert name in functions_of(file)


@pytest.mark.parametrize("care", CARES, ids=lambda care: care.name)
def test_a_care_stands_in_the_code_and_the_code_without_it_is_a_program(care: Care) -> None:
    ast.parse(without(care))


def test_cares_have_names_of_their_own() -> None:
    assert len({care.name for care in CARES}) == len(CARES)
