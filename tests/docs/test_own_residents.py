"""What the pages tell others to write is short, and passes the checks."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sdgad.checks import check_detector, check_encoder
from sdgad.checks.streams import payments
from sdgad.detectors.base import Detector
from sdgad.detectors.registry import detectors
from sdgad.encoders.base import Encoder, encoders
from sdgad.registry import Registry

from .markdown import ROOT, Block, Page

DOCS = ROOT / "docs"
SHORT = 60  # lines, with imports and options


def blocks_with(page: Path, word: str) -> list[Block]:
    """The page's blocks of Python, as far as the one that has this word."""
    blocks = [block for block in Page.read(page).blocks if block.kind == "python"]
    last = next(i for i, block in enumerate(blocks) if word in block.text)
    return blocks[: last + 1]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A place for a page's names, which nobody finds afterwards; the registries forget what it registers."""
    registries: tuple[Registry[Any], ...] = (encoders, detectors)
    for registry in registries:
        registry.names()
        ours = {name: cls for name, cls in registry._classes.items() if cls.__module__.startswith("sdgad.")}
        monkeypatch.setattr(registry, "_classes", ours)
    module = ModuleType("a_documented_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def written(page: str, word: str, module: ModuleType) -> Any:
    """The class that a page defines under `class word`, and nothing but definitions run."""
    for block in blocks_with(DOCS / page, f"class {word}("):
        lines = block.text.splitlines()
        if f"class {word}(" in block.text:
            assert len([line for line in lines if line.strip()]) < SHORT, f"{block}: {word} is too long"
        definitions = block.text.partition("\nevents = ")[0]
        exec(compile(definitions, str(block), "exec"), vars(module))
    return vars(module)[word]


@pytest.mark.parametrize("word", ["Unlike", "RarePairs"])
def test_a_detector_as_the_page_writes_it_passes(word: str, module: ModuleType) -> None:
    cls: type[Detector] = written("new-detector.md", word, module)
    check_detector(cls)


def test_the_detector_with_a_snapshot_has_a_state(module: ModuleType) -> None:
    cls = written("new-detector.md", "RarePairs", module)
    assert cls(snapshot=50).fit(payments().train, val=payments().val).remembers


def test_an_encoder_with_memory_as_the_page_writes_it_passes(module: ModuleType) -> None:
    cls: type[Encoder] = written("new-encoder.md", "Trace", module)
    check_encoder(cls)


def test_the_pages_show_the_line_that_checks() -> None:
    assert "\nsdgad.checks.check_encoder(Mean)\n" in (DOCS / "new-encoder.md").read_text("utf-8")
    assert "\nsdgad.checks.check_detector(RarePairs)\n" in (DOCS / "new-detector.md").read_text("utf-8")
