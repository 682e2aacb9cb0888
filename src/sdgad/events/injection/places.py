"""Where a row stands among those of its time: as real rows do, which may be sorted, grouped, or in any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdgad.events.stream import Array

_LESSONS, _GLANCES = 5000, 500
_ROUNDS, _ENOUGH = 50, 1e-9
_DOUBT = 0.05  # weight of the squared preferences: the fewer the ties, the less is concluded from them
_RELATIONS = 9  # source the same, higher or lower than that of the row before, and so its destination


@dataclass(frozen=True, eq=False)
class Places:
    """A preference θ for each relation that a row can have to the one before it.

    A row is put between two others, l and r, with probability ∝ exp(θ(l, row) + θ(row, r) − θ(l, r)). All zero, every
    place is as likely as any other. Where copies stand `together`, they are put as one, and never between copies.
    """

    preference: Array
    together: bool = False

    @classmethod
    def anywhere(cls) -> Places:
        return cls(np.zeros(_RELATIONS))

    @classmethod
    def learned(cls, src: Array, dst: Array, t: Array, rng: np.random.Generator) -> Places:
        """Preferences with which real rows, taken out and put back, go where they were rather than anywhere else.

        Logistic regression: each lesson is a row, its place, and another place at the same time.
        """
        together = _copies_stand_together(src, dst, t, rng)
        if together:
            heads = np.flatnonzero(_begins(src, dst, t))
            src, dst, t = src[heads], dst[heads], t[heads]
        row, first, size = _tied(t, _LESSONS, rng)
        if not len(row):
            return cls(np.zeros(_RELATIONS), together)
        own = row - first
        other = (own + rng.integers(1, size)) % size
        difference = _gained(src, dst, row, first, size, own) - _gained(src, dst, row, first, size, other)
        return cls(_logistic(difference), together)

    def put(self, src: Array, dst: Array, new_src: Array, new_dst: Array, rng: np.random.Generator) -> Array:
        """Rows that stand in this order and new ones among them: the old ones as −1, the new ones as 0, 1, …"""
        here = _blocks(src, dst) if self.together else np.arange(len(src))
        rows = (
            [np.full(len(block), -1) for block in np.split(np.arange(len(src)), here[1:])] if len(src) else []
        )
        src, dst = src[here], dst[here]
        order = np.lexsort((new_dst, new_src)) if self.together else np.arange(len(new_src))
        starts = _blocks(new_src[order], new_dst[order]) if self.together else order
        blocks = np.split(order, starts[1:])
        for which in rng.permutation(len(blocks)).tolist():
            x, y = new_src[blocks[which][0]], new_dst[blocks[which][0]]
            appeal = np.zeros(len(src) + 1)
            appeal[1:] += self.preference[_relation(src, dst, x, y)]
            appeal[:-1] += self.preference[_relation(x, y, src, dst)]
            appeal[1:-1] -= self.preference[_relation(src[:-1], dst[:-1], src[1:], dst[1:])]
            chance = np.cumsum(np.exp(appeal - appeal.max()))
            place = int(np.searchsorted(chance, rng.random() * chance[-1], side="right"))
            src, dst = np.insert(src, place, x), np.insert(dst, place, y)
            rows.insert(place, blocks[which])
        return np.concatenate(rows)


def _begins(src: Array, dst: Array, t: Array) -> Array:
    """Whether each row differs from the one before."""
    again = (src[1:] == src[:-1]) & (dst[1:] == dst[:-1]) & (t[1:] == t[:-1])
    return np.concatenate([[True], ~again])


def _blocks(src: Array, dst: Array) -> Array:
    """Where runs of copies begin among rows of one time."""
    return np.flatnonzero(_begins(src, dst, np.zeros(len(src)))) if len(src) else np.arange(0)


def _tied(t: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Random rows that share their time, the first row of that time, and how many there are."""
    first, end = np.searchsorted(t, t, side="left"), np.searchsorted(t, t, side="right")
    tied = np.flatnonzero(end - first > 1)
    row = rng.choice(tied, min(most, len(tied)), replace=False) if len(tied) else tied
    return row, first[row], (end - first)[row]


def _copies_stand_together(src: Array, dst: Array, t: Array, rng: np.random.Generator) -> bool:
    """Whether more than half of the rows with copies have one beside them."""
    copied = beside = 0
    alone = _begins(src, dst, t) & np.append(_begins(src, dst, t)[1:], True)
    for row, first, size in zip(*_tied(t, _GLANCES, rng), strict=True):
        here = slice(first, first + size)
        if np.count_nonzero((src[here] == src[row]) & (dst[here] == dst[row])) > 1:
            copied += 1
            beside += not alone[row]
    return 2 * beside > copied


def _relation(src: Array, dst: Array, next_src: Array, next_dst: Array) -> Array:
    """What a row is to the one before it, as a number from 0 to 8."""
    relation: Array = 3 * (np.sign(next_src - src) + 1) + np.sign(next_dst - dst) + 1
    return relation


def _gained(src: Array, dst: Array, row: Array, first: Array, size: Array, place: Array) -> Array:
    """Relations that come up, and those that go, when a row that was taken out is put at a place among the others."""
    left, right = first + place - 1, first + place
    left, right = left + (left >= row), right + (right >= row)
    before, after = place > 0, place < size - 1
    gained = np.zeros((len(row), _RELATIONS))
    for sign, where, one, following in (
        (1, np.flatnonzero(before), left, row),
        (1, np.flatnonzero(after), row, right),
        (-1, np.flatnonzero(before & after), left, right),
    ):
        a, b = one[where], following[where]
        gained[where, _relation(src[a], dst[a], src[b], dst[b])] += sign
    return gained


def _logistic(difference: Array) -> Array:
    """θ that maximises Σ log σ(θ·d) − doubt·|θ|²/2, by Newton's method."""
    theta = np.zeros(difference.shape[1])
    for _ in range(_ROUNDS):
        wrong = 1 / (1 + np.exp(difference @ theta))
        slope = difference.T @ wrong - _DOUBT * theta
        bend = (difference * (wrong * (1 - wrong))[:, None]).T @ difference + _DOUBT * np.eye(len(theta))
        step = np.linalg.solve(bend, slope)
        theta += step
        if np.abs(step).max() < _ENOUGH:
            break
    return theta
