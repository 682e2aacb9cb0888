"""SnapshotDetector: a snapshot method with a network that learns by gradient, in the one training loop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sdgad.detectors.baselines.snapshots.method import SnapshotMethod
from sdgad.detectors.baselines.snapshots.negatives import Negatives
from sdgad.detectors.baselines.snapshots.replay import Replay, Snapshot
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.own_stream import own_stream
from sdgad.detectors.precision import products
from sdgad.detectors.step import Schedule, Step
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.training import train
from sdgad.encoders.dropout import drawing_from
from sdgad.events.stream import Array
from sdgad.metrics import auroc, average_precision, mixture

DRAWS = 0x9E3779B9  # so that what training draws has nothing to do with the first weights, which the same seed gives


@dataclass(frozen=True)
class Part:
    """Training events of one snapshot, for one step, and which of them are labelled anomalous."""

    snapshot: Snapshot
    node: Tensor  # [B, 2] int64
    anomalous: Tensor  # [B] bool

    @property
    def until(self) -> int:
        """Where the training events of the snapshot end in the stream: negatives are drawn from what came before."""
        return self.snapshot.last


class SnapshotDetector(SnapshotMethod):
    """What is left to a method: its network (`_make_network`), its state (`_new_state`), and the loss parts of some events.

    An epoch goes through the training snapshots in order: a step, or several, on the events of a snapshot with the state before
    it, then the snapshot is committed under the weights of that moment. An epoch is judged by a new state that goes
    through all from the beginning: on validation labels (AUROC and AP) where training has labels and validation both
    classes, else by the AUROC of negatives against validation events.
    """

    # ------------------------------------------------------------------ what a method implements
    @abstractmethod
    def _losses(
        self, state: SnapshotState, part: Part, negatives: Negatives, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """The parts of the loss of some events of a snapshot, which are added; `state` is the one before the snapshot."""

    def _prepare(self, replay: Replay) -> None:
        """Whatever has to be known of the training snapshots before there is a network."""

    def _training_state(self) -> SnapshotState:
        """A new state to train with; a method whose gradients go back through commits has one that keeps what they need."""
        return self._new_state()

    @property
    def _batch(self) -> int | None:
        """Most events of a step; None: a step is a whole snapshot."""
        return None

    # ------------------------------------------------------------------ learn
    def _learn(self, task: Task) -> FitScores:
        self._size = self.config.size_for(len(task.train))
        with own_stream(task.view.device):
            self._train(task)
        return self._score_both(task)

    def _train(self, task: Task) -> None:
        config, device = self.config, task.view.device
        generator = torch.Generator(device).manual_seed((config.seed + DRAWS) % 2**32)
        replay = Replay(task, self._size)
        self._prepare(replay)
        self._network = self._started().to(device)
        negatives = Negatives(replay.node)
        schedule = Schedule(
            task.epochs or config.epochs,
            config.patience,
            config.learning_rate,
            config.weight_decay,
            average=config.average,
        )
        running = [self._training_state()]

        def epoch(_: int) -> Iterator[Part]:
            running[0] = state = self._training_state()
            for snapshot in replay.training:
                for rows in replay.parts(snapshot, self._batch, generator):
                    yield Part(snapshot, replay.node[rows], replay.label[rows] == 1)
                self._network.eval()
                state.commit_pairs(replay.node[snapshot.start : snapshot.last])
                self._network.train()

        def losses(part: Part) -> dict[str, Tensor]:
            return self._losses(running[0], part, negatives, generator)

        step: Step[Part] = Step(self._network, schedule, losses)

        def run(part: Part) -> None:
            with products("fp32", device):
                step(part)

        with drawing_from(generator):
            self.record_ = train(
                self._network,
                schedule,
                epoch,
                replay.num_parts(self._batch),
                step,
                Judge(self, replay, negatives),
                run=run,
                progress=task.progress,
            )
        self.record_.in_force = {
            "device": device.type,
            "snapshot": self._size,
            "threads": torch.get_num_threads(),
        }


class Judge:
    """Validation figures of the network as it is; the epoch with the highest `select` is kept."""

    def __init__(self, detector: SnapshotDetector, replay: Replay, negatives: Negatives) -> None:
        task = replay.task
        self._detector, self._replay = detector, replay
        self._labelled = task.val_has_both_classes
        self._label: Array = task.val_label.nan_to_num().cpu().numpy()
        self._made: dict[int, Tensor] = {}
        if not self._labelled:
            generator = torch.Generator().manual_seed(detector.config.seed)
            for each in replay.snapshots:
                if each.judged < each.stop:
                    pairs = replay.node[each.judged : each.stop]
                    self._made[each.number] = negatives.at_random(pairs, each.stop, generator)

    def __call__(self) -> dict[str, float]:
        real, made = self._scores()
        if self._labelled:
            figures = {
                "AUROC": auroc(self._label, real) or 0.0,
                "AP": average_precision(self._label, real) or 0.0,
            }
            return {**figures, "select": mixture(self._label, real)}
        truth = np.repeat([0.0, 1.0], [len(real), len(made)])
        value = auroc(truth, np.concatenate([real, made])) or 0.0
        return {"negative AUROC": value, "select": value}

    def _scores(self) -> tuple[Array, Array]:
        """Of the validation events and of the negatives in their place, by a new state."""
        state, node, most = self._detector._new_state(), self._replay.node, self._detector.score_rows
        real, made = [np.empty(0)], [np.empty(0)]
        for each in self._replay.snapshots:
            if each.judged < each.stop:
                real += [state.score_pairs(some) for some in torch.split(node[each.judged : each.stop], most)]
                if not self._labelled:
                    made += [state.score_pairs(some) for some in torch.split(self._made[each.number], most)]
            if each.stop < len(node):
                state.commit_pairs(node[each.start : each.stop])
        return np.concatenate(real), np.concatenate(made)
