"""Small streams that each hold one kind of trouble: what a method was made for, it has to find here.

In none but `bursts` do counts, first times or silence tell anything: whoever is anomalous is as busy, as well known to the other
and as regular as anybody. Anomalies lie evenly over the stream, from its first hundredths on. Names of nodes end with what the
generator knows of them, behind a random number, so that neither their order nor their codes tell it. The same seed gives the same
bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.stream import EventStream, FeatureColumn

Array = np.ndarray[Any, Any]

EVENTS, SHARE = 8_000, 0.04  # of anomalies
MINUTE = 60.0  # between events, on average
WARM_UP = 0.03  # share of the stream before the first anomaly that breaks a habit


# ---------------------------------------------------------------------- who with whom
def communities(seed: int = 0, groups: int = 10, size: int = 30, spread: float = 0.0) -> EventStream:
    """Everybody meets people of the own community; an edge across is an anomaly.

    A pair within is drawn from all of them; a pair across from a circle of such pairs that is as small, for the events it gets,
    as that of pairs within: so both are new, or the third time, equally often. Nodes have cross pairs in turn, so that
    nobody is a broker. `spread` is that of the groups' (log) activity.
    """
    rng = _drawing(seed)
    nodes = groups * size
    group = np.arange(nodes) // size
    first, second = np.triu_indices(nodes, 1)
    same = group[first] == group[second]
    within = np.stack([first[same], second[same]], 1)
    odd = rng.permutation(np.arange(EVENTS) < round(SHARE * EVENTS))
    wanted = round(len(within) * odd.sum() / (~odd).sum())
    across = _in_turn(wanted, group, rng)
    busy = np.exp(spread * rng.normal(size=groups))[group]
    pair = np.empty((EVENTS, 2), np.int64)
    for rows, pairs in ((~odd, within), (odd, across)):
        weight = np.sqrt(busy[pairs].prod(1))
        pair[rows] = pairs[rng.choice(len(pairs), rows.sum(), p=weight / weight.sum())]
    turned = rng.random(EVENTS) < 0.5
    pair[turned] = pair[turned, ::-1]
    names = _names(nodes, rng, [f"c{each:02d}" for each in group])
    return _stream(names, pair, _times(EVENTS, rng), np.where(odd, "across", ""))


def circles(seed: int = 0) -> EventStream:
    """Communities of six, where everybody knows everybody, so that the closest neighbours of two friends are the same few."""
    return communities(seed, groups=50, size=6, spread=0.6)


def _in_turn(count: int, group: Array, rng: np.random.Generator) -> Array:
    """Distinct pairs of nodes of different groups, in which every node occurs as often as any other, give or take one."""
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        for one, two in rng.permutation(len(group)).reshape(-1, 2).tolist():
            if group[one] != group[two]:
                found[min(one, two), max(one, two)] = None
    return np.array(list(found)[:count])


# ---------------------------------------------------------------------- how often
def bursts(seed: int = 0, nodes: int = 200, incidents: int = 16) -> EventStream:
    """In the ordinary course of a minute one event happens; now and then one pair, or one source with anybody, has twenty.

    An incident lasts about a minute. Its source, and the destination of a pair, are such as have been met before.
    """
    rng = _drawing(seed)
    burst = round(SHARE * EVENTS)
    people = _People.draw(nodes, rng)
    src, dst = people.meet(EVENTS - burst, rng)
    t = _times(EVENTS - burst, rng)
    start = np.linspace(WARM_UP, 1.0, incidents, endpoint=False) + rng.uniform(0, 0.03, incidents)
    row = (start * len(t)).astype(np.int64)
    of = np.arange(burst) % incidents
    pair = rng.permutation(incidents) % 2 == 0
    anybody = (src[row[of]] + rng.integers(1, nodes, burst)) % nodes
    when = t[row[of]] + rng.uniform(0, MINUTE, burst)
    order = np.argsort(np.concatenate([t, when]), kind="stable")
    both = np.stack(
        [np.append(src, src[row[of]]), np.append(dst, np.where(pair[of], dst[row[of]], anybody))], 1
    )
    kind = np.append(np.full(len(t), "", object), np.where(pair[of], "pair", "source"))
    names = _names(nodes, rng, ["n"] * nodes)
    return _stream(names, both[order], np.append(t, when)[order], kind[order])


# ---------------------------------------------------------------------- with what
PLANS = tuple(f"plan {number}" for number in range(14))
PAYMENT = "payment"
NO_LARGE, NO_SMALL = 3, 8  # plans that allow no large payments, and no small ones


def labelled_pattern(seed: int = 0, nodes: int = 240) -> EventStream:
    """Payments that one's plan does not allow: of plan 3 the large ones, of plan 8 the small ones.

    A renewal, two events in five, shows the plan of its source (`kind`), and now and then changes it; a payment does not. Plans
    are equally many and amounts alike in all of them, so no value and no combination is rarer than others: without labels there
    is nothing to find, with them it takes both the amount and a look at the past.
    """
    rng = _drawing(seed)
    src, dst = _People.draw(nodes, rng).meet(EVENTS, rng)
    plan, held = rng.permutation(nodes) % len(PLANS), np.empty(EVENTS, np.int64)
    renewal, moves = rng.random(EVENTS) < 0.4, rng.random(EVENTS) < 0.03
    drawn = rng.integers(0, len(PLANS), EVENTS)
    for row in range(EVENTS):  # plans change as events go by
        if renewal[row] and moves[row]:
            plan[src[row]] = drawn[row]
        held[row] = plan[src[row]]
    large = rng.random(EVENTS) < 0.5
    amount = np.where(large, 1, -1) + rng.normal(0, 0.3, EVENTS)
    odd = ~renewal & (((held == NO_LARGE) & large) | ((held == NO_SMALL) & ~large))
    kind = np.where(renewal, held, len(PLANS))
    features = (FeatureColumn("kind", (*PLANS, PAYMENT)), FeatureColumn("amount"))
    names = _names(nodes, rng, ["n"] * nodes)
    both, found = np.stack([src, dst], 1), np.where(odd, "against the plan", "")
    return _stream(names, both, _times(EVENTS, rng), found, np.stack([kind, amount], 1), features)


def unseen_kind(seed: int = 0, nodes: int = 200) -> EventStream:
    """Everybody sends things of one weight and one length; too heavy ones come from the start, wrong lengths in the test part.

    Both are wrong for this source alone: others have such values every day. In the last 40% half of the anomalies are of
    either kind.
    """
    rng = _drawing(seed)
    src, dst = _People.draw(nodes, rng).meet(EVENTS, rng)
    habit = rng.normal(0, 1.5, (nodes, 2))
    value = habit[src] + rng.normal(0, 0.25, (EVENTS, 2))
    early = round(WARM_UP * EVENTS)
    odd = early + np.flatnonzero(rng.permutation(np.arange(EVENTS - early) < round(SHARE * EVENTS)))
    wrong = rng.uniform(1.0, 2.5, len(odd))
    new = (odd >= 0.6 * EVENTS) & (rng.random(len(odd)) < 0.5)
    value[odd[~new], 0] += wrong[~new]
    side = np.where(rng.random(len(odd)) < 0.5, 1, -1)
    value[odd[new], 1] += (side * wrong)[new]
    kind = np.full(EVENTS, "", object)
    kind[odd] = np.where(new, "length", "weight")
    names = _names(nodes, rng, ["n"] * nodes)
    features = (FeatureColumn("weight"), FeatureColumn("length"))
    return _stream(names, np.stack([src, dst], 1), _times(EVENTS, rng), kind, value, features)


# ---------------------------------------------------------------------- by name
@dataclass(frozen=True)
class HomeStream:
    """A stream by its seed, the setting in which it is a fair question, and what is wrong in it."""

    make: Callable[[int], EventStream]
    setting: str
    trouble: str


HOME_STREAMS = {
    "communities": HomeStream(communities, "S3", "edges across communities of 30"),
    "circles": HomeStream(circles, "S3", "edges across circles of six"),
    "bursts": HomeStream(bursts, "S3", "one pair or one source repeats within a minute"),
    "labelled": HomeStream(labelled_pattern, "S1", "a pattern of features and history that only labels tell"),
    "unseen": HomeStream(unseen_kind, "S1", "half of the test anomalies are of a kind that training lacks"),
}


# ---------------------------------------------------------------------- parts
@dataclass(frozen=True, eq=False)
class _People:
    """How busy everybody is, and six favourite partners each."""

    activity: Array
    friends: Array

    @classmethod
    def draw(cls, nodes: int, rng: np.random.Generator) -> _People:
        activity = np.exp(0.5 * rng.normal(size=nodes))
        steps = np.stack([rng.permutation(nodes - 1)[:6] + 1 for _ in range(nodes)])
        return cls(activity / activity.sum(), (np.arange(nodes)[:, None] + steps) % nodes)

    def meet(self, events: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Sources by activity, destinations among their friends, one time in four anybody else."""
        nodes = len(self.activity)
        src = rng.choice(nodes, events, p=self.activity)
        friend = self.friends[src, rng.integers(0, 6, events)]
        anybody = (src + rng.integers(1, nodes, events)) % nodes
        return src, np.where(rng.random(events) < 0.25, anybody, friend)


def _drawing(seed: int) -> np.random.Generator:
    if seed < 0:
        raise InputError(f"seed={seed}: a seed is not negative.")
    return np.random.default_rng(seed)


def _times(events: int, rng: np.random.Generator) -> Array:
    times: Array = np.cumsum(rng.exponential(MINUTE, events))
    return times


def _names(nodes: int, rng: np.random.Generator, known: list[str]) -> pa.Array:
    return pa.array(
        [f"{number:03d}-{each}" for number, each in zip(rng.permutation(nodes), known, strict=True)],
        pa.large_string(),
    )


def _stream(
    names: pa.Array,
    pair: Array,
    t: Array,
    kind: Array,
    msg: Array | None = None,
    features: tuple[FeatureColumn, ...] = (),
) -> EventStream:
    src, dst = (names.take(pa.array(side)) for side in pair.T)
    return EventStream(
        src, dst, np.round(t, 3), None if msg is None else msg.astype(np.float32), (kind != "").astype(np.float32),
        features=features, anomaly_type=kind.astype(str), clock=Clock("s"),
    )  # fmt: skip
