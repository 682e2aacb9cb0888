"""Ids of a file that a model has never seen: told where they are most, and where only their spelling differs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import shown
from sdgad.events.stream import EventStream

logger = logging.getLogger("sdgad.events")

ENOUGH = 10  # different ids; of fewer, all may well be new
Spelling = Callable[[pa.Array], pa.Array]

_SPELLINGS: dict[str, Spelling] = {
    "without spaces around them": pc.utf8_trim_whitespace,
    "without '.0' at their end": lambda ids: pc.replace_substring_regex(ids, r"\.0+$", ""),
    "in one case": pc.utf8_lower,
    "without zeros before them": lambda ids: pc.replace_substring_regex(ids, r"^0+(.)", r"\1"),
}


class _Column(NamedTuple):
    name: str
    total: int
    unknown: pa.Array  # text, each id once
    known: pa.Array  # those of the model

    def matched(self, spell: Spelling) -> int:
        """How many would be known if both were spelled so."""
        return int(pc.sum(pc.is_in(spell(self.unknown), value_set=spell(self.known))).as_py())


def tell_strangers(events: EventStream, known: Sequence[pa.Array], where: str) -> None:
    """One line where most ids of a column are not in `known` (as text, per name space), with what would match them.

    Nothing is matched for anybody: "1042.0" and "1042" may be two accounts.
    """
    columns = [
        column
        for side, (name, codes) in enumerate(((events.names.src, events.src), (events.names.dst, events.dst)))
        if 2 * len((column := _column(name, codes, events, known[side % len(known)])).unknown) > column.total
    ]
    remedy = _remedy(columns)
    columns = [column for column in columns if remedy or column.total >= ENOUGH]
    if columns:
        counts = ", ".join(f"{len(c.unknown):,} of {c.total:,} in column {shown(c.name)}" for c in columns)
        logger.warning("%s: most ids are unknown to the model: %s%s.", where, counts, remedy)


def _column(name: str, codes: np.ndarray, events: EventStream, known: pa.Array) -> _Column:
    ids = events.vocabulary.raw(np.unique(codes)).cast(pa.large_string())
    return _Column(name, len(ids), ids.filter(pc.invert(pc.is_in(ids, value_set=known))), known)


def _remedy(columns: Sequence[_Column]) -> str:
    """Which spelling makes most of the unknown ids known, if any does: one alone, else all of them."""
    unknown = sum(len(column.unknown) for column in columns)
    for words, spell in (*_SPELLINGS.items(), ("without spaces, '.0', zeros before them and case", _all)):
        matched = sum(column.matched(spell) for column in columns)
        if unknown and 2 * matched > unknown:
            return f"; {words} {matched:,} would be known, so write them as at fit"
    return ""


def _all(ids: pa.Array) -> pa.Array:
    for spell in _SPELLINGS.values():
        ids = spell(ids)
    return ids
