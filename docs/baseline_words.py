"""What is said of the methods on docs/baselines.md beside the figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Of one method: what it is, what it looks at, the home stream that it was made for, who published it, where it lives."""

    what: str
    sees: str
    home: str
    source: str
    file: str


START = """\
# What do other methods find?

All detectors obey one contract (`sdgad.checks.check_detector`): SDGAD, those that its paper compares with, and what a
user would try first. A name is all there is to change: `--detector boosting`, `sdgad.make_detector("midas-r")`. This page is
made from `results/baselines.jsonl` (`make docs`), which `benchmarks/baselines.py` writes; what nobody has measured yet is left
out.
"""

WORDS = {
    "sdgad": Words(
        "residuals of an encoder, their density between two boundaries, and further kinds of evidence",
        "past events of both endpoints, features, context, habits; labels where there are some",
        "unseen", "the paper; [method.md](method.md)", "sdgad/detector",
    ),
    "classifier": Words(
        "an encoder and a small network for labels, or against pseudo-anomalies",
        "past events of both endpoints, features, context; labels",
        "labelled", "the paper's representative models", "classifier",
    ),
    "netwalk": Words(
        "walks, an autoencoder that draws the nodes of a walk together, clusters of edges that go on learning",
        "who with whom, snapshot by snapshot",
        "communities", "Yu et al. 2018", "baselines/netwalk",
    ),
    "addgraph": Words(
        "a graph convolution per snapshot, a recurrence with attention over snapshots, a margin against drawn edges",
        "who with whom, snapshot by snapshot",
        "communities", "Zheng et al. 2019", "baselines/addgraph",
    ),
    "strgnn": Words(
        "the subgraph around an edge, its nodes known by their distances, sorted, pooled and followed over snapshots",
        "who with whom, in the last snapshots",
        "communities", "Cai et al. 2021", "baselines/strgnn",
    ),
    "taddy": Words(
        "a transformer over the five closest nodes of an edge in each of the last snapshots",
        "ranks and hops of these nodes, no names, in the last snapshots",
        "circles", "Liu et al. 2021", "baselines/taddy",
    ),
    "sad": Words(
        "temporal attention, a memory bank of scores to deviate from, pseudo-labels to contrast",
        "past events of both endpoints and of their partners, features; labels",
        "labelled", "Tian et al. 2023", "baselines/sad",
    ),
    "generaldyg": Words(
        "the ego-graph of an event, its edges as nodes, a transformer over them",
        "past events around both endpoints, features; labels",
        "labelled", "Yang et al. 2025", "baselines/generaldyg",
    ),
    "boosting": Words(
        "gradient boosting for labels, or against pseudo-anomalies",
        "context, features, habits, as a row of a table; labels",
        "labelled", "histogram boosting of scikit-learn", "baselines/boosting",
    ),
    "isolation-forest": Words(
        "random cuts: what few of them set apart is anomalous",
        "context, features, habits, as a row of a table",
        "bursts", "Liu, Ting, Zhou 2008", "baselines/isolation_forest",
    ),
    "histogram": Words(
        "how empty the bin of each number is, summed (`rule=\"ecod\"`: how far out it lies)",
        "context, features, habits, as a row of a table, each column for itself",
        "bursts", "Goldstein, Dengel 2012; Li et al. 2022", "baselines/histogram",
    ),
    "midas": Words(
        "the count of an edge in this tick of time against its count so far, in constant memory",
        "who with whom, and when",
        "bursts", "Bhatia et al. 2020", "baselines/midas",
    ),
    "midas-r": Words(
        "the same of edge, source and destination, with counts that fade",
        "who with whom, and when",
        "bursts", "Bhatia et al. 2020", "baselines/midas",
    ),
    "midas-f": Words(
        "the same, and what looks like an attack is kept out of the count so far",
        "who with whom, and when",
        "bursts", "Bhatia et al. 2022", "baselines/midas",
    ),
    "edgebank": Words(
        "who has met before is normal",
        "whether the pair has met, ever or lately",
        "", "Poursafaei et al. 2022", "baselines/edgebank",
    ),
}  # fmt: skip

PAPER = {
    "mooc": {
        "sdgad": (72.87, 7.89, 7.15), "netwalk": (64.12, 2.21, 0), "addgraph": (66.35, 2.52, 0), "strgnn": (63.47, 1.98, 0),
        "taddy": (67.02, 3.83, 0), "sad": (71.25, 6.74, 3.12), "generaldyg": (70.12, 5.31, 0), "classifier": (72.51, 7.87, 0),
    },
    "uci:paper": {"sdgad": (99.88, 28.85, 44.44), "sad": (86.57, 16.90, 0), "generaldyg": (82.25, 7.63, 4.85)},
}  # fmt: skip
"""AUROC, AP and F1 of the paper's tables of real anomalies (S1) and of synthetic ones (S3); sdgad and classifier with TCL."""

MATRIX = """\
## What each of them was made for

AUROC in percent on the test part (40%) of five simulated streams of 8,000 events, about one in 25 anomalous
(`sdgad.events.home_streams`), default options, mean ± standard deviation over seeds; **bold** is a method's home. On all but
`bursts` counts, first meetings and silence tell nothing: no degree, pair count or gap exceeds 65 there
(`tests/events/test_home_streams.py`), hence `edgebank` has no home among them. `circles` are as small as the five neighbours
that `taddy` looks at: of larger communities its published tokens, a node's distance to the nearer endpoint, tell nothing (ours
tell both). Below 50 is what looks more ordinary to a method than ordinary events do.
"""

WITHIN = """\
## What it costs not to see the rest of a snapshot

As published, `netwalk`, `addgraph`, `strgnn` and `taddy` score an event with all of its snapshot, itself and later events
included. Here they have the state before the snapshot and the event itself, in training too, so that no score depends on what
comes later, and a live scorer says the same. Below the same networks, learned our way, score the test part both ways
(`benchmarks/within_snapshot.py`; AUROC / AP in percent). What `taddy` loses on `communities` by the whole snapshot it loses to
the event itself, which makes neighbours of any two ends, while how far apart they were before is what its network goes by.
"""

COSTS = """\
## What they cost

Seconds of a fit, and microseconds per event from an `EventStream` to its score, reading and history included, with default
options: on a home stream (fit on 4,800 events), and on MOOC (on 247,049).
"""

GROUNDS = {
    "uci:clean": "UCI, no labels, injected anomalies without a give-away (S3 clean)",
    "uci:paper": "UCI, no labels, anomalies injected as published (S3)",
    "mooc": "MOOC, all labels (S1)",
}

END = """\
Methods of your own are one class: [new-detector.md](new-detector.md). Which of two is better on your own events is told by
[protocol.md](protocol.md). Lines are added by `python benchmarks/baselines.py --streams all --methods boosting,midas-r --out
results/baselines.jsonl`, and the page is made by `make docs`.

```sh
sdgad list detectors
```
"""
