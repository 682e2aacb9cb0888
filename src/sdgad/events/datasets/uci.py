"""UCI: messages between students."""

from __future__ import annotations

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets


@datasets.register("uci")
class UCI(Dataset):
    title = "messages on a network of students in Irvine, April to October 2004; no labels"
    about = "https://snap.stanford.edu/data/CollegeMsg.html"
    licence = "none stated by the publisher (SNAP)"
    sources = (Source("https://snap.stanford.edu/data/CollegeMsg.txt.gz"),)
    files = ("CollegeMsg.txt.gz", "CollegeMsg.txt", "ml_uci.csv")
    fields = ("src", "dst", "t")
    delimiter = " "
    labelled = False
    attributed = False
    figures = Figures(nodes=1_899, events=59_835, pairs=20_296, times=58_911, features=0)
