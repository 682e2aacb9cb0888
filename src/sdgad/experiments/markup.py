"""Pieces of HTML: text from the data is escaped here and nowhere else."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdgad.experiments.scored import STYLES, Group

GLYPHS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚", "X": "✖", "*": "★"}
HEADINGS = {"auroc": "AUROC", "ap": "AP", "f1": "F1", "tpr": "TPR (recall)", "fpr": "FPR"}
CONTROL = (*range(9), 11, 12, *range(14, 32), *range(127, 160))
REORDERING = (
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)  # would show a text in another order than it has
SURROGATES = range(0xD800, 0xE000)  # halves of characters, which no file can hold
UNPRINTABLE = dict.fromkeys((*CONTROL, *REORDERING, *SURROGATES), "\ufffd")


def section(name: str, hint: str, content: str, *, kind: str = "") -> str:
    opening = f'<section class="{kind}">' if kind else "<section>"
    hint = f'<p class="hint">{hint}</p>' if hint else ""
    return f"{opening}<h2>{name}</h2>{hint}{content}</section>"


def figure(name: str, svg: str) -> str:
    return f'<figure class="scroll" role="img" aria-label="{name}">{svg}</figure>'


def legend(groups: Sequence[Group]) -> str:
    items = (
        f"<li>{dot(group)}{escaped(group.name)} <span>{len(group.rows):,}</span></li>" for group in groups
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def dot(group: Group | None) -> str:
    color, marker = (group.color, group.marker) if group else STYLES[-1]
    return f'<span class="dot" style="color:{color}">{GLYPHS[marker]}</span>'


def bar(share: float, group: Group | None) -> str:
    color = group.color if group else STYLES[-1][0]
    return f'<div class="bar"><div style="width:{100 * share:.1f}%;background:{color}"></div></div>'


@dataclass(frozen=True)
class Column:
    """Name and cells are HTML already; `kind` is "n" for numbers, "word" for unbroken text, "long" for ids, or ""."""

    name: str
    cells: Sequence[str]
    kind: str = ""

    @property
    def attribute(self) -> str:
        return f' class="{self.kind}"' if self.kind else ""


def table(columns: Sequence[Column], *, classes: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """Columns side by side, in a box that scrolls where it is too narrow; `classes` mark the rows.

    `notes`, HTML already, stand below the rows that they are about.
    """
    head = "".join(f"<th{column.attribute}>{column.name}</th>" for column in columns)
    lines = []
    for i in range(len(columns[0].cells)):
        kinds = [*([classes[i]] if classes and classes[i] else []), *(["noted"] if notes else [])]
        opening = f'<tr class="{" ".join(kinds)}">' if kinds else "<tr>"
        cells = "".join(f"<td{column.attribute}>{column.cells[i]}</td>" for column in columns)
        lines.append(f"{opening}{cells}</tr>")
        if notes:
            lines.append(
                f'{opening.replace("noted", "note")}<td colspan="{len(columns)}">{notes[i]}</td></tr>'
            )
    rows = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="scroll">{rows}</div>'


def printable(text: str) -> str:
    """The text with a � for everything that cannot or must not be shown."""
    return text.translate(UNPRINTABLE)


def escaped(value: object) -> str:
    """Text from anywhere, as HTML that shows it and does nothing else."""
    return html.escape(printable(str(value)))


def as_id(value: object) -> str:
    """An id or another text of the data, kept from turning its neighbours right to left."""
    return f"<bdi>{escaped(value)}</bdi>"


def is_number(value: object) -> bool:
    try:
        float(str(value) or 0)  # an empty cell fits any column
    except ValueError:
        return False
    return True


def heading(key: str) -> str:
    """What a reader calls the metric."""
    return HEADINGS.get(key, escaped(key.replace("_", " ")))


def as_cell(key: str, value: Any) -> str:
    if isinstance(value, str):
        return escaped(value)
    if key == "threshold":
        return as_threshold(value)
    if key == "seconds" and value is not None:
        return f"{value:.1f}"
    return as_number(value)


def as_number(value: Any) -> str:
    """Counts in full, rates to three decimals or two digits, a dash for what is undefined."""
    if value is None or math.isnan(value):
        return "–"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) >= 0.001 or value == 0 else f"{value:.2g}"


def as_threshold(value: float) -> str:
    return as_score(value) if 0.9995 < value < 1 else f"{value:.4g}"


def as_score(value: float) -> str:
    """Six decimals; closer to 1 than that, the distance to 1."""
    return f"{value:.6f}" if value < 0.9999995 else f"1 − {1 - value:.1e}"


def as_percent(count: int, of: int) -> str:
    return f"{100 * count / of:.3g}%" if of else "–"


def as_share(share: float | None) -> str:
    """A rate in percent, to three digits; zero is zero."""
    return "–" if share is None else f"{100 * share:.3g}%"


def as_rough_share(share: float | None) -> str:
    """A rate in percent, to the two digits that a sentence needs."""
    return as_share(share) if share is None or share >= 0.1 else f"{100 * share:.2g}%"


def count_of_events(count: int) -> str:
    return f"{count:,} event" + ("" if count == 1 else "s")
