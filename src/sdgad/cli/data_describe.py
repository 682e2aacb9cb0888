"""`sdgad data describe`: the figures of a stream, beside the paper's where it has some."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from sdgad.cli import options
from sdgad.cli.naming import naming
from sdgad.cli.printing import aligned, duration, print_facts, print_json
from sdgad.errors import InputError

if TYPE_CHECKING:
    from sdgad.events.datasets.dataset import Dataset
    from sdgad.events.datasets.statistics import Statistics
    from sdgad.events.stream import EventStream

Subject = Annotated[
    str,
    Argument(metavar="NAME|EVENTS", help="A dataset, or a file with one event per row.", show_default=False),
]


def describe(
    subject: Subject,
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
    json: options.Json = False,
) -> None:
    """Show how many nodes, events, pairs, times and anomalies there are.

    Of a dataset beside the figures that the paper states; of a file as they are, with the options that say
    what its columns mean.

    \b
    sdgad data describe mooc
    sdgad data describe payments.csv --src payer --dst payee --time when
    """
    from sdgad.events.datasets.statistics import describe as measure

    columns = {
        "src": src,
        "dst": dst,
        "time": time,
        "label": label,
        "features": options.names(features),
        "categories": options.names(categories) or (),
        "bipartite": bipartite,
        "time_unit": time_unit,
        "timezone": timezone,
        **({} if bad_rows is None else {"bad_rows": bad_rows.value}),
    }
    dataset, path, events = _open(subject, columns)
    found = measure(events)
    if json:
        print_json(_document(found, dataset, path))
        return
    print(f"{path}: {dataset.name}, {dataset.title}" if dataset else str(path))
    print()
    _print_figures(found, dataset)
    print()
    print_facts(_facts(found, events, dataset))


def _open(subject: str, columns: dict[str, Any]) -> tuple[type[Dataset] | None, Path, EventStream]:
    """The dataset of that name, else the events of the file; and where they are."""
    from sdgad.events.datasets.dataset import datasets
    from sdgad.events.datasets.loading import load_dataset
    from sdgad.events.datasets.places import find
    from sdgad.events.read import read_events

    if subject not in datasets.names():
        path = Path(subject)
        if not path.exists() and not path.suffix and path.name == subject:
            raise InputError(
                f"There is no file and no dataset {subject!r}; the datasets are {', '.join(datasets.names())}."
            )
        with naming(path):
            return None, path, read_events(path, **columns)
    if any(value not in (None, ()) for value in columns.values()):
        raise InputError(f"{subject} is a dataset, whose columns are known; options are for files.")
    dataset = datasets.get(subject)
    events = load_dataset(subject, download=False)
    found = find(dataset)
    return dataset, found.path if found else Path(subject), events


def _document(found: Statistics, dataset: type[Dataset] | None, path: Path) -> dict[str, Any]:
    from sdgad.events.datasets.statistics import PARTS, compare

    figures = dataset.figures if dataset else None
    ratios = dict(zip(PARTS, found.anomaly_ratio_by_part, strict=True))
    return {
        "file": str(path),
        "dataset": dataset.name if dataset else None,
        **asdict(found),
        "anomaly_ratio_by_part": ratios,
        "stated": None if figures is None else asdict(figures),
        "equal": {each.name: each.equal for each in compare(found, figures) if each.equal is not None},
    }


def _print_figures(found: Statistics, dataset: type[Dataset] | None) -> None:
    from sdgad.events.datasets.statistics import compare

    figures = dataset.figures if dataset else None
    rows = compare(found, figures)
    if figures is None:
        print_facts((each.name, each.here) for each in rows)
        return
    marks = {None: "", True: "equal", False: "different"}
    table = [["", "here", figures.stated_by, "".ljust(9)]]
    table += [[each.name, each.here, each.stated or "–", marks[each.equal].ljust(9)] for each in rows]
    print("\n".join(aligned(table, left=1)))
    if found.features == 0 < figures.features:
        print(f"This copy has no features; the published file has {figures.features}.")
    if dataset is not None and not dataset.labelled:
        print("It has no labels; every event counts as normal.")


def _facts(found: Statistics, events: EventStream, dataset: type[Dataset] | None) -> list[tuple[str, str]]:
    possible = "sources × destinations" if events.bipartite else "nodes²"
    compared = dataset is not None and dataset.figures is not None and dataset.figures.stated_by == "paper"
    other = "; the paper prints another one, without its formula" if compared else ""
    step = found.granularity
    return [
        ("density", f"{found.density:.3g}: unique pairs / possible pairs ({possible}){other}"),
        ("repeated", f"{100 * found.repeated:.1f}% of events are between a pair that came before"),
        ("tied", f"{100 * found.tied:.1f}% of events share their time with another one"),
        ("time step", "none to be seen" if step is None else f"{step:g} s: every time is a multiple of it, from the first"),
        ("span", f"{found.span / 86_400:,.1f} days" if found.span >= 86_400 else duration(found.span)),
    ]  # fmt: skip
