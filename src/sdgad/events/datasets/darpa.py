"""DARPA: network traffic with attacks. Not in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets

if TYPE_CHECKING:
    import pyarrow as pa

_MINUTE = r"^(\d\d)/(\d\d)/(\d{4})-(\d\d:\d\d)$"  # 07/03/1998-18:17 is in July
_ISO = r"\3-\1-\2T\4"
_NO_ATTACK = "-"


@datasets.register("darpa")
class Darpa(Dataset):
    """Rows are `source address, destination address, minute, name of the attack`."""

    title = "traffic of the 1998 DARPA intrusion detection evaluation, by the minute; 60% of it are attacks"
    about = "https://github.com/Stream-AD/MIDAS"
    licence = "Apache 2.0 (the MIDAS repository); the traffic itself is by MIT Lincoln Laboratory"
    sources = (
        Source("https://github.com/Stream-AD/MIDAS/raw/master/data/DARPA/darpa_original.zip"),
        Source("https://www.comp.nus.edu.sg/~sbhatia/assets/datasets/darpa_original.csv"),
    )
    files = ("darpa_original.zip", "darpa_original.csv")
    fields = ("src", "dst", "t", "attack")
    figures = Figures(
        nodes=25_525,
        events=4_554_344,
        pairs=68_910,
        times=46_567,
        features=0,
        anomalies="60.10",
        stated_by="our copy",
    )

    @classmethod
    def prepare(cls, table: pa.Table) -> pa.Table:
        """Minutes in the form that everybody reads, and a label in place of the attack's name."""
        import pyarrow.compute as pc

        minutes = pc.replace_substring_regex(table["t"], _MINUTE, _ISO)
        attacks = pc.not_equal(table["attack"], _NO_ATTACK)
        return table.set_column(2, table.field("t"), minutes).set_column(3, "label", attacks)
