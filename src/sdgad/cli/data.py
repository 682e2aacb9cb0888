"""`sdgad data`: public datasets, and what is to be known of any stream before it is trusted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from sdgad.cli.data_audit import audit
from sdgad.cli.data_describe import describe
from sdgad.cli.notes import tell
from sdgad.cli.printing import print_table

Name = Annotated[str, Argument(metavar="NAME", help="One of `sdgad list datasets`.", show_default=False)]
Names = Annotated[list[str], Argument(metavar="NAME…", help="Of `sdgad list datasets`.", show_default=False)]
Copy = Annotated[
    Path,
    Argument(metavar="FILE", help="As published, or as Parquet, CSV, TSV or JSON lines.", show_default=False),
]
Force = Annotated[bool, Option("--force", help="Download even what is here, in place of the cached copy.")]
Anyway = Annotated[
    bool, Option("--force", help="Take the file even where neither its nodes nor its events are as many.")
]

data = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@data.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """Get public datasets, and look at the events of any file.

    A dataset is looked for in the folder that SDGAD_DATA names, then in the cache, to which it is downloaded.

    \b
    sdgad data list                             what there is, and where it is
    sdgad data fetch uci                        download it
    sdgad data import uci CollegeMsg.txt.gz     take a file that you got otherwise
    sdgad data describe events.csv              its figures; those of a dataset beside the paper's
    sdgad data audit injected.parquet           whether trivial cues give its anomalies away
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


@data.command("list")
def listing() -> None:
    """List the datasets, their size and where they are.

    The sizes are those of the paper, or of our own copy.

    \b
    sdgad data list
    """
    from sdgad.events.datasets.dataset import datasets
    from sdgad.events.datasets.places import find

    rows = []
    for name in datasets.names():
        dataset = datasets.get(name)
        figures, found = dataset.figures, find(dataset)
        sizes = (None, None) if figures is None else (figures.events, figures.nodes)
        rows.append([name, *sizes, "not here" if found is None else f"{found.place}: {found.path}"])
    width = max(len(row[-1]) for row in rows)
    print_table(
        ["dataset", "events", "nodes", "where".ljust(width)], [[*r[:-1], r[-1].ljust(width)] for r in rows]
    )


@data.command()
def fetch(names: Names, force: Force = False) -> None:
    """Download datasets into the cache.

    What is here already stays as it is, unless forced. Where no checksum is known, that of the first download is
    recorded, and later ones must agree with it.

    \b
    sdgad data fetch wikipedia mooc
    """
    from sdgad.events.datasets.dataset import datasets
    from sdgad.events.datasets.loading import fetch_dataset
    from sdgad.events.datasets.places import find

    for name in names:
        datasets.get(name)  # a misspelt one is told before anything is downloaded
    for name in names:
        found = None if force else find(datasets.get(name))
        if found is not None:
            print(f"{name} is here: {found.path} ({found.place}).")
            continue
        tell(f"downloading {name}")
        print(f"{name} is now here: {fetch_dataset(name, progress=sys.stderr.isatty())}.")


@data.command("import")
def take(name: Name, file: Copy, force: Anyway = False) -> None:
    """Take a copy of a dataset into the cache.

    For machines that reach no publisher: the file comes from elsewhere. It may be the published one, packed or
    not, or a table with the usual columns. Where its figures are not those of the dataset, that is said; where both its
    nodes and its events are others, it is refused.

    \b
    sdgad data import uci CollegeMsg.txt.gz
    sdgad data import wikipedia ~/Downloads/wikipedia.csv
    """
    from sdgad.events.datasets.loading import import_dataset

    print(f"{name} is now here: {import_dataset(name, file, force=force)}.")


data.command()(describe)
data.command()(audit)
