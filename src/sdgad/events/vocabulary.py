"""Raw node ids (strings or integers) and their codes 0 … num_nodes − 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdgad.errors import InputError

Ids = Any  # a numpy array, a list, or an arrow array of strings or integers


def as_id_array(ids: Ids, what: str = "ids") -> pa.Array:
    """Ids as an arrow array of int64 or string; whole floats become integers, anything else is refused."""
    array = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    if not isinstance(array, pa.Array):
        array = pa.array(array, from_pandas=True)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type) and len(array) == 0:
        return array.cast(pa.int64())
    if array.null_count:
        row = int(pc.index(pc.is_null(array), True).as_py())
        raise InputError(f"{what}: row {row + 1} has no id.")
    numbers = whole_numbers(array)
    if isinstance(numbers, int):
        raise InputError(
            f"{what}: ids must be strings or integers, not fractions or floats that have lost their last digits "
            f"(row {numbers + 1}: {array[numbers].as_py()})."
        )
    if numbers is not None:
        return numbers
    if (
        pa.types.is_string(array.type)
        or pa.types.is_large_string(array.type)
        or pa.types.is_string_view(array.type)
    ):
        return array.cast(pa.large_string())
    raise InputError(f"{what}: ids must be strings or integers, not {array.type}.")


def whole_numbers(values: pa.Array) -> pa.Array | int | None:
    """Numbers as ids: int64, or text where they do not fit into it; the row of the first that is none; None for other types.

    Floats are ids where they are whole (which integers become beside missing values), and so small that the float before
    and the one after are other integers: beyond, 9007199254740993 and 9007199254740992 are the same.
    """
    kind = values.type
    if pa.types.is_uint64(kind):
        over = pc.any(pc.greater(values, pa.scalar(2**63 - 1, pa.uint64()))).as_py()
        return values.cast(pa.large_string() if over else pa.int64())
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_decimal(kind) and kind.scale == 0:
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            return values.cast(pa.large_string())
    if not pa.types.is_floating(kind):
        return None
    exact = float(2 ** (np.finfo(kind.to_pandas_dtype()).nmant + 1))
    values = values.cast(pa.float64())
    odd = pc.or_(pc.not_equal(values, pc.floor(values)), pc.greater_equal(pc.abs(values), exact))
    row = int(pc.index(odd, True).as_py())
    return values.cast(pa.int64()) if row < 0 else row


@dataclass(frozen=True)
class Vocabulary:
    """Names of the nodes, in code order.

    One name space by default: code c is `names[c]`. Bipartite: sources are `names[:num_sources]`, destinations the
    rest, and the same raw id on both sides is two nodes. Integer ids are numbered in increasing order (so that
    0 … n − 1 keep their numbers), strings in alphabetical order.
    """

    names: tuple[pa.Array, ...]  # one array, or (sources, destinations)

    @property
    def bipartite(self) -> bool:
        return len(self.names) == 2

    @property
    def texts(self) -> list[pa.Array]:
        """The names as text, as models compare them."""
        return [names.cast(pa.large_string()) for names in self.names]

    @property
    def num_sources(self) -> int:
        """Number of codes that can stand as a source."""
        return len(self.names[0])

    def __len__(self) -> int:
        return sum(len(part) for part in self.names)

    @classmethod
    def code(cls, src: Ids, dst: Ids, bipartite: bool = False) -> tuple[np.ndarray, np.ndarray, Vocabulary]:
        """Code two columns of raw ids; returns int64 `src`, int64 `dst` and the vocabulary."""
        source, destination = as_id_array(src, "source"), as_id_array(dst, "destination")
        if bipartite:
            names_s, codes_s = _code(source)
            names_d, codes_d = _code(destination)
            return codes_s, codes_d + len(names_s), cls((names_s, names_d))
        if source.type != destination.type:
            source, destination = source.cast(pa.large_string()), destination.cast(pa.large_string())
        names, codes = _code(pa.concat_arrays([source, destination]))
        return codes[: len(source)], codes[len(source) :], cls((names,))

    def raw(self, codes: np.ndarray) -> pa.Array:
        """The raw ids of some codes (all of one side when bipartite)."""
        codes = np.asarray(codes)
        if not self.bipartite:
            return self.names[0].take(pa.array(codes))
        if len(codes) and codes[0] >= self.num_sources:
            return self.names[1].take(pa.array(codes - self.num_sources))
        return self.names[0].take(pa.array(codes))


def _code(ids: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Sorted distinct ids and the code of each id."""
    encoded = ids.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return encoded.dictionary.take(pa.array(order)), rank[encoded.indices.to_numpy(zero_copy_only=False)]


def need_sides(vocabulary: Vocabulary, sides: int) -> None:
    """Events must be bipartite (2 sides) or not (1) as those were that a model was fitted on."""
    if len(vocabulary.names) != sides:
        kind = "separate" if sides == 2 else "one"
        raise InputError(
            f"The model was fitted with {kind} name space(s) for sources and destinations; these events differ."
        )


@dataclass
class NodeTable:
    """A model's own numbering of nodes: by first appearance, kept by raw id, growing as unseen ids arrive.

    Ids are compared as text, so that 7 in one file and "7" in another are one node. Numbering by first appearance
    makes everything inside a model independent of what the ids are called.
    """

    sides: int = 1
    names: list[pa.Array] = field(default_factory=list)  # per side, large_string
    codes: list[np.ndarray] = field(default_factory=list)  # per side, the node number of each name
    size: int = 0

    def __post_init__(self) -> None:
        if not self.names:
            self.names = [pa.array([], pa.large_string()) for _ in range(self.sides)]
            self.codes = [np.empty(0, np.int64) for _ in range(self.sides)]

    def number(
        self, src: np.ndarray, dst: np.ndarray, vocabulary: Vocabulary
    ) -> tuple[np.ndarray, np.ndarray, NodeTable]:
        """Node numbers of a stream's coded endpoints, and the table grown by the ids that were new."""
        need_sides(vocabulary, self.sides)
        known = np.full(len(vocabulary), -1, np.int64)
        texts = vocabulary.texts
        start = 0
        for text, names, codes in zip(texts, self.names, self.codes, strict=True):
            found = pc.index_in(text, value_set=names)
            hit = pc.is_valid(found).to_numpy(zero_copy_only=False)
            known[start : start + len(text)][hit] = codes[found.drop_null().to_numpy(zero_copy_only=False)]
            start += len(text)
        both = np.stack([src, dst], 1).reshape(-1)
        new, first = np.unique(both[known[both] < 0], return_index=True)
        new = new[np.argsort(first, kind="stable")]
        known[new] = self.size + np.arange(len(new))
        grown = self._with(new, texts)
        return known[src], known[dst], grown

    def _with(self, new: np.ndarray, texts: list[pa.Array]) -> NodeTable:
        names, codes, start = [], [], 0
        numbers = self.size + np.arange(len(new))
        for text, old_names, old_codes in zip(texts, self.names, self.codes, strict=True):
            here = (new >= start) & (new < start + len(text))
            names.append(pa.concat_arrays([old_names, text.take(pa.array(new[here] - start))]))
            codes.append(np.concatenate([old_codes, numbers[here]]))
            start += len(text)
        return NodeTable(self.sides, names, codes, self.size + len(new))

    def to_table(self) -> pa.Table:
        """Columns `name`, `side`, `node`, for `vocabulary.parquet`."""
        return pa.table(
            {
                "name": pa.concat_arrays(self.names),
                "side": np.concatenate([np.full(len(n), i, np.int8) for i, n in enumerate(self.names)]),
                "node": np.concatenate(self.codes) if self.codes else np.empty(0, np.int64),
            }
        )

    @classmethod
    def from_table(cls, table: pa.Table, sides: int) -> NodeTable:
        """The inverse of `to_table`; ids that are missing, doubled or out of order are a ValueError."""
        if table.column_names != ["name", "side", "node"] or any(
            column.null_count for column in table.columns
        ):
            raise ValueError("the vocabulary does not have a name, a side and a node for every id")
        names, side, node = (column.combine_chunks() for column in table.columns)
        if names.type not in (pa.string(), pa.large_string()) or [side.type, node.type] != [
            pa.int8(),
            pa.int64(),
        ]:
            raise ValueError("the vocabulary is not one of texts and numbers")
        names, side, node = names.cast(pa.large_string()), side.to_numpy(), node.to_numpy()
        parts = [np.flatnonzero(side == i) for i in range(sides)]
        if not np.array_equal(np.concatenate(parts), np.arange(len(side))):
            raise ValueError("the sides of the vocabulary are not in order")
        if not np.array_equal(np.sort(node), np.arange(len(node))) or any(
            (np.diff(node[p]) < 0).any() for p in parts
        ):
            raise ValueError("the nodes of the vocabulary are not complete and in order")
        if any(pc.count_distinct(names.take(pa.array(p))).as_py() < len(p) for p in parts):
            raise ValueError("an id stands in the vocabulary twice")
        return cls(sides, [names.take(pa.array(p)) for p in parts], [node[p] for p in parts], len(node))
