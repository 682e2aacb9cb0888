"""Enron: e-mail between employees."""

from __future__ import annotations

from sdgad.events.datasets.dataset import Dataset, Figures, Source, datasets


@datasets.register("enron")
class Enron(Dataset):
    title = "e-mail between employees of Enron over three years; no labels; many rows at the same time"
    about = "https://zenodo.org/records/7213796"
    licence = "MIT or Apache 2.0, say the authors of the collection (DGB) of all its datasets together"
    sources = (Source("https://zenodo.org/records/7213796/files/enron.zip?download=1"),)
    files = ("enron.zip", "ml_enron.csv")
    labelled = False
    attributed = False
    figures = Figures(nodes=184, events=125_235, pairs=3_125, times=22_632, features=0)
