"""NetWalk (Yu et al., KDD 2018), whose embeddings, reservoirs and clusters go on learning as events come."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sdgad.configuration import option
from sdgad.detectors.baselines.netwalk.state import Learning, NetWalkState
from sdgad.detectors.baselines.snapshots.config import SnapshotConfig
from sdgad.detectors.baselines.snapshots.method import SnapshotMethod
from sdgad.detectors.baselines.snapshots.negatives import Negatives
from sdgad.detectors.baselines.snapshots.state import probability
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.own_state import stretches
from sdgad.detectors.own_stream import own_stream
from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.ranges import TINY, Ranges
from sdgad.detectors.registry import detectors
from sdgad.detectors.step import Schedule, Step
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.training import train
from sdgad.events.held import truth, whole
from sdgad.events.stream import Array
from sdgad.metrics import auroc, average_precision, mixture

DRAWS = 0x9E3779B9  # so that what training draws has nothing to do with the first weights, which the same seed gives
FEW_SHARE = 0.1  # the say of all the few labelled anomalies together
MOST_SLOTS = 10_000
MOST_LEARNING = 1000  # walks of a node, and passes over them, when a snapshot ends
CHOICE = (2, 3, 5, 8, 12)  # numbers of clusters, where nobody says how many


@dataclass(frozen=True)
class NetWalkConfig(SnapshotConfig):
    """Walks, autoencoder, clusters, and the head that learns from labels."""

    width: int = option(20, "of the codes of nodes")
    walks: int = option(20, "that begin at every node of a snapshot; as many begin anywhere")
    length: int = option(3, "nodes of a walk")
    reservoir: int = option(10, "sampled neighbours of a node")
    passes: int = option(2, "over the walks of a snapshot when it ends")
    batch: int = option(256, "walks of a step, or events of a step of the head")
    rate: float = option(0.01, "learning rate of the autoencoder")
    gamma: float = option(20.0, "weight of the reconstruction")
    beta: float = option(1.0, "weight of the sparsity")
    rho: float = option(0.5, "mean activation that is aimed at")
    decay: float = option(0.0017, "weight of the squared weights")
    clusters: int | None = option(
        None, "of edges; None: 2, 3, 5, 8 or 12, whichever tells validation events from negatives best"
    )
    keep: float = option(0.01, "the say of a cluster of the snapshot before")
    hidden: int = option(64, "width of the head that learns from labels")

    ranges: ClassVar[Ranges] = (
        *SnapshotConfig.ranges,
        (("walks", "passes"), 1, MOST_LEARNING),
        (("batch", "hidden"), 1, math.inf),
        (("length", "reservoir", "clusters"), 1, MOST_SLOTS),
        (("rate",), TINY, math.inf),
        (("gamma", "beta", "decay"), 0, math.inf),
        (("rho", "keep"), TINY, 1 - TINY),
    )

    def learning(self, clusters: tuple[int, ...]) -> Learning:
        return Learning(
            self.width, self.reservoir, self.walks, self.length, self.passes, self.batch, self.rate,
            self.gamma, self.beta, self.rho, self.decay, clusters, self.keep, self.seed,
        )  # fmt: skip


class Head(nn.Module):
    """Log-odds of an edge: ln(d / D) of its distance d to the nearest cluster or, where there were labels, an MLP of its code."""

    furthest: Tensor

    def __init__(self, width: int, hidden: int, labelled: bool) -> None:
        super().__init__()
        self.layers = (
            nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1)) if labelled else None
        )
        self.register_buffer("furthest", torch.ones(()))

    def forward(self, codes: Tensor, distance: Tensor) -> Tensor:
        if self.layers is None:
            return (distance / self.furthest).log()
        odds: Tensor = self.layers(codes)
        return odds[:, 0]


@detectors.register("netwalk")
class NetWalk(SnapshotMethod):
    """Without labels, score of an event (i, j) = d / (d + D): d is the distance of h_i ∘ h_j to the nearest of k clusters of
    edges, D the largest of any training event, so that 0.5 is the published rule. With labels, sigmoid(MLP(h_i ∘ h_j)) by
    cross-entropy on the codes that training events had when they came, beside those of the last edges at that time; an unknown
    label counts as normal.

    When a snapshot ends, reservoirs take in its edges, the autoencoder learns on from walks over them, and clusters move on;
    that is learning, and `update` does it too. Nothing of it uses a label.

    What differs from the published code. An edge has the codes of before its snapshot: how it moves the embedding itself is seen
    from the next snapshot on (there, walks already know the snapshot that is scored, and with it its later edges). There is
    no first fit on a static graph: the first training snapshot begins, and all learn on with few passes. Tables of the
    autoencoder grow, a newcomer's rows being drawn by the seed. The reconstruction error is a sum over outputs, as the paper has
    it, of a sample of 256 where there are more; the code takes 340 times the mean over all n, under which the clique loss
    draws all codes into one point as soon as there are some hundred nodes. Walks of nodes that a
    snapshot did not touch are drawn afresh, as many as of those that it did, instead of kept. Clusters are of the last 4,096
    edges, and as many as tell validation events from negatives best (a community needs one, and with one too many it holds the
    edges across); they are matched with those before they are averaged with.
    """

    config_type: ClassVar[type[DetectorConfig]] = NetWalkConfig
    config: NetWalkConfig
    check_options: ClassVar[Mapping[str, Any]] = {
        "snapshot": 60, "width": 6, "walks": 3, "passes": 1, "clusters": 3, "hidden": 8, "epochs": 2,
    }  # fmt: skip
    _network: Head
    _labelled: bool
    _clusters: int

    def _make_network(self) -> Head:
        return Head(self.config.width, self.config.hidden, self._labelled)

    def _new_state(self) -> NetWalkState:
        return self._state_with((self._clusters,))

    def _state_with(self, clusters: tuple[int, ...]) -> NetWalkState:
        return NetWalkState(
            self._size, self._network.furthest.device, self.config.learning(clusters), self._network
        )

    # ------------------------------------------------------------------ learn
    def _learn(self, task: Task) -> FitScores:
        """One pass of the state over all events, which are scored by the codes that they had then."""
        config = self.config
        self._size = config.size_for(len(task.train))
        self._labelled = bool((task.train_label == 1).any())
        self._network = head = self._begun(task.view.device)
        with own_stream(task.view.device):
            state = self._state_with((config.clusters,) if config.clusters else CHOICE)
            codes, distances, value = self._collected(task, state)
            place = int(np.argmax(value))
            self._clusters, distance = state.learning.clusters[place], distances[:, place]
            head.furthest.fill_(float(distance[task.train].max()))
            if self._labelled:
                self._learn_head(task, head, codes)
            head.eval()
            with torch.no_grad():
                odds = head(codes, distance)
            self._state = self._new_state()
            state.tables = state.chosen(self._clusters)
            self._state.load(state.arrays())
        self.record_.in_force = {
            "device": task.view.device.type,
            "snapshot": self._size,
            "clusters": self._clusters,
        }
        return probability(odds[task.train]), probability(odds[task.val])

    def _begun(self, device: torch.device) -> Head:
        head = self._started().to(device)
        assert isinstance(head, Head)
        return head

    def _collected(self, task: Task, state: NetWalkState) -> tuple[Tensor, Tensor, list[float]]:
        """Codes and distances of all events by the state before their snapshot, which stands behind them afterwards; and how
        well the distance to each number of clusters tells validation events from negatives."""
        rows = torch.arange(len(task.log), device=task.label.device)
        seconds = task.border.seconds(task.log.t, task.log.t[0])
        negatives = Negatives(
            torch.stack([torch.from_numpy(side).to(rows.device) for side in (task.log.src, task.log.dst)], 1)
        )
        generator = torch.Generator().manual_seed(self.config.seed)
        codes, distances, made = [], [], []
        for part in stretches(state, seconds, self.score_rows):
            window = task.view.rows(task.index, rows[part])
            state.move_on(window)
            with torch.no_grad():
                raw = state.codes(window.node)
                codes.append(state.standardised(raw))
                distances.append(state.distances(raw))
                judged = window.node[max(0, task.middle - part.start) :]
                if len(judged):
                    drawn = negatives.at_random(judged, part.stop, generator)
                    made.append(state.distances(state.codes(drawn)))
            state.enter(window)
        all_of_them = torch.cat(distances)
        real, other = all_of_them[task.val].cpu().numpy(), torch.cat(made).cpu().numpy()
        label = np.repeat([0.0, 1.0], [len(real), len(other)])
        value = [auroc(label, both) or 0.0 for both in np.concatenate([real, other]).T]
        return torch.cat(codes), all_of_them, value

    def _learn_head(self, task: Task, head: Head, codes: Tensor) -> None:
        config, device = self.config, codes.device
        known, anomalous = codes[task.train], task.train_label == 1
        weight, count = torch.ones(len(known), device=device), int(anomalous.sum())
        if count < FEW_LABELS:
            weight[anomalous] = max(1.0, FEW_SHARE * len(known) / count)
        generator = torch.Generator(device).manual_seed((config.seed + DRAWS) % 2**32)
        nothing = torch.ones(len(known), device=device)

        def batches(_: int) -> Iterator[Tensor]:
            yield from torch.split(
                torch.randperm(len(known), generator=generator, device=device), config.batch
            )

        def losses(rows: Tensor) -> dict[str, Tensor]:
            cost = F.binary_cross_entropy_with_logits(
                head(known[rows], nothing[rows]), anomalous[rows].float(), weight[rows], reduction="sum"
            )
            return {"cross-entropy": cost / weight[rows].sum()}

        def judged() -> dict[str, float]:
            odds = head(codes[task.val], nothing[:1]).double().cpu().numpy()
            label = task.val_label.nan_to_num().cpu().numpy()
            figures = {"AUROC": auroc(label, odds) or 0.0, "AP": average_precision(label, odds) or 0.0}
            return {**figures, "select": mixture(label, odds) if task.val_has_both_classes else 0.0}

        schedule = Schedule(
            task.epochs or config.epochs,
            config.patience,
            config.learning_rate,
            config.weight_decay,
            average=config.average,
        )
        step: Step[Tensor] = Step(head, schedule, losses)
        num_batches = -(-len(known) // config.batch)
        self.record_ = train(head, schedule, batches, num_batches, step, judged, progress=task.progress)

    # ------------------------------------------------------------------ files
    def _calibration(self) -> dict[str, Any]:
        return {**super()._calibration(), "labelled": self._labelled, "clusters": self._clusters}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        self._labelled = truth(calibration["labelled"], "labelled")
        super()._restore(weights, calibration)
        self._clusters = whole(calibration["clusters"], "clusters", low=1, high=MOST_SLOTS)
        if self.config.clusters not in (None, self._clusters):
            raise ValueError("there are not as many clusters as the option says")
        if not self._network.furthest > 0:
            raise ValueError("the furthest distance is not above 0")
