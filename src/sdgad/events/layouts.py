"""Known ways to name the columns of an event file: ours, JODIE's, DyGLib's, TGB's, and common other names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

from sdgad.events.clock import Clock
from sdgad.events.stream import ColumnNames

ANOMALY_TYPE = "anomaly_type"
NAMELESS = ("",)  # the row numbers that pandas writes
_METADATA = b"sdgad.events"


@dataclass(frozen=True)
class Layout:
    """Column names of one convention.

    `features` are taken where they are there; a name stands for a column, a list column, or numbered columns.
    `rest` is a header field that stands for all the remaining fields of a row, and what these are called.
    `ignored` columns carry no information about the event.
    """

    src: str
    dst: str
    time: str
    label: str | None = None
    features: tuple[str, ...] = ("msg",)
    bipartite: bool = False
    ignored: tuple[str, ...] = NAMELESS
    rest: tuple[str, str] | None = None
    clock: Clock | None = None


LAYOUTS = {
    "sdgad": Layout("src", "dst", "t", "label"),
    "jodie": Layout(
        "user_id", "item_id", "timestamp", "state_label",
        bipartite=True, rest=("comma_separated_list_of_features", "f"),
    ),
    "dyglib": Layout("u", "i", "ts", "label", ignored=(*NAMELESS, "idx")),
    "tgb": Layout(
        "sources", "destinations", "timestamps",
        features=("edge_feat",), ignored=("edge_idxs", "edge_label"), rest=("edge_feat", "edge_feat"),
    ),
}  # fmt: skip

ALIASES = {
    "src": ("src", "source", "source_id", "src_id", "from", "sender", "payer", "u", "user", "user_id"),
    "dst": (
        "dst", "destination", "destination_id", "dst_id", "target", "to", "receiver", "payee",
        "v", "i", "item", "item_id",
    ),
    "time": ("t", "time", "timestamp", "ts", "datetime", "date", "when", "unix_timestamp"),
    "label": ("label", "y", "is_fraud", "is_anomaly", "state_label", "edge_label"),
}  # fmt: skip
VAGUE_LABELS = ("y", "edge_label")  # names that mean other things too: in TGB both are 1 where a link exists


def recognise(columns: Sequence[str], written: Layout | None = None) -> Layout | None:
    """The first layout whose source, destination and time columns are all there."""
    candidates = ([written] if written else []) + list(LAYOUTS.values())
    return next(
        (layout for layout in candidates if {layout.src, layout.dst, layout.time} <= set(columns)), None
    )


def by_alias(role: str, columns: Sequence[str]) -> str | None:
    """The column that is commonly used for a role (`src`, `dst`, `time`, `label`), whatever its case."""
    plain = {name.strip().lower(): name for name in reversed(columns)}
    return next((plain[alias] for alias in ALIASES[role] if alias in plain), None)


def spread(header: list[str], fields: int) -> list[str] | None:
    """Names for rows of `fields` fields under a header whose last name stands for all the rest; else None."""
    for layout in LAYOUTS.values():
        if (
            layout.rest
            and layout.rest[0] == header[-1]
            and {layout.src, layout.dst, layout.time} <= set(header)
        ):
            fixed = header[:-1]
            return [*fixed, *(f"{layout.rest[1]}{i}" for i in range(fields - len(fixed)))]
    return None


def family(columns: Sequence[str], name: str) -> list[str]:
    """The numbered columns `name0, name1, …` that are there; for `msg` also under the names `f0, f1, …`."""
    for prefix in (name, "f") if name == "msg" else (name,):
        found: list[str] = []
        while f"{prefix}{len(found)}" in columns:
            found.append(f"{prefix}{len(found)}")
        if found:
            return found
    return []


def to_metadata(names: ColumnNames, bipartite: bool, clock: Clock) -> dict[bytes, bytes]:
    """What a file's columns cannot say, for the schema of a Parquet file."""
    layout = Layout(names.src, names.dst, names.time, names.label, names.features, bipartite, clock=clock)
    return {_METADATA: json.dumps(asdict(layout)).encode()}


def from_metadata(schema: pa.Schema) -> Layout | None:
    """The inverse of `to_metadata`; None for a file that we did not write."""
    try:
        kept = json.loads((schema.metadata or {})[_METADATA])
        names = ColumnNames(kept["src"], kept["dst"], kept["time"], kept["label"], tuple(kept["features"]))
        words = (names.src, names.dst, names.time, *([names.label] if names.label else ()), *names.features)
        if not all(isinstance(word, str) for word in words):
            return None
        return Layout(
            names.src, names.dst, names.time, names.label, names.features,
            bipartite=bool(kept["bipartite"]), clock=Clock(**kept["clock"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
