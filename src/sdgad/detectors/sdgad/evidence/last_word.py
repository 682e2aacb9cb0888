"""LastWord: what learned from labels knows the kinds of trouble that it was shown; what needs none may overrule it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.join import Weights, by_rule, joined
from sdgad.detectors.sdgad.evidence.panel import Numbers
from sdgad.detectors.sdgad.evidence.tail import Tail
from sdgad.events.held import held, number
from sdgad.events.stream import Array

NEEDS_NO_LABEL = ("density", "contrast", "unfamiliar")
RAREST = 0.001  # share of normals among which known anomalies are looked for
DOUBT = 10.0  # known anomalies that are taken not to be there
RESPECT = 0.5  # nats
MOST_RARER = 1e3
MOST_SAY = 1e6
LEAST_SUM = 1e-9


@dataclass(frozen=True, eq=False)
class LastWord:
    """max(−log P(S' ≥ S), −log P(U' ≥ U) − c): S is the sum of all evidence, U that of what needs no label, by the rule that
    holds without labels; S' and U' are those of a normal event.

    Trees that learned one kind of anomaly call another kind ordinary, and validation, which has no other, lets them lead. How far
    what needs no label is to be trusted is told by the known anomalies: c = ½ − log r, with r = (k + ½) / (n + 10) where U puts k
    of n validation anomalies among the rarest thousandth of events. Where anomalies are no rarities, c is beyond what is seen.
    """

    say: Weights  # of kinds that need no label
    whole: Tail  # the unit of S
    unlabelled: Tail  # and of U
    rarer: float  # c

    @classmethod
    def fit(
        cls, groups: Mapping[str, Group], weights: Weights, nats: Numbers, anomalous: Array
    ) -> Self | None:
        """From nats of validation events, and which of them are anomalous; None where nothing learned from labels."""
        plain = {name: group for name, group in groups.items() if group in NEEDS_NO_LABEL}
        if "known" not in groups.values() or not plain:
            return None
        say = by_rule(plain, 0)
        normal = ~anomalous | anomalous.all()
        whole, other = joined(nats, weights), joined(nats, say)
        unlabelled = Tail.fit(other[normal])
        found = np.sum(unlabelled(other[anomalous]) >= -np.log(RAREST))
        share = (found + 0.5) / (anomalous.sum() + DOUBT)
        return cls(say, Tail.fit(whole[normal]), unlabelled, float(RESPECT - np.log(share)))

    def __call__(self, nats: Numbers, total: Array) -> Array:
        """In nats, from those of every kind and their sum."""
        found: Array = np.maximum(self.whole(total), self._other(nats))
        return found

    def shares(self, nats: Numbers, weights: Weights) -> dict[str, Array]:
        """Weights `[B]` of every kind under which its nats add up to what `__call__` says: those of the sum that decides."""
        total = joined(nats, weights)
        overruled = self._other(nats) > self.whole(total)
        decides = np.where(overruled, joined(nats, self.say), total)
        scale = np.where(decides > LEAST_SUM, self(nats, total) / np.maximum(decides, LEAST_SUM), 1.0)
        return {
            name: scale * np.where(overruled, self.say.get(name, 0.0), weight)
            for name, weight in weights.items()
        }

    def _other(self, nats: Numbers) -> Array:
        other: Array = self.unlabelled(joined(nats, self.say)) - self.rarer
        return other

    # ------------------------------------------------------------------ files
    def arrays(self) -> dict[str, Array]:
        both = {"whole": self.whole, "unlabelled": self.unlabelled}
        tails = {
            f"{part}.{name}": array for part, tail in both.items() for name, array in tail.arrays().items()
        }
        return {**tails, "rarer": np.array(self.rarer)}

    @classmethod
    def from_file(cls, say: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """The inverse of `say` and `arrays`; a ValueError where they are something else."""
        parts: dict[str, dict[str, Array]] = {"whole": {}, "unlabelled": {}}
        rarer = held(arrays, "rarer", "f8", (), low=0, high=MOST_RARER)
        for key, array in arrays.items():
            if key == "rarer":
                continue
            part, _, name = key.partition(".")
            if part not in parts:
                raise ValueError(f"the last word has no part {part!r}")
            parts[part][name] = array
        weights = {
            name: number(weight, f"the last word of {name!r}", low=0, high=MOST_SAY)
            for name, weight in say.items()
        }
        whole, unlabelled = map(Tail.from_arrays, parts.values())
        return cls(weights, whole, unlabelled, float(rarer))
