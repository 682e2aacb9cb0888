"""Kinds of anomalies by name: what of an event is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdgad.events.injection import patterns
from sdgad.events.injection.material import Draft
from sdgad.events.injection.recipe import Recipe

Maker = Callable[[Recipe, int, float, np.random.Generator], Draft]


@dataclass(frozen=True)
class Kind:
    """`make(recipe, count, salience, rng)` gives that many events; `title` says in a phrase what is wrong with them."""

    title: str
    make: Maker
    needs_features: bool = False
    needs_one_side: bool = False  # nodes that can be source and destination


def temporal(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    (anchors, t), material = recipe.moved(count, salience, rng), recipe.material
    return Draft(material.src[anchors], material.dst[anchors], t, recipe.contexts(anchors))


def contextual(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    anchors, material = recipe.anchors(count, salience, rng), recipe.material
    t = recipe.pair_times(anchors, rng)
    msg = recipe.other_contexts(anchors, salience, rng)
    return Draft(material.src[anchors], material.dst[anchors], t, msg)


def structural(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    anchors, dst = recipe.foreign_partners(recipe.anchors(count, salience, rng), salience, rng)
    t = recipe.times(anchors, dst, rng)
    return Draft(recipe.material.src[anchors], dst, t, recipe.contexts(anchors))


def temporal_contextual(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    (anchors, t), material = recipe.moved(count, salience, rng), recipe.material
    msg = recipe.other_contexts(anchors, salience, rng)
    return Draft(material.src[anchors], material.dst[anchors], t, msg)


def structural_contextual(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    anchors, dst = recipe.foreign_partners(recipe.anchors(count, salience, rng), salience, rng)
    t = recipe.times(anchors, dst, rng)
    return Draft(recipe.material.src[anchors], dst, t, recipe.other_contexts(anchors, salience, rng))


def all_three(recipe: Recipe, count: int, salience: float, rng: np.random.Generator) -> Draft:
    anchors, t = recipe.moved(count, salience, rng)
    src, dst = recipe.foreign_pairs(anchors, salience, rng)
    others = rng.integers(len(recipe.material), size=count)
    return Draft(src, dst, t, recipe.contexts(np.where(rng.random(count) < salience, others, anchors)))


KINDS = {
    "T": Kind("a known pair at a time that is not its own", temporal),
    "C": Kind("a known pair with features far from its own", contextual, needs_features=True),
    "S": Kind("a source with a partner that it never had", structural),
    "TC": Kind("time and features wrong", temporal_contextual, needs_features=True),
    "SC": Kind("partner and features wrong", structural_contextual, needs_features=True),
    "TSC": Kind("two strangers, at any time, with anybody's features", all_three, needs_features=True),
    "burst": Kind("a pair many times within moments", patterns.burst),
    "dormant": Kind("a pair again after a long silence", patterns.dormant),
    "swapped": Kind("a pair the other way round than ever", patterns.swapped, needs_one_side=True),
    "group": Kind("several sources, all new to one destination, at about one time", patterns.group),
}
"""Names → kinds: Postuvan et al.'s, the paper's S, and four patterns of ours."""
