"""LastFM: who listens to what."""

from __future__ import annotations

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets


@datasets.register("lastfm")
class LastFM(Dataset):
    title = "songs that users listen to; no labels"
    about = "https://snap.stanford.edu/jodie/"
    licence = "none stated by the publisher (SNAP, with the paper on JODIE)"
    sources = (Source("https://snap.stanford.edu/jodie/lastfm.csv"),)
    files = ("lastfm.csv", "ml_lastfm.csv")
    bipartite = True
    labelled = False
    attributed = False
    figures = Figures(nodes=1_980, events=1_293_103, pairs=154_993, times=1_283_614, features=0)
