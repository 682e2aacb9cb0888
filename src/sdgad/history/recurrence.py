"""Exponentially decayed counts, for many sequences at once."""

from __future__ import annotations

import numpy as np

from sdgad.history.grouping import Array

BLOCK = 256


def decayed_counts(gap: Array, start: Array, scale: float) -> Array:
    """S_i = 1 + S_{i−1} · exp(−gap_i / scale), starting anew at every position in `start`.

    `gap[i]` is the time since the element before. This is how a count decays at an event stream: one
    multiplication and one addition per event, so the same number can be kept live.
    """
    decay = np.exp(gap / -scale)
    return linear_recurrence(decay, np.ones_like(decay), start)


def linear_recurrence(decay: Array, add: Array, start: Array) -> Array:
    """S_i = decay_i · S_{i−1} + add_i, where S is 0 before each `start`; no Python step per element.

    `start` are the increasing positions where sequences begin, the first of them 0. Each sequence is cut
    into blocks of 256 from its own beginning, so that its sums depend on nothing but itself, to the last bit:
    not on the sequences beside it, and not on what is appended later. All blocks advance together, element by
    element, from zero; the ends of the blocks form shorter recurrences of the same kind; their solution,
    carried into the blocks, completes the sums.
    """
    length = np.diff(start, append=len(add))
    blocks = -(-length // BLOCK)  # per sequence
    first = np.cumsum(blocks) - blocks  # the first block of each sequence
    begin = np.repeat(start - first * BLOCK, blocks) + np.arange(blocks.sum()) * BLOCK
    size = np.diff(begin, append=len(add))

    sums, left = add.astype(np.float64), decay.astype(np.float64)
    by_size = np.argsort(-size, kind="stable")
    running = begin[by_size]
    for at_least in np.searchsorted(-size[by_size], -np.arange(2, size.max(initial=0) + 1), side="right"):
        here = running[:at_least] + 1  # the blocks that have an element more
        sums[here] += left[here] * sums[here - 1]
        left[here] *= left[here - 1]  # how much of what entered the block is left after this element
        running = here
    if len(begin) == len(start):  # no sequence has a second block
        return sums
    end = begin + size - 1
    carry = np.append(0.0, linear_recurrence(left[end], sums[end], first)[:-1])
    carry[first] = 0.0
    sums += left * np.repeat(carry, size)
    return sums
