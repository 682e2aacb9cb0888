"""Small files of the forms in which datasets are published, and the streams that they hold."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sdgad.events.stream import EventStream

JODIE = "user_id,item_id,timestamp,state_label,comma_separated_list_of_features"
UCI_START = 1_082_040_961


def shared(name: str) -> Path:
    """A real dataset, or a skipped test."""
    folder = Path(os.environ.get("SDGAD_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not there; set SDGAD_DATA")
    return path


def jodie(path: Path, *, rows: int = 60, width: int = 3, seed: int = 0, labelled: bool = True) -> Path:
    """As SNAP publishes Wikipedia, Reddit, MOOC and LastFM: one name in the header stands for all features."""
    rng = np.random.default_rng(seed)
    lines = [JODIE]
    for row in range(rows):
        user, item = int(rng.integers(7)), int(rng.integers(5))
        values = ",".join(f"{value:.6f}" for value in rng.normal(size=width)) if width > 1 else "0"
        lines.append(f"{user},{item},{row // 2 * 1.5},{int(labelled and row % 9 == 8)},{values}")
    path.write_text("\n".join(lines) + "\n")
    return path


def college_messages(path: Path, events: EventStream) -> Path:
    """As SNAP publishes UCI: `SRC DST UNIXTS`, ids from 1, no header."""
    rows = zip(events.src + 1, events.dst + 1, events.t.astype(np.int64) + UCI_START, strict=True)
    text = "".join(f"{src} {dst} {t}\n" for src, dst, t in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def dgb(path: Path, events: EventStream) -> Path:
    """As DGB publishes Enron: in a folder of a zip a table with ids from 1, beside features as arrays."""
    rows = zip(events.src + 1, events.dst + 1, events.t, strict=True)
    lines = [f"{i},{src},{dst},{t},0.0,{i + 1}" for i, (src, dst, t) in enumerate(rows)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("enron/ml_enron.npy", b"features")
        archive.writestr("enron/ml_enron.csv", "\n".join([",u,i,ts,label,idx", *lines]) + "\n")
        archive.writestr("../../ml_enron_node.npy", b"features")
    return path


def midas(path: Path) -> Path:
    """As MIDAS publishes DARPA: addresses, minute, attack."""
    rows = (
        "209.030.071.165,172.016.112.050,06/01/1998-08:00,-",
        "172.016.112.050,209.030.071.165,06/01/1998-08:00,-",
        "010.000.000.001,172.016.112.050,06/30/1998-23:59,neptune",
        "209.030.071.165,010.000.000.001,07/01/1998-00:01,smurf",
    )
    path.write_text("\n".join(rows) + "\n")
    return path


def same(one: EventStream, other: EventStream) -> None:
    """Two streams are the same in all that anybody can ask of them."""
    for column in ("src", "dst", "t", "label", "row"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column), err_msg=column)
        assert getattr(one, column).dtype == getattr(other, column).dtype
    assert (one.msg is None) == (other.msg is None)
    if one.msg is not None and other.msg is not None:
        np.testing.assert_array_equal(one.msg, other.msg)
    assert one.vocabulary.names == other.vocabulary.names
    assert (one.bipartite, one.clock, one.features, one.names) == (
        other.bipartite, other.clock, other.features, other.names,
    )  # fmt: skip
