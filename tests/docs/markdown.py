"""What a page of the documentation holds: blocks of code, code in a sentence, links, headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^(`{3,}|~{3,})\s*(\S*)(.*)$")
_INDENTED_FENCE = re.compile(r"^\s+(`{3,}|~{3,})")
_SPAN = re.compile(r"(`+)(.+?)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, what it says it is, what stands in it."""

    page: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


@dataclass(frozen=True)
class Page:
    """One page, taken apart; `prose` has the fenced blocks replaced by empty lines, so that lines still count."""

    path: Path
    prose: str
    blocks: tuple[Block, ...]

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls.parse(path, path.read_text("utf-8"))

    @classmethod
    def parse(cls, path: Path, text: str) -> Page:
        prose: list[str] = []
        blocks: list[Block] = []
        fence, kind, start, held = "", "", 0, list[str]()
        for number, line in enumerate(text.splitlines(), 1):
            found = _FENCE.match(line)
            if fence:
                if line.strip() == fence:
                    blocks.append(Block(path, start, kind, "\n".join(held)))
                    fence, held = "", []
                else:
                    held.append(line)
                prose.append("")
            elif found:
                assert not found[3].strip(), f"{path.name}:{number}: a fence says one word, its kind"
                fence, kind, start = found[1], found[2], number
                prose.append("")
            else:
                assert not _INDENTED_FENCE.match(line), f"{path.name}:{number}: a fence begins its line"
                prose.append(line)
        assert not fence, f"{path.name}:{start}: the block is never closed"
        return cls(path, "\n".join(prose), tuple(blocks))

    def spans(self) -> list[tuple[int, str]]:
        """Line and text of each piece of code in a sentence."""
        return [
            (self.prose.count("\n", 0, found.start()) + 1, " ".join(found[2].split()))
            for found in _SPAN.finditer(self.prose)
        ]

    def links(self) -> list[tuple[int, str]]:
        """Line and target of each link."""
        return [
            (self.prose.count("\n", 0, found.start()) + 1, found[1]) for found in _LINK.finditer(self.prose)
        ]

    def anchors(self) -> set[str]:
        """What `page.md#…` may point at."""
        titles = re.findall(r"^#+ (.+)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
