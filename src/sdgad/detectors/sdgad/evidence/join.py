"""One join: the say of every kind of evidence in the sum Σ w · nats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.panel import Numbers
from sdgad.events.stream import Array
from sdgad.metrics import mixture

CONTRAST = 1.0  # the say of contrast beside that of density: which of the two sees more differs from stream to stream
TRUST = 20.0  # labelled anomalies that have as much say as what needs none
UNLABELLED_SHARES = (0.15, 0.5, 0.85)
CONTRASTS = (0.0, CONTRAST)
MARGIN = 0.08  # over √n of n validation anomalies: what is not worse by more than that is as good as the best
TOGETHER = 2  # units that know labels, or all of them
NORMALS = 50_000  # validation events that a choice looks at, beside the anomalies

Weights = dict[str, float]


def joined(nats: Numbers, weights: Weights) -> Array:
    """Σ w · nats, in the order of names: the last bits of a sum depend on it."""
    total: Array = np.sum([weights[name] * nats[name] for name in sorted(weights)], 0)
    return total


def by_rule(groups: Mapping[str, Group], labels: int) -> Weights:
    """Without looking at a score: of m labelled anomalies, what needs no label has the share a = 20 / (20 + m), likeness in
    closed form 20 / (20 + m) of the rest where something learned from labels as well, and that what is left.

    Kinds of one group share its say evenly.
    """
    held = set(groups.values())
    share = TRUST / (TRUST + labels) if held & {"like", "known"} else 1.0
    closed = float("like" in held)
    if held >= {"like", "known"}:
        closed = FEW_LABELS / (FEW_LABELS + labels)
    return _weights(
        groups,
        {**_unlabelled(share, CONTRAST), "like": (1 - share) * closed, "known": (1 - share) * (1 - closed)},
    )


def chosen(groups: Mapping[str, Group], label: Array, nats: Numbers) -> Weights:
    """By validation labels, from a list: the mean of all that are as good as the best. Fewer than 20 anomalies choose nothing."""
    units = _informed(groups)
    if not units or label.sum() < FEW_LABELS:
        raise ValueError("nothing to choose by")
    subsets = {some for size in range(1, TOGETHER + 1) for some in combinations(units, size)} | {units}
    unlabelled = [(0.0, 0.0), *product(UNLABELLED_SHARES, CONTRASTS)]
    listed = []
    for (share, contrast), some in product(unlabelled, sorted(subsets)):
        weights = _weights(groups, _unlabelled(share, contrast))
        for unit in some:
            weights |= dict.fromkeys(unit, (1 - share) / len(some) / len(unit))
        listed.append(weights)
    seen = _sample(label)
    label, nats = label[seen], {name: value[seen] for name, value in nats.items()}
    worth = np.array([mixture(label, joined(nats, weights)) for weights in listed])
    good = np.flatnonzero(worth >= worth.max() - MARGIN / np.sqrt(label.sum()))
    return {name: float(np.mean([listed[i][name] for i in good])) for name in groups}


def _informed(groups: Mapping[str, Group]) -> tuple[tuple[str, ...], ...]:
    """What knows of labels, as units of the list: every kind that learned, beside all closed forms together; or, where nothing
    learned, every closed form."""
    like, known = (tuple(n for n, group in groups.items() if group == of) for of in ("like", "known"))
    if not known:
        return tuple((name,) for name in like)
    return (*((name,) for name in known), *((like,) if like else ()))


def _sample(label: Array) -> Array:
    """All anomalies and, of the others, at most 50,000 in even steps."""
    normal = np.flatnonzero(label != 1)
    kept = normal[:: -(-len(normal) // NORMALS)] if len(normal) else normal
    return np.union1d(np.flatnonzero(label == 1), kept)


def _unlabelled(share: float, contrast: float) -> dict[Group, float]:
    return {"density": share, "contrast": share * contrast, "floods": 1.0}


def _weights(groups: Mapping[str, Group], say: Mapping[Group, float]) -> Weights:
    sizes = Counter(groups.values())
    return {name: say.get(group, 0.0) / sizes[group] for name, group in groups.items()}
