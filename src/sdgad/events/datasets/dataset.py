"""What is known of a public dataset, and the registry of datasets.

A new dataset is one file: a subclass of `Dataset` under `@datasets.register("name")`, listed in `MODULES` below or, from
another package, under the entry-point group `sdgad.datasets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import unquote, urlsplit

from sdgad.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

MODULES = tuple(
    f"sdgad.events.datasets.{name}"
    for name in ("wikipedia", "reddit", "mooc", "lastfm", "enron", "uci", "darpa")
)


@dataclass(frozen=True)
class Source:
    """A file to download. Without a known checksum that of the first download is recorded, and later ones must agree."""

    url: str
    sha256: str | None = None

    @property
    def file(self) -> str:
        """What the file is called."""
        return PurePosixPath(unquote(urlsplit(self.url).path)).name


@dataclass(frozen=True)
class Figures:
    """Statistics that somebody stated of a dataset. Shares of anomalies are percentages, as they were printed."""

    nodes: int
    events: int
    pairs: int
    times: int
    features: int
    anomalies: str | None = None
    anomalies_by_part: tuple[str, str, str] | None = None  # train, validation, test of a 40/20/40 split
    stated_by: str = "paper"


class Dataset:
    """A public stream of events: where it is, what its file looks like, what is known of it. Nothing is ever set on it."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]  # a page for people
    licence: ClassVar[str]
    sources: ClassVar[tuple[Source, ...]] = ()  # tried in this order
    files: ClassVar[tuple[str, ...]] = ()  # names of the published file, and of the one packed in it
    fields: ClassVar[tuple[str, ...]] = ()  # columns of a published file that has no header
    delimiter: ClassVar[str] = ","
    bipartite: ClassVar[bool] = False
    labelled: ClassVar[bool] = True  # without real labels every event counts as normal
    attributed: ClassVar[bool] = (
        True  # without attributes, features of a file are left out: they only fill a format
    )
    figures: ClassVar[Figures | None] = None

    @classmethod
    def prepare(cls, table: pa.Table) -> pa.Table:
        """The rows of a published file without a header, with columns that `read_events` understands."""
        return table


datasets: Registry[Dataset] = Registry("dataset", "sdgad.datasets", modules=MODULES, base=Dataset)


def list_datasets() -> list[str]:
    """Names that `load_dataset` takes."""
    return datasets.names()
