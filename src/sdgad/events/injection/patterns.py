"""Four more patterns: a burst, a dormant pair, swapped roles, a coordinated group."""

from __future__ import annotations

import numpy as np

from sdgad.events.injection.material import Draft
from sdgad.events.injection.recipe import ATTEMPTS, Recipe, tell_known
from sdgad.events.stream import Array

INCIDENT = 5  # events of one burst, or of one group
_SHORT = 0.05  # quantile of a source's gaps that counts as moments
_LONG = 0.9  # quantile of a pair's gaps from which on it is dormant


def burst(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    """A pair that acts five times in a row, moments apart; with less salience, at gaps closer to the usual."""
    material, incident = recipe.material, np.arange(count) // INCIDENT
    anchors = recipe.anchors(incident[-1] + 1, salience, rng)[incident]
    t = _close_together(recipe, recipe.pair_times(anchors, rng), incident, salience, rng)
    return Draft(material.src[anchors], material.dst[anchors], t, recipe.contexts(anchors), incident)


def dormant(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    """A pair that acts again when it has been silent for longer than nine in ten pauses of pairs last.

    With salience s the silence is g·(silence/g)^s, g the median pause.
    """
    material, past = recipe.material, recipe.material.remembered
    ended = past.pause[~np.isnan(past.pause)]
    usual, long = np.quantile(ended, [0.5, _LONG]) if len(ended) else (0.0, 0.0)
    silence = np.where(np.isnan(past.pause), material.last - past.t, past.pause)
    active = np.isin(past.src, material.sources) & np.isin(past.dst, material.destinations)
    asleep = np.flatnonzero(active & (silence > long) & (past.t + silence > material.first))
    if not len(asleep):
        asleep, long = np.flatnonzero(active), 0.0
    start = np.full(count, max(float(past.t[asleep].min() + long), material.first))
    wake = recipe.sometime(np.minimum(start, material.last), np.full(count, material.last), rng)
    anchors, todo = rng.choice(asleep, count), np.arange(count)
    for _ in range(10 * ATTEMPTS):
        slept = wake[todo] - past.t[anchors[todo]]
        todo = todo[(slept < long) | (slept > silence[anchors[todo]])]
        if not len(todo):
            break
        anchors[todo] = rng.choice(asleep, len(todo))
    length = np.clip(wake - past.t[anchors], np.minimum(long, silence[anchors]), silence[anchors])
    usual = max(float(usual), material.grid.tick)
    length = np.where(length > usual, usual * (length / usual) ** salience, length)
    t = np.maximum(past.t[anchors] + length, material.first)
    return Draft(past.src[anchors], past.dst[anchors], t, None if past.msg is None else past.msg[anchors])


def swapped(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    """The destination of a pair acts as its source, which it never did; with probability 1 − s the pair as ever."""
    material = recipe.material
    anchors = recipe.anchors(count, salience, rng)
    turned = rng.random(count) < salience
    todo = np.flatnonzero(turned)
    for _ in range(ATTEMPTS):
        src, dst = material.dst[anchors[todo]], material.src[anchors[todo]]
        acts = np.isin(src, material.sources) & np.isin(dst, material.destinations)
        todo = todo[recipe.unfit(src, dst) | ~acts]
        if not len(todo):
            break
        anchors[todo] = recipe.anchors(len(todo), salience, rng)
    turned[todo] = False  # there are none left that could be turned round
    tell_known(len(todo), count)
    src = np.where(turned, material.dst[anchors], material.src[anchors])
    dst = np.where(turned, material.src[anchors], material.dst[anchors])
    return Draft(src, dst, recipe.own_times(src, material.t[anchors], rng), recipe.contexts(anchors))


def group(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    """Five sources turn to one destination that none of them knows, moments apart.

    With less salience the gaps are closer to the usual, and a source is sometimes one that knows it (see `foreign`).
    """
    material, incident = recipe.material, np.arange(count) // INCIDENT
    targets = recipe.anchors(incident[-1] + 1, salience, rng)[incident]
    dst, members = material.dst[targets], targets.copy()
    todo = np.flatnonzero(rng.random(count) < recipe.foreign(salience))
    for _ in range(ATTEMPTS):
        members[todo] = rng.integers(len(material), size=len(todo))
        known = recipe.unfit(material.src[members], dst)
        todo = todo[(known | _repeated(incident * material.nodes + material.src[members]))[todo]]
        if not len(todo):
            break
    tell_known(int(known[todo].sum()), count)
    start = recipe.own_times(material.src[targets], material.t[targets], rng)
    t = _close_together(recipe, start, incident, salience, rng)
    return Draft(material.src[members], dst, t, recipe.contexts(members), incident)


def _repeated(values: Array) -> Array:
    """Where a value occurs that has occurred before."""
    repeated = np.ones(len(values), bool)
    repeated[np.unique(values, return_index=True)[1]] = False
    return repeated


def _close_together(
    recipe: Recipe, start: Array, incident: Array, salience: float, rng: np.random.Generator
) -> Array:
    """Times of incidents: each begins at the start of its first event and goes on at short gaps."""
    material = recipe.material
    short, usual = np.maximum(np.quantile(material.ties.gaps, [_SHORT, 0.5]), material.grid.tick)
    gap = usual * (short / usual) ** salience * rng.uniform(0.5, 1.5, len(start))
    first = np.searchsorted(incident, incident)
    elapsed = np.cumsum(gap)
    elapsed -= elapsed[first]
    length = elapsed[np.searchsorted(incident, incident, side="right") - 1]
    t: Array = np.maximum(np.minimum(start[first], material.last - length), material.first) + elapsed
    return t
