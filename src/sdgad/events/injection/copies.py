"""How many copies injected events come in, so that a given number of rows comes out even."""

from __future__ import annotations

import numpy as np

from sdgad.events.stream import Array

_EXACT = 400  # rows to be divided by the exact law; edges do not matter to more
_ROUNDS = 40
_ALMOST_NEVER = 1e-9


def divided(rows: int, events: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Copies that sum to `rows`, such that a row is as likely to be one of d copies as a real row is.

    `events[d]` is the number of real events that come in d copies. Independent draws, cut off at the end, would have too few
    large ones when the rows are few: there are fewer places for them. At most half of the last rows are copies of
    one event; beside the copies stands the size that an event would have without that limit.
    """
    law = events / events.sum()
    sizes: list[int] = []
    while rows - sum(sizes) > _EXACT + len(events):
        many = max((rows - sum(sizes) - _EXACT) // len(events), 1)
        sizes += rng.choice(len(law), many, p=law).tolist()
    left = rows - sum(sizes)
    largest = min(len(law) - 1, max(left // 2, 1))
    tail = law[largest:]
    last = np.array(_exactly(left, np.append(law[:largest], tail.sum()), rng), np.int64)
    uncut = largest + rng.choice(len(tail), len(last), p=tail / tail.sum()) if tail.any() else last
    copies = np.concatenate([np.array(sizes, np.int64), last])
    return copies, np.concatenate([np.array(sizes, np.int64), np.where(last == largest, uncut, last)])


def _exactly(rows: int, law: Array, rng: np.random.Generator) -> list[int]:
    """Sizes by weights for which, given their sum, the expected rows of each size are in proportion to d · law[d].

    With f the weights and h(j) = Σ_d f(d) h(j − d) those of all ways to fill j rows, the expected share of rows of size d is
    d f(d) Σ_i h(i) h(rows − d − i) / (rows · h(rows)); f is scaled until that is right.
    """
    size = np.arange(len(law))
    wanted = size * law / (size @ law)
    weight = np.maximum(law, _ALMOST_NEVER)  # so that every number of rows can be filled
    weight[0] = 0
    for _ in range(_ROUNDS):
        ways = _ways(rows, weight)
        twice = np.convolve(ways, ways)[: rows + 1]
        share = size * weight * twice[rows - size] / (rows * ways[rows])
        weight *= np.divide(wanted, share, out=np.ones_like(share), where=(share > 0) & (wanted > 0))
        weight /= weight.sum()
    ways, sizes = _ways(rows, weight), []
    while rows:
        possible = size[1 : rows + 1]
        chance = weight[possible] * ways[rows - possible]
        sizes.append(int(rng.choice(possible, p=chance / chance.sum())))
        rows -= sizes[-1]
    return sizes


def _ways(rows: int, weight: Array) -> Array:
    ways = np.zeros(rows + 1)
    ways[0] = 1.0
    for j in range(1, rows + 1):
        most = min(j, len(weight) - 1)
        ways[j] = weight[1 : most + 1] @ ways[j - 1 :: -1][:most]
    return ways
