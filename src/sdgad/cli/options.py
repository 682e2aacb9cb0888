"""Arguments and options of the commands, and how their text is read."""

from __future__ import annotations

import csv
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, BadParameter, Option

from sdgad.threads import use_threads


class Supervision(StrEnum):
    """How many labels training may see: the paper's S1, S2 and S3."""

    all = "all"
    few_shot = "few-shot"
    none = "none"


class BadRows(StrEnum):
    """What becomes of rows that cannot be used, or whose time is absurd beside the others."""

    error = "error"
    skip = "skip"


def names(text: str | None) -> list[str] | None:
    """`amount,currency` as a list; a name that holds a comma goes in double quotes."""
    return None if text is None else next(csv.reader([text], skipinitialspace=True), [])


def policy(bad_rows: BadRows | None) -> Literal["error", "skip"]:
    """What was asked for, where no model has a say."""
    return "error" if bad_rows is None else bad_rows.value


def _known_device(text: str | None) -> str | None:
    """A device that torch may have; whether it is there is seen when it is used."""
    if text is not None and not re.fullmatch(r"auto|cpu|cuda(:\d+)?", text):
        raise BadParameter(f"{text!r} is not auto, cpu, cuda or cuda:N.")
    return text


def _use_threads(count: int | None) -> int | None:
    if count is not None:
        use_threads(count)
    return count


# what every command may take
Events = Annotated[
    Path, Argument(metavar="EVENTS", help="Parquet, CSV, TSV or JSON lines, one event per row.")
]
Model = Annotated[Path, Argument(metavar="MODEL", help="A model folder, as written by `sdgad fit`.")]
SkipBadRows = Annotated[
    BadRows | None,
    Option("--bad-rows", help="Rows without id or time, or with an absurd one: refuse the file, or set them aside.",
           show_default="error"),
]  # fmt: skip
Explain = Annotated[bool, Option("--explain", help="Say why, in words, for every event that is anomalous.")]
AllowEmpty = Annotated[
    bool, Option("--allow-empty", help="A file without events is no failure: say so and exit with 0.")
]
Json = Annotated[bool, Option("--json", help="Print one JSON document instead of text.")]

Wait = Annotated[
    float | None,
    Option(
        metavar="SECONDS",
        min=0,
        help="How long to wait while another process writes the model; 600 by default.",
    ),
]

# what is written
ModelOut = Annotated[
    Path, Option("-o", "--output", metavar="MODEL", help="The folder to write, in place of an older model.")
]
ScoresOut = Annotated[
    Path,
    Option(
        "-o", "--output", metavar="SCORES", help="Parquet, CSV, TSV or JSON lines, by suffix; - for stdout."
    ),
]

# what the columns of a file mean
Src = Annotated[str | None, Option(metavar="COLUMN", help="Who.")]
Dst = Annotated[str | None, Option(metavar="COLUMN", help="With whom.")]
Time = Annotated[str | None, Option(metavar="COLUMN", help="When: numbers or ISO-8601.")]
Label = Annotated[str | None, Option(metavar="COLUMN", help="1 anomalous, 0 normal, empty unknown.")]
Features = Annotated[
    str | None,
    Option(
        metavar="COLUMN,COLUMN|all", help="What else is known: numbers or categories; or all that may be."
    ),
]
Categories = Annotated[
    str | None,
    Option(
        metavar="COLUMN,COLUMN", help="Features that are codes, not amounts, though they look like numbers."
    ),
]
Bipartite = Annotated[
    bool | None, Option("--bipartite", help="A source and a destination with one id are not the same.")
]
TimeUnit = Annotated[
    str | None, Option(metavar="UNIT", help="What numbers count: ns, us, ms, s, min, h or d; else guessed.")
]
Timezone = Annotated[
    str | None, Option(metavar="ZONE", help="Where the people live, like Europe/Berlin.", show_default="UTC")
]

# what learns, and how
Val = Annotated[
    Path | None,
    Option(
        metavar="EVENTS", help="To select and calibrate on; without it the last 20% by time are held out."
    ),
]
DetectorName = Annotated[str, Option(metavar="NAME", help="One of `sdgad list detectors`.")]
EncoderName = Annotated[
    str | None, Option(metavar="NAME", help="One of `sdgad list encoders`.", show_default="tcl")
]
Labels = Annotated[
    Supervision | None,
    Option(help="Labels that training may see: all, k anomalies, or none.", show_default="all there are"),
]
FewShot = Annotated[
    int | None,
    Option("--k", metavar="N", min=1, help="Labelled anomalies that few-shot keeps.", show_default="3"),
]
Seed = Annotated[int | None, Option(metavar="N", min=0, help="Of everything random.", show_default="0")]
Epochs = Annotated[int | None, Option(metavar="N", min=1, help="At most so many; training stops early.")]
Threads = Annotated[
    int | None,
    Option(
        "--threads",
        callback=_use_threads,
        metavar="N",
        min=1,
        help="So many threads of work; by default as many as there are cores.",
    ),
]
Device = Annotated[
    str | None,
    Option(
        "--device", callback=_known_device, metavar="DEVICE", help="auto, cpu or cuda.", show_default="auto"
    ),
]
Config = Annotated[
    Path | None, Option(metavar="FILE", help="Detector options in .json or .toml; those given here win.")
]
Set = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="Any detector option; repeat for more."),
]
