"""What the pages that are made from results/ share: lines read back, tables, figures with their spread."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"

Line = dict[str, Any]


def read(path: Path) -> Iterator[Line]:
    """The lines of a file of results; none where there is no file."""
    if path.is_file():
        yield from (json.loads(text) for text in path.read_text("utf-8").splitlines() if text.strip())


def table(head: Iterable[str], rows: Iterable[list[str]]) -> str:
    """A table of Markdown."""
    names = list(head)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [names, ["---"] * len(names), *rows])


def spread(values: list[float], digits: int = 4, scale: float = 1.0) -> str:
    """Mean ± standard deviation; of one value, itself."""
    scaled = [scale * value for value in values]
    deviation = f" ± {statistics.stdev(scaled):.{digits}f}" if len(scaled) > 1 else ""
    return f"{statistics.mean(scaled):.{digits}f}{deviation}"
