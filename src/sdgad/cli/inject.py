"""`sdgad inject`: the events of a file with anomalies among them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from sdgad.cli import options
from sdgad.cli.naming import naming
from sdgad.cli.places import need_another_file, need_place_for_file
from sdgad.cli.printing import number_of, print_facts
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.events.stream import EventStream

RATES = {"T": 0.0005, "S": 0.0005}
"""What is injected where nothing is asked for: the paper's test part."""


class Preset(StrEnum):
    """How anomalies are made."""

    clean = "clean"
    paper = "paper"


EventsOut = Annotated[
    Path, Option("-o", "--output", metavar="OUT", help="Parquet, CSV, TSV or JSON lines, by suffix.")
]
Types = Annotated[
    list[str] | None,
    Option(
        "--type",
        metavar="KIND=RATE",
        help="How many, as a share of the normal events; repeat for more.",
        show_default="T=0.0005 and S=0.0005",
    ),
]
Presets = Annotated[Preset, Option(help="clean: nothing but the anomaly gives it away; paper: as published.")]
Salience = Annotated[
    list[str] | None,
    Option(
        metavar="VALUE",
        help="0 (real events with label 1) to 1, for all kinds, or KIND=VALUE; repeat for more.",
        show_default="1",
    ),
]


def inject(
    events: options.Events,
    *,
    output: EventsOut,
    types: Types = None,
    preset: Presets = Preset.clean,
    salience: Salience = None,
    seed: options.Seed = None,
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
) -> None:
    """Put made-up anomalies among real events, to try a detector where no anomaly is known.

    OUT holds the events that were read, under their column names, and the injected ones with label 1; a column
    `anomaly_type` says of which kind. Real events stay as they are, and dates become seconds since 1970.

    \b
    T        a known pair at a time that is not its own
    C        a known pair with features far from its own
    S        a source with a partner that it never had
    TC       time and features wrong
    SC       partner and features wrong
    TSC      two strangers, at any time, with anybody's features
    burst    a pair many times within moments
    dormant  a pair again after a long silence
    swapped  a pair the other way round than ever
    group    several sources, all new to one destination, at about one time

    \b
    sdgad inject events.csv -o injected.csv
    sdgad inject events.csv -o injected.csv --type T=0.001 --type burst=0.001 --salience 0.5
    """
    from sdgad.events.injection import inject as put_among
    from sdgad.events.read import read_events
    from sdgad.events.write import write_events

    need_place_for_file(output)
    need_another_file(output, events)
    rates = _rates(types or ())
    dial = _dial(salience or (), rates)
    with naming(events):
        stream = read_events(
            events,
            src=src,
            dst=dst,
            time=time,
            label=label,
            features=options.names(features),
            categories=options.names(categories) or (),
            bipartite=bipartite,
            time_unit=time_unit,
            timezone=timezone,
            bad_rows=options.policy(bad_rows),
        )
        injected = put_among(stream, rates, seed=seed or 0, preset=preset.value, salience=dial)
    write_events(injected, output)
    told = {
        "--src": src,
        "--dst": dst,
        "--time": time,
        "--label": label,
        "--features": features,
        "--categories": categories,
        "--time-unit": time_unit,
        "--timezone": timezone,
    }
    _tell(stream, injected, dial, output, _again(output, told, bipartite))


# ---------------------------------------------------------------------- what is asked for
def _rates(asked: Sequence[str]) -> dict[str, float]:
    """`T=0.001` as a kind and the share of it."""
    rates: dict[str, float] = {}
    for text in asked:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(
                f"Option --type takes a kind and its rate, like {name or 'T'}=0.0005, not {text!r}."
            )
        rate = _number("--type", text, value)
        if not 0 < rate <= 1:
            raise InputError(f"Option --type {text}: a rate lies above 0 and is at most 1.")
        if _known("--type", name) in rates:
            raise InputError(f"Option --type gives {name} twice.")
        rates[name] = rate
    return rates or dict(RATES)


def _dial(asked: Sequence[str], rates: dict[str, float]) -> dict[str, float]:
    """Salience per kind: a number for all, and `T=0.5` for one."""
    given: dict[str, float] = {}
    for text in asked:
        name, _, value = text.rpartition("=")
        salience = _number("--salience", text, value)
        if not 0 <= salience <= 1:
            raise InputError(f"Option --salience {text}: a salience lies between 0 and 1.")
        if name and _known("--salience", name) not in rates:
            raise InputError(f"Option --salience {text}: no {name} is injected (see --type).")
        if name in given:
            raise InputError(f"Option --salience is given twice for {name or 'all kinds'}.")
        given[name] = salience
    return {name: given.get(name, given.get("", 1.0)) for name in rates}


def _number(option: str, text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InputError(f"Option {option} {text}: {value!r} is not a number.") from None


def _known(option: str, name: str) -> str:
    from sdgad.events.injection import KINDS

    if name not in KINDS:
        raise InputError(f"Option {option}: there is no kind {name!r}; there are {', '.join(KINDS)}.")
    return name


# ---------------------------------------------------------------------- what is told
def _tell(before: EventStream, after: EventStream, dial: dict[str, float], output: Path, again: str) -> None:
    from sdgad.events.injection import KINDS

    facts = [("events", f"{len(after):,}, {len(after) - len(before):,} of them injected")]
    for name, salience in dial.items():
        count = _count(after, name) - _count(before, name)
        how = (
            ", real events with label 1"
            if salience == 0
            else ""
            if salience == 1
            else f", salience {salience:g}"
        )
        facts.append((name, f"{number_of(count, 'row')}: {KINDS[name].title}{how}"))
    print_facts([*facts, ("output", str(output)), ("next", again)])


def _count(events: EventStream, name: str) -> int:
    return 0 if events.anomaly_type is None else int((events.anomaly_type == name).sum())


def _again(output: Path, told: dict[str, Any], bipartite: bool | None) -> str:
    """The command that audits the output; Parquet knows what its columns mean, other formats are told again."""
    words = ["sdgad", "data", "audit", str(output)]
    if output.suffix.lower() not in (".parquet", ".pq"):
        words += [word for name, value in told.items() if value is not None for word in (name, value)]
        words += ["--bipartite"] if bipartite else []
    return shlex.join(words)
