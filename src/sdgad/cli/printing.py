"""Results as text: aligned columns and numbers for people, one JSON document for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def print_json(document: Mapping[str, Any]) -> None:
    """Exactly one JSON document on stdout; what is undefined is null."""
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names in one column, what is to be said of them in the next."""
    for line in aligned(facts, left=2):
        print(line)


def print_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1) -> None:
    """A table with its head; `left` columns of words, then numbers."""
    for line in aligned([head, *([shown(cell) for cell in row] for row in rows)], left=left):
        print(line)


def aligned(rows: Iterable[Sequence[str]], *, left: int) -> list[str]:
    """Lines in which the cells of a column stand below each other, the first `left` columns flush left."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def shown(value: Any) -> str:
    """Words as they are, counts in full, rates to four decimals, a dash for what is undefined."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def counted(part: Mapping[str, int]) -> str:
    """How many events a part has, and what is known of them."""
    if not part["labelled"]:
        return f"{part['events']:,} events, no labels"
    return f"{part['events']:,} events, {part['anomalies']:,} of {part['labelled']:,} labelled anomalous"


def number_of(count: int, what: str) -> str:
    """`1 event`, `2,000 events`."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def threshold_text(value: float) -> str:
    """A threshold to six digits, or to as many as tell it from 1."""
    text = f"{value:.6g}"
    return repr(value) if text == "1" and value != 1 else text


def duration(seconds: float) -> str:
    """`0.4 s`, `43 s`, `3 min 20 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
