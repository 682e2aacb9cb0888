"""`sdgad data audit`: whether trivial cues tell labelled anomalies from other events."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from sdgad.cli import options
from sdgad.cli.naming import naming
from sdgad.cli.printing import number_of, print_json, print_table
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.events.stream import EventStream
    from sdgad.experiments.audit import Audit, Finding

SHOWN = 3  # of the strongest cues of a type, flagged or not

Files = Annotated[
    list[Path],
    Argument(metavar="EVENTS", help="Labelled events; several files are injections with several seeds."),
]
All = Annotated[bool, Option("--all", help="Print every cue, not only the strongest.")]


def audit(
    events: Files,
    *,
    src: options.Src = None,
    dst: options.Dst = None,
    time: options.Time = None,
    label: options.Label = None,
    features: options.Features = None,
    categories: options.Categories = None,
    bipartite: options.Bipartite = None,
    time_unit: options.TimeUnit = None,
    timezone: options.Timezone = None,
    bad_rows: options.SkipBadRows = None,
    every: All = False,
    json: options.Json = False,
) -> None:
    """Try to tell anomalies from other events by how their rows were made.

    Prints, per type of anomaly, the AUROC of cues that know nothing of what an event means: how round its time is, how
    many rows share it, where the row stands among them, whether it is a copy, whether its values or ids are seen nowhere
    else. 0.5 is chance. Injected or simulated anomalies that a cue tells apart carry an artefact, which detectors
    would be praised for finding.

    \b
    sdgad data audit injected.parquet
    sdgad data audit seed0.parquet seed1.parquet seed2.parquet
    """
    from sdgad.experiments.audit import audit as look_at

    columns: dict[str, Any] = {
        "src": src,
        "dst": dst,
        "time": time,
        "label": label,
        "features": options.names(features),
        "categories": options.names(categories) or (),
    }
    clock = {"time_unit": time_unit, "timezone": timezone, "bad_rows": options.policy(bad_rows)}
    with naming(events[0]) if len(events) == 1 else nullcontext():
        found = look_at(_read(path, bipartite=bipartite, **columns, **clock) for path in events)
    if json:
        print_json(found.to_dict())
    else:
        _print(found, every)


def _read(path: Path, **columns: Any) -> EventStream:
    from sdgad.events.read import read_events

    with naming(path):
        stream = read_events(path, **columns)
    if not stream.has_labels:
        found = stream.names.label
        what = "no label column (see --label)" if found is None else f"no label in column {found!r}"
        raise InputError(f"{path} has {what}, so there is no anomaly to tell from the others.")
    return stream


def _print(found: Audit, every: bool) -> None:
    files = f" in {found.streams} files" if found.streams > 1 else ""
    print(f"{number_of(found.events, 'event')}{files}, {found.anomalies:,} of them labelled anomalous\n")
    for name in found.types:
        print(found.verdict(name))
    print()
    rows = [row for name in found.types for row in _shown(found.of(name), every)]
    head = ["type", "cue", "", "AUROC", "95% interval", "anomalies"]
    print_table(head, [_cells(row) for row in rows], left=3)
    if found.flagged():
        print(
            "\nReal anomalies may show a cue by nature: a flood is crowded. Injected or simulated ones should show none."
        )


def _shown(rows: Sequence[Finding], every: bool) -> list[Finding]:
    return [row for place, row in enumerate(rows) if every or row.flag or place < SHOWN]


def _cells(row: Finding) -> list[Any]:
    return [
        row.type,
        row.cue,
        row.flag or "",
        f"{row.auroc:.3f}",
        f"{row.low:.3f}–{row.high:.3f}",
        row.anomalies,
    ]
