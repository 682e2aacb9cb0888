"""One join: the say of every kind of evidence in the sum Σ w · nats."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.panel import Numbers
from sdgad.events.stream import Array
from sdgad.metrics import mixture

CONTRAST = 0.5  # of a density
TRUST = 3.0  # labelled anomalies that have as much say as what needs none
UNLABELLED_SHARES = (0.0, 0.15, 0.5, 0.85)
CONTRASTS = (0.0, CONTRAST)
BEST = 3  # of the short list, whose weights are averaged: validation anomalies are few

Weights = dict[str, float]


def joined(nats: Numbers, weights: Weights) -> Array:
    """Σ w · nats, in the order of names: the last bits of a sum depend on it."""
    total: Array = np.sum([weights[name] * nats[name] for name in sorted(weights)], 0)
    return total


def by_rule(groups: Mapping[str, Group], labels: int) -> Weights:
    """Without looking at a score: what needs no label has the share a = 3 / (3 + m), known anomalies 1 − a, m being labelled.

    Kinds of one group share its say evenly.
    """
    share = TRUST / (TRUST + labels) if "known" in groups.values() else 1.0
    return _weights(groups, share, CONTRAST, [name for name, group in groups.items() if group == "known"])


def chosen(groups: Mapping[str, Group], label: Array, nats: Numbers) -> Weights:
    """By validation labels, from a short list: the mean of the best three. Fewer than 20 anomalies choose nothing."""
    known = [name for name, group in groups.items() if group == "known"]
    if not known or label.sum() < FEW_LABELS:
        raise ValueError("nothing to choose by")
    subsets = [known, *([name] for name in known if len(known) > 1)]
    listed = [
        _weights(groups, share, contrast, some)
        for share, contrast, some in product(UNLABELLED_SHARES, CONTRASTS, subsets)
    ]
    ranked = sorted(listed, key=lambda weights: -mixture(label, joined(nats, weights)))
    return {name: float(np.mean([weights[name] for weights in ranked[:BEST]])) for name in groups}


def _weights(groups: Mapping[str, Group], share: float, contrast: float, known: list[str]) -> Weights:
    say = {"density": share, "contrast": share * contrast, "floods": 1.0, "known": 1.0 - share}
    members: dict[str, list[str]] = {}
    for name, group in groups.items():
        if group != "known" or name in known:
            members.setdefault(group, []).append(name)
    return {
        name: say[group] / len(members[group]) if name in members.get(group, []) else 0.0
        for name, group in groups.items()
    }
