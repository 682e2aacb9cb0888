"""One join: the say of every kind of evidence in the sum Σ w · nats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np

from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.panel import Numbers
from sdgad.events.stream import Array
from sdgad.metrics import mixture

CONTRAST = 1.0  # the say of contrast beside that of density: which of the two sees more differs from stream to stream
UNFAMILIAR = (
    2.25  # of how little is known: of the source, of the two together, and of the source before this hour
)
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


def by_rule(groups: Mapping[str, Group], labels: int, densities: float = 1.0) -> Weights:
    """Without looking at a label: of m labelled anomalies, what needs no label has the share a = 20 / (20 + m), likeness in
    closed form 20 / (20 + m) of the rest where something learned from labels as well, and that what is left.

    Kinds of one group share its say evenly; that of densities is `densities` times what it would be (`sight.py`).
    """
    held = set(groups.values())
    share = TRUST / (TRUST + labels) if held & {"like", "known"} else 1.0
    closed = float("like" in held)
    if held >= {"like", "known"}:
        closed = FEW_LABELS / (FEW_LABELS + labels)
    unlabelled = _unlabelled(share, CONTRAST)
    unlabelled["density"] *= densities
    return _weights(
        groups,
        {**unlabelled, "like": (1 - share) * closed, "known": (1 - share) * (1 - closed)},
    )


def chosen(groups: Mapping[str, Group], label: Array, nats: Numbers) -> Weights:
    """By validation labels, from a list: the mean of all that are as good as the best. Fewer than 20 anomalies choose nothing.

    Units of the list are the closed forms; where something learned from labels these come first, and their mean is one unit
    beside each of those that learned.
    """
    like, known = ([{name: 1.0} for name, group in groups.items() if group == of] for of in ("like", "known"))
    if not (like or known) or label.sum() < FEW_LABELS:
        raise ValueError("nothing to choose by")
    seen = _sample(label)
    label, nats = label[seen], {name: value[seen] for name, value in nats.items()}
    if like and known:
        nothing = dict.fromkeys(groups, 0.0)
        closed = _best([_mixed(nothing, 0.0, some) for some in _subsets(like)], label, nats)
        known.append({name: weight for name, weight in closed.items() if weight})
    shares = [(0.0, 0.0), *product(UNLABELLED_SHARES, CONTRASTS)]
    listed = [
        _mixed(_weights(groups, _unlabelled(share, contrast)), share, some)
        for (share, contrast), some in product(shares, _subsets(known or like))
    ]
    return _best(listed, label, nats)


def _subsets(units: Sequence[Weights]) -> list[tuple[Weights, ...]]:
    """One, two, or all of them."""
    few = [some for size in range(1, TOGETHER + 1) for some in combinations(units, size)]
    return few if len(units) <= TOGETHER else [*few, tuple(units)]


def _mixed(weights: Weights, share: float, units: Sequence[Weights]) -> Weights:
    """What needs no label as it is, and units evenly, with the rest of the say."""
    mixed = dict(weights)
    for unit in units:
        for name, weight in unit.items():
            mixed[name] += (1 - share) * weight / len(units)
    return mixed


def _best(listed: Sequence[Weights], label: Array, nats: Numbers) -> Weights:
    """The mean of all that are not worse than the best by more than 0.08 / √n."""
    worth = np.array([mixture(label, joined(nats, weights)) for weights in listed])
    good = np.flatnonzero(worth >= worth.max() - MARGIN / np.sqrt(label.sum())).tolist()
    return {name: float(np.mean([listed[i][name] for i in good])) for name in listed[0]}


def _sample(label: Array) -> Array:
    """All anomalies and, of the others, at most 50,000 in even steps."""
    normal = np.flatnonzero(label != 1)
    kept = normal[:: -(-len(normal) // NORMALS)] if len(normal) else normal
    return np.union1d(np.flatnonzero(label == 1), kept)


def _unlabelled(share: float, contrast: float) -> dict[Group, float]:
    return {"density": share, "contrast": share * contrast, "unfamiliar": share * UNFAMILIAR, "floods": 1.0}


def _weights(groups: Mapping[str, Group], say: Mapping[Group, float]) -> Weights:
    sizes = Counter(groups.values())
    return {name: say.get(group, 0.0) / sizes[group] for name, group in groups.items()}
