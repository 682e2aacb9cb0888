"""What NetWalk knows of a stream: embeddings, reservoirs and clusters, which go on learning with every snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from sdgad.detectors.baselines.netwalk.autoencoder import TABLES, Autoencoder
from sdgad.detectors.baselines.netwalk.clusters import k_means, moved_on, nearest
from sdgad.detectors.baselines.netwalk.walks import NOBODY, reservoirs_after, walks_from
from sdgad.detectors.baselines.snapshots.rows import need_rows, rows_of, with_newcomers
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.step import Schedule, Step
from sdgad.events.held import ANY, held
from sdgad.history.state import Array

MOST = 1e6  # of a weight
SPREAD = 0.1  # of the first weights of a newcomer
KEPT = 4096  # edges that clusters are made of
SAMPLED = 256  # outputs of the autoencoder that are looked at in a step
LEAST = 1e-12  # a distance is at least this
LEAST_SPREAD = 1e-4
MOST_COMMITS = MOST_EVENTS = 2**53


@dataclass(frozen=True)
class Learning:
    """How a commit learns."""

    width: int
    reservoir: int
    walks: int
    length: int
    passes: int
    batch: int
    learning_rate: float
    gamma: float
    beta: float
    rho: float
    decay: float
    clusters: tuple[int, ...]  # k; several while a fit has not chosen
    keep: float
    seed: int


class NetWalkState(SnapshotState):
    """Tables: weights of the autoencoder, reservoir and degree of each row, the last edges, centroids and their sizes, and how
    many snapshots there were, which with the seed is all that decides what is drawn."""

    def __init__(
        self, size: int, device: torch.device, learning: Learning, judge: Callable[[Tensor, Tensor], Tensor]
    ) -> None:
        width, slots = learning.width, learning.reservoir
        tables = {
            "row": torch.empty(0, dtype=torch.int64),
            "encoder": torch.empty(0, width),
            "encoder_bias": torch.zeros(width),
            "decoder": torch.empty(0, width),
            "decoder_bias": torch.empty(0),
            "reservoir": torch.empty(0, slots, dtype=torch.int64),
            "degree": torch.empty(0, dtype=torch.int64),
            "edges": torch.empty(0, 2, dtype=torch.int64),
            "centroids": torch.full((sum(learning.clusters), width), 0.25),
            "sizes": torch.zeros(sum(learning.clusters)),
            "middle": torch.full((width,), 0.25),
            "spread": torch.ones(width),
            "commits": torch.zeros(1, dtype=torch.int64),
        }
        super().__init__(size, device, tables)
        self.learning = learning
        self._judge = judge  # codes and distances of edges → log-odds

    @property
    def nodes(self) -> int:
        return len(self.tables["row"])

    # ------------------------------------------------------------------ scores
    def odds(self, node: Tensor) -> Tensor:
        codes = self.codes(node)
        return self._judge(self.standardised(codes), self.distances(codes)[:, 0])

    def codes(self, node: Tensor) -> Tensor:
        """h_i ∘ h_j of events; who has no row yet has the code of no input, σ(b₁)."""
        known = torch.cat([self.tables["encoder"], torch.zeros(1, self.learning.width, device=self.device)])
        ends = torch.sigmoid(known[rows_of(self.tables["row"], node)] + self.tables["encoder_bias"])
        return ends[:, 0] * ends[:, 1]

    def standardised(self, codes: Tensor) -> Tensor:
        """Beside those of the last edges: codes spread out as the autoencoder learns, which says nothing about an edge."""
        return (codes - self.tables["middle"]) / self.tables["spread"]

    def distances(self, codes: Tensor) -> Tensor:
        """To the nearest centroid, for each number of clusters, `[B, K]`."""
        centroids = self._by_number("centroids")
        return torch.stack([nearest(codes, some)[0] for some in centroids], 1).clamp(min=LEAST)

    def chosen(self, number: int) -> dict[str, Tensor]:
        """The tables with this number of clusters alone."""
        place = self.learning.clusters.index(number)
        return {**self.tables, **{name: self._by_number(name)[place] for name in ("centroids", "sizes")}}

    def _by_number(self, name: str) -> tuple[Tensor, ...]:
        return torch.split(self.tables[name], list(self.learning.clusters))

    # ------------------------------------------------------------------ a snapshot
    def take_in(self, node: Tensor) -> None:
        learning, tables = self.learning, self.tables
        generator = self._generator(0)
        row, new = with_newcomers(tables["row"], node)
        events = row[node]
        drawn = SPREAD * torch.randn(2, new, learning.width, generator=generator, device=self.device)
        reservoir, degree = reservoirs_after(
            torch.cat([tables["reservoir"], tables["reservoir"].new_full((new, learning.reservoir), NOBODY)]),
            torch.cat([tables["degree"], tables["degree"].new_zeros(new)]),
            events,
            generator,
        )
        weights = {
            "encoder": torch.cat([tables["encoder"], drawn[0]]),
            "encoder_bias": tables["encoder_bias"],
            "decoder": torch.cat([tables["decoder"], drawn[1]]),
            "decoder_bias": torch.cat([tables["decoder_bias"], torch.zeros(new, device=self.device)]),
        }
        edges = torch.cat([tables["edges"], events[events[:, 0] != events[:, 1]]])[-KEPT:]
        self.tables = {
            "row": row,
            **self._learned(weights, torch.unique(events), reservoir, generator),
            "reservoir": reservoir,
            "degree": degree,
            "edges": edges,
            **{name: tables[name] for name in ("centroids", "sizes", "middle", "spread", "commits")},
        }
        if len(edges):
            self._cluster()
        self.tables["commits"] = tables["commits"] + 1

    def _generator(self, use: int) -> torch.Generator:
        """For one use in the snapshot that ends: who draws beside it has no say."""
        seed = (self.learning.seed * 1_000_003 + int(self.tables["commits"])) * 1_000_003 + use
        return torch.Generator(self.device).manual_seed(seed % 2**63)

    def _learned(
        self, weights: dict[str, Tensor], touched: Tensor, reservoir: Tensor, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """The autoencoder after a few passes over new walks from nodes of the snapshot, and over as many from any node."""
        learning, total = self.learning, len(weights["encoder"])
        model = Autoencoder(weights)

        def losses(batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
            return model.losses(
                *batch, gamma=learning.gamma, beta=learning.beta, rho=learning.rho, decay=learning.decay
            )

        step: Step[tuple[Tensor, Tensor]] = Step(
            model, Schedule(learning.passes, 1, learning.learning_rate, 0.0), losses
        )

        def some(count: int, below: int) -> Tensor:
            return torch.randint(below, (count,), generator=generator, device=generator.device).to(
                self.device
            )

        def outputs() -> Tensor:
            """All of them, or a sample."""
            order = torch.randperm(total, generator=generator, device=generator.device)
            return order[:SAMPLED].to(self.device)

        begin = touched.repeat(learning.walks)
        starts = torch.cat([begin, some(len(begin), total)])
        walks = walks_from(starts, reservoir, learning.length, generator)
        with torch.enable_grad():
            for _ in range(learning.passes):
                order = torch.randperm(len(walks), generator=generator, device=generator.device)
                for part in torch.split(order.to(self.device), learning.batch):
                    step((walks[part], outputs()))
        return model.tables()

    def _cluster(self) -> None:
        """Fresh clusters of the last edges, beside those of the snapshot before."""
        tables, learning = self.tables, self.learning
        ends = torch.sigmoid(tables["encoder"][tables["edges"]] + tables["encoder_bias"])
        codes = ends[:, 0] * ends[:, 1]
        before = zip(self._by_number("centroids"), self._by_number("sizes"), strict=True)
        found = [
            moved_on(old, k_means(codes, number, self._generator(number)), learning.keep)
            for number, old in zip(learning.clusters, before, strict=True)
        ]
        self.tables = {
            **tables,
            "centroids": torch.cat([centroids for centroids, _ in found]),
            "sizes": torch.cat([sizes for _, sizes in found]),
            "middle": codes.mean(0),
            "spread": codes.std(0, correction=0).clamp(min=LEAST_SPREAD),
        }

    # ------------------------------------------------------------------ files
    def need_table(self, table: Mapping[str, Array]) -> None:
        learning = self.learning
        rows, width = need_rows(table), learning.width
        shapes: dict[str, tuple[int, ...]] = dict(
            zip(TABLES, ((rows, width), (width,), (rows, width), (rows,)), strict=True)
        )
        for name, shape in shapes.items():
            held(table, name, "f4", shape, low=-MOST, high=MOST)
        reservoir = held(table, "reservoir", "i8", (rows, learning.reservoir), low=NOBODY, high=rows - 1)
        degree = held(table, "degree", "i8", (rows,), low=0, high=MOST_EVENTS)
        if ((reservoir >= 0) != (degree > 0)[:, None]).any():
            raise ValueError(
                "the array 'reservoir' does not hold neighbours of those who have some, and of no others"
            )
        edges = held(table, "edges", "i8", (ANY, 2), low=0, high=rows - 1)
        if len(edges) > KEPT:
            raise ValueError("the array 'edges' is too long")
        held(table, "centroids", "f4", (sum(learning.clusters), width), low=0, high=1)
        held(table, "sizes", "f4", (sum(learning.clusters),), low=0, high=2 * KEPT)
        held(table, "middle", "f4", (width,), low=0, high=1)
        held(table, "spread", "f4", (width,), low=LEAST_SPREAD / 2, high=1)
        held(table, "commits", "i8", (1,), low=0, high=MOST_COMMITS)
