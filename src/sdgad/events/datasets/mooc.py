"""MOOC: what students do in an online course."""

from __future__ import annotations

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets


@datasets.register("mooc")
class Mooc(Dataset):
    title = (
        "actions of students on the units of an online course; anomalous is the last one before a drop-out"
    )
    about = "https://snap.stanford.edu/jodie/"
    licence = "none stated by the publisher (SNAP, with the paper on JODIE)"
    sources = (Source("https://snap.stanford.edu/jodie/mooc.csv"),)
    files = ("mooc.csv", "ml_mooc.csv")
    bipartite = True
    figures = Figures(
        nodes=7_144,
        events=411_749,
        pairs=178_443,
        times=345_600,
        features=4,
        anomalies="0.99",
        anomalies_by_part=("1.14", "0.86", "0.90"),
    )
