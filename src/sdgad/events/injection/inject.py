"""Anomalies put among the events of a stream that has none, or not enough."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from sdgad.errors import InputError
from sdgad.events.injection.clean import Clean
from sdgad.events.injection.insertion import after, insert
from sdgad.events.injection.kinds import KINDS
from sdgad.events.injection.material import Draft, Material
from sdgad.events.injection.published import Published
from sdgad.events.injection.recipe import Recipe
from sdgad.events.stream import Array, EventStream

logger = logging.getLogger("sdgad.events")

PRESETS: dict[str, type[Recipe]] = {"clean": Clean, "paper": Published}
"""Names → how events are made."""


def inject(
    events: EventStream,
    rates: Mapping[str, float],
    *,
    seed: int = 0,
    reference: EventStream | None = None,
    preset: Literal["clean", "paper"] = "clean",
    salience: float | Mapping[str, float] = 1.0,
) -> EventStream:
    """The events with anomalies among them: label 1 and an `anomaly_type`, `""` for real events.

    `rates` says how many of each kind: floor(rate · benign events) rows. Kinds are T (time), C (context: features), S (structure:
    partner), their combinations TC, SC, TSC, and burst, dormant, swapped, group; `sdgad.events.injection.KINDS` describes them.
    `preset` says how they are made: "paper" as published (Postuvan et al., TMLR 2024, and the paper's appendix on data
    preprocessing), "clean" so that nothing but the anomaly itself gives them away (`sdgad data audit` tells).

    `salience` in [0, 1], one number or one per kind, says how far an anomaly is from what is usual: 1 is the
    classical recipe; 0 takes real events out and puts them back with label 1, so that only the label changes. Above
    0 real events are neither changed nor reordered.

    A foreign pair has not been observed in the part, nor in `reference`: by default all predecessors of the part
    (clean), or the training part (paper). Times stay within the part's. The same arguments give the same events.
    """
    amounts = _amounts(events, rates)
    dial = _dial(salience, amounts)
    if preset not in PRESETS:
        raise InputError(f"There is no preset {preset!r} to inject by; there are: {', '.join(PRESETS)}.")
    if seed < 0:
        raise InputError(f"seed={seed}: a seed is not negative.")
    recipe_type = PRESETS[preset]
    anew = {name: count for name, count in amounts.items() if count and dial[name] > 0}
    result = events
    if anew:
        other = reference if reference is not None else recipe_type.reference(events)
        if other is not None and other.bipartite != events.bipartite:
            raise InputError("The events and their reference must both be bipartite, or neither.")
        recipe = recipe_type(Material.of(events, other))
        made = [
            recipe.make(KINDS[name].make, count, dial[name], _rng(seed, name)) for name, count in anew.items()
        ]
        kind = np.concatenate([np.full(len(draft), name) for name, draft in zip(anew, made, strict=True)])
        draft = _together(made)
        draft = replace(draft, t=recipe.material.grid.restored(draft.t, events.t))
        order = _rng(seed, "order")
        result = insert(events, draft, kind, recipe_type.places(events, order), order)
    for name, count in amounts.items():
        if count and dial[name] == 0:
            result = _relabelled(result, name, count, _rng(seed, name))
    return result if result is not events else _typed(events)


def _amounts(events: EventStream, rates: Mapping[str, float]) -> dict[str, int]:
    """Rows per kind, in the order of `KINDS`: floor(rate · benign events)."""
    unknown = [name for name in rates if name not in KINDS]
    if unknown:
        raise InputError(f"There is no kind of anomaly {unknown[0]!r}; there are: {', '.join(KINDS)}.")
    benign = int(np.count_nonzero(events.label != 1))
    amounts = {}
    for name in [name for name in KINDS if name in rates]:
        rate, kind = rates[name], KINDS[name]
        if not 0 <= rate <= 1:
            raise InputError(f"The rate {rate} of {name} is not between 0 and 1.")
        if kind.needs_features and events.msg is None:
            raise InputError(f"Anomalies of kind {name} change features, and these events have none.")
        if kind.needs_one_side and events.bipartite:
            raise InputError(f"Anomalies of kind {name} swap roles, which a bipartite stream does not allow.")
        amounts[name] = int(np.floor(rate * benign + 1e-9))
        if rate > 0 and not amounts[name]:
            logger.warning(
                "%s: a share of %g of %d events is less than one; none is injected.", name, rate, benign
            )
    return amounts


def _dial(salience: float | Mapping[str, float], kinds: Mapping[str, int]) -> dict[str, float]:
    """Salience per kind; 1 for those that a mapping leaves out."""
    given = salience if isinstance(salience, Mapping) else dict.fromkeys(kinds, salience)
    for name, value in given.items():
        if name not in KINDS:
            raise InputError(f"There is no kind of anomaly {name!r}; there are: {', '.join(KINDS)}.")
        if not 0 <= value <= 1:
            raise InputError(f"The salience {value} of {name} is not between 0 and 1.")
    return {name: float(given.get(name, 1.0)) for name in kinds}


def _relabelled(events: EventStream, name: str, count: int, rng: np.random.Generator) -> EventStream:
    """Some benign events, each as likely as any other, called anomalous."""
    benign = np.flatnonzero(events.label != 1)
    chosen = rng.choice(benign, min(count, len(benign)), replace=False)
    typed = _typed(events)
    kinds, label = typed.anomaly_type, typed.label.copy()
    assert kinds is not None
    kinds = kinds.astype(np.result_type(kinds, np.array(name)))
    kinds[chosen], label[chosen] = name, 1
    return after(events, typed.with_columns(label=label, anomaly_type=kinds))


def _typed(events: EventStream) -> EventStream:
    """With anomaly types, and labels where nothing was labelled."""
    kinds = np.full(len(events), "") if events.anomaly_type is None else events.anomaly_type
    label = events.label if events.has_labels else np.zeros(len(events), np.float32)
    return events.with_columns(label=label, anomaly_type=kinds)


def _together(drafts: list[Draft]) -> Draft:
    def column(parts: list[Array]) -> Array:
        return np.concatenate(parts)

    msg = [draft.msg for draft in drafts if draft.msg is not None]
    return Draft(
        column([draft.src for draft in drafts]),
        column([draft.dst for draft in drafts]),
        column([draft.t for draft in drafts]),
        column(msg) if msg else None,
    )


def _rng(seed: int, name: str) -> np.random.Generator:
    """Each kind draws on its own: one more kind changes none of the others' draws.

    As published, that leaves the others' events as they are, but for their order among equal times. In the clean
    preset, two events do not get one seat, so that an event may be moved where one more kind takes its own.
    """
    return np.random.default_rng([seed, zlib.crc32(name.encode())])
