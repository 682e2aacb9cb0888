"""docs/api.md is what the code says today; `make docs` writes it anew."""

from __future__ import annotations

import runpy
from dataclasses import fields

import sdgad
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import encoders

from .markdown import ROOT

MAKER = runpy.run_path(str(ROOT / "docs" / "make_api.py"))
TEXT: str = MAKER["page"]()


def section(title: str) -> str:
    """A heading's own text, as far as the next heading."""
    _, found, rest = TEXT.partition(f"\n### {title}\n")
    assert found, f"the page has no section {title!r}"
    return rest.partition("\n#")[0]


def test_the_committed_page_is_what_the_code_makes() -> None:
    committed = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert committed == TEXT, "docs/api.md is stale: run `make docs`"


def test_every_public_name_is_on_the_page_with_its_words() -> None:
    for name in sdgad.__all__:
        words = section(f"sdgad.{name}").strip().splitlines()
        assert any(line and not line.startswith(("```", "sdgad.", "|")) for line in words), name


def test_every_option_is_on_the_page_and_says_what_it_does() -> None:
    for registry in (detectors, encoders):
        for name, kind in MAKER["ours"](registry):
            rows = {row.split("`")[1]: row for row in section(name).splitlines() if row.startswith("| `")}
            for field in fields(kind.config_type):
                assert field.name in rows, f"{name}: {field.name}"
                assert rows[field.name].split("|")[-2].strip(), f"{name}: {field.name} has no line"
