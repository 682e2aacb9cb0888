"""Wikipedia: edits of pages."""

from __future__ import annotations

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets


@datasets.register("wikipedia")
class Wikipedia(Dataset):
    title = (
        "edits of 1,000 Wikipedia pages in a month; anomalous is the edit after which its author was banned"
    )
    about = "https://snap.stanford.edu/jodie/"
    licence = "none stated by the publisher (SNAP, with the paper on JODIE)"
    sources = (Source("https://snap.stanford.edu/jodie/wikipedia.csv"),)
    files = ("wikipedia.csv", "ml_wikipedia.csv")
    bipartite = True
    figures = Figures(
        nodes=9_227,
        events=157_474,
        pairs=18_257,
        times=152_757,
        features=172,
        anomalies="0.14",
        anomalies_by_part=("0.14", "0.15", "0.13"),
    )
