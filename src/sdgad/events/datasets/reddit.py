"""Reddit: posts to subreddits."""

from __future__ import annotations

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets


@datasets.register("reddit")
class Reddit(Dataset):
    title = "posts to 1,000 subreddits in a month; anomalous is the post after which its author was banned"
    about = "https://snap.stanford.edu/jodie/"
    licence = "none stated by the publisher (SNAP, with the paper on JODIE)"
    sources = (Source("https://snap.stanford.edu/jodie/reddit.csv"),)
    files = ("reddit.csv", "ml_reddit.csv")
    bipartite = True
    figures = Figures(
        nodes=10_984,
        events=672_447,
        pairs=78_516,
        times=669_065,
        features=172,
        anomalies="0.05",
        anomalies_by_part=("0.024", "0.065", "0.08"),
    )
