"""Ids and categories of a file that a model has never seen: told where they are most, and where only their spelling differs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.events.column import shown
from sdgad.events.features import MAX_CATEGORIES
from sdgad.events.stream import Array, EventStream

logger = logging.getLogger("sdgad.events")

ENOUGH = 10  # different ids, or values of a feature; of fewer, all may well be new
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
    unknown: pa.Array  # text, each once
    counts: Array  # of each of these
    known: pa.Array  # those of the model
    tells: bool  # whether it says something where no spelling helps

    @classmethod
    def of(cls, name: str, values: pa.Array, counts: Array, known: pa.Array, *, tells: bool) -> _Column:
        """The values, each once, and how often each counts."""
        new = pc.invert(pc.is_in(values, value_set=known))
        here = new.to_numpy(zero_copy_only=False)
        return cls(name, int(counts.sum()), values.filter(new), counts[here], known, tells)

    @property
    def strange(self) -> int:
        """How many are unknown."""
        return int(self.counts.sum())

    def matched(self, spell: Spelling) -> int:
        """How many of these would be known if both were spelled so."""
        known = pc.is_in(spell(self.unknown), value_set=spell(self.known))
        return int(self.counts[known.to_numpy(zero_copy_only=False)].sum())


def tell_strangers(events: EventStream, known: Sequence[pa.Array], where: str) -> None:
    """One line where most ids of a column are not in `known` (as text, per name space), with what would match them.

    Nothing is matched for anybody: "1042.0" and "1042" may be two accounts.
    """
    sides = ((events.names.src, events.src), (events.names.dst, events.dst))
    _tell("ids", [_of_ids(*side, events, known[i % len(known)]) for i, side in enumerate(sides)], where)


def tell_new_categories(events: EventStream, known: Mapping[str, Sequence[str]], where: str) -> None:
    """A line for each feature of which most values are none of the categories that are `known`.

    A model that tells as many apart as it can knows no rare ones, so that these alone are nothing to tell.
    """
    for i, feature in enumerate(events.features):
        if events.msg is not None and feature.categories and feature.name in known:
            column = _of_categories(feature.name, feature.categories, events.msg[:, i], known[feature.name])
            _tell("values", [column], where)


def _of_ids(name: str, codes: Array, events: EventStream, known: pa.Array) -> _Column:
    ids = events.vocabulary.raw(np.unique(codes)).cast(pa.large_string())
    return _Column.of(name, ids, np.ones(len(ids), int), known, tells=len(ids) >= ENOUGH)


def _of_categories(name: str, categories: Sequence[str], codes: Array, known: Sequence[str]) -> _Column:
    counts = np.bincount(codes[~np.isnan(codes)].astype(int), minlength=len(categories))
    values, others = (pa.array(texts, pa.large_string()) for texts in (categories, known))
    tells = counts.sum() >= ENOUGH and len(known) < MAX_CATEGORIES
    return _Column.of(name, values, counts, others, tells=bool(tells))


def _tell(what: str, columns: Sequence[_Column], where: str) -> None:
    columns = [column for column in columns if 2 * column.strange > column.total]
    remedy = _remedy(columns)
    columns = [column for column in columns if remedy or column.tells]
    if columns:
        counts = ", ".join(f"{c.strange:,} of {c.total:,} in column {shown(c.name)}" for c in columns)
        logger.warning("%s: most %s are unknown to the model: %s%s.", where, what, counts, remedy)


def _remedy(columns: Sequence[_Column]) -> str:
    """Which spelling makes most of the unknown ones known, if any does: one alone, else all of them."""
    unknown = sum(column.strange for column in columns)
    for words, spell in (*_SPELLINGS.items(), ("without spaces, '.0', zeros before them and case", _all)):
        matched = sum(column.matched(spell) for column in columns)
        if unknown and 2 * matched > unknown:
            return f"; {words} {matched:,} would be known, so write them as at fit"
    return ""


def _all(ids: pa.Array) -> pa.Array:
    for spell in _SPELLINGS.values():
        ids = spell(ids)
    return ids
