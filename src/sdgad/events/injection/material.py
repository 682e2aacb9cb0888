"""What injected events are made of, and what they are before they are put in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdgad.events.clock import Clock
from sdgad.events.injection.grid import Grid
from sdgad.events.injection.observed import Observed
from sdgad.events.injection.rows import Rows, joined
from sdgad.events.injection.ties import Ties
from sdgad.events.stream import Array, EventStream, FeatureColumn


@dataclass(frozen=True, eq=False)
class Draft:
    """Events to be: endpoints, the time that is wanted for each, features, and which of them belong together."""

    src: Array
    dst: Array
    t: Array
    msg: Array | None
    incident: Array | None = None

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True, eq=False)
class Material(Rows):
    """The benign events of one part of a stream, and what is known of the rest."""

    features: tuple[FeatureColumn, ...]
    clock: Clock
    observed: Observed
    remembered: Rows  # with what came before, where that is known
    ties: Ties
    grid: Grid
    num_sources: int  # codes that can stand as a source, where sources and destinations are apart
    bipartite: bool

    @classmethod
    def of(cls, events: EventStream, reference: EventStream | None) -> Material:
        grid = Grid.of(events.t, events.clock)
        t = grid.count(events.t)
        here = remembered = _benign(events, t)
        past = None if reference is None else grid.count(reference.times_in(events.clock.unit))
        if reference is not None and past is not None and reference.vocabulary is events.vocabulary:
            remembered = joined(_benign(reference, past), here) if (past <= t[0]).all() else here
        return cls(
            here.src,
            here.dst,
            here.t,
            here.msg,
            here.nodes,
            features=events.features,
            clock=events.clock,
            observed=Observed.of(events, t, reference, past),
            remembered=remembered,
            ties=Ties.of(events.src, events.dst, t, events.num_nodes, np.flatnonzero(events.label != 1)),
            grid=grid,
            num_sources=events.vocabulary.num_sources,
            bipartite=events.bipartite,
        )

    @property
    def first(self) -> float:
        return float(self.ties.instants[0])

    @property
    def last(self) -> float:
        return float(self.ties.instants[-1])

    @cached_property
    def novelty(self) -> float:
        """The share of events that are the first of their pair."""
        return float(np.mean(self.observed.since_of(self.src, self.dst) >= self.t))

    @cached_property
    def sources(self) -> Array:
        """The nodes that act as sources here."""
        return np.unique(self.src)

    @cached_property
    def destinations(self) -> Array:
        """The nodes that act as destinations here."""
        return np.unique(self.dst)


def _benign(events: EventStream, t: Array) -> Rows:
    everything = Rows(events.src, events.dst, t, events.msg, events.num_nodes)
    return everything.take(np.flatnonzero(events.label != 1))
