"""SnapshotDetector: a snapshot method with a network that learns by gradient, in the one training loop."""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sdgad.detectors.base import Detector
from sdgad.detectors.baselines.snapshots.config import MOST_EVENTS, SnapshotConfig
from sdgad.detectors.baselines.snapshots.negatives import Negatives
from sdgad.detectors.baselines.snapshots.replay import Replay, Snapshot
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.device import choose_device
from sdgad.detectors.own_stream import own_stream
from sdgad.detectors.precision import products
from sdgad.detectors.step import Schedule, Step
from sdgad.detectors.tags import Tags
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.training import train
from sdgad.encoders.dropout import drawing_from
from sdgad.events.held import held, whole
from sdgad.events.stream import Array
from sdgad.history.needs import Needs
from sdgad.metrics import auroc, average_precision, mixture

STARTING = threading.Lock()
DRAWS = 0x9E3779B9  # so that what training draws has nothing to do with the first weights, which the same seed gives
MOST = 1e9  # of weights: larger ones leave no number finite


@dataclass(frozen=True)
class Part:
    """Training events of one snapshot, for one step: which are labelled anomalous, and where the snapshot ends in the stream."""

    snapshot: Snapshot
    node: Tensor  # [B, 2] int64
    anomalous: Tensor  # [B] bool


class SnapshotDetector(Detector):
    """What is left to a method: its network, its state (`_new_state`), and the loss parts of some events of a snapshot.

    An epoch goes through the training snapshots in order: a step, or several, on the events of a snapshot with the state before
    it, then the snapshot is committed under the weights of that moment. An epoch is judged by a new state that goes
    through all from the beginning: on validation labels (AUROC and AP) where training has labels and validation both
    classes, else by the AUROC of negatives against validation events.
    """

    config_type: ClassVar[type[DetectorConfig]] = SnapshotConfig
    config: SnapshotConfig
    needs: Needs = Needs(time=True)
    uses_context: bool = False
    tags: ClassVar[Tags] = Tags(ties="strict", uses_features=False)
    _network: nn.Module
    _size: int  # events of a snapshot

    # ------------------------------------------------------------------ what a method implements
    @abstractmethod
    def _make_network(self) -> nn.Module:
        """The network, untrained; it draws its first weights from torch's generator, which is seeded."""

    @abstractmethod
    def _new_state(self) -> SnapshotState:
        """The state before the first event, of `self._size` events a snapshot, under `self._network` as it is."""

    @abstractmethod
    def _losses(
        self, state: SnapshotState, part: Part, negatives: Negatives, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """The parts of the loss of some events of a snapshot, which are added; `state` is the one before the snapshot."""

    def _prepare(self, replay: Replay) -> None:
        """Whatever has to be known of the training snapshots before there is a network."""

    def _commit(self, state: SnapshotState, node: Tensor) -> None:
        """A training snapshot ends; a method that goes back through the commit keeps what it needs for that."""
        state.commit_pairs(node)

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
            task.epochs or config.epochs, config.patience, config.learning_rate, config.weight_decay
        )
        running = [self._new_state()]

        def epoch(_: int) -> Iterator[Part]:
            running[0] = state = self._new_state()
            for snapshot in replay.training:
                for rows in replay.parts(snapshot, self._batch, generator):
                    yield Part(snapshot, replay.node[rows], replay.label[rows] == 1)
                self._network.eval()
                self._commit(state, replay.node[snapshot.start : snapshot.last])
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

    def _started(self) -> nn.Module:
        """The network with weights by the seed; modules draw them from the whole process's generator."""
        with STARTING, torch.random.fork_rng([]):
            torch.default_generator.manual_seed(self.config.seed)
            return self._make_network()

    # ------------------------------------------------------------------ device and files
    def _move_to(self, device: torch.device) -> None:
        self._network = copy.deepcopy(self._network).to(device)  # copies of the detector keep theirs
        super()._move_to(device)

    def _weights(self) -> dict[str, Array]:
        return {name: value.detach().cpu().numpy() for name, value in self._network.state_dict().items()}

    def _calibration(self) -> dict[str, Any]:
        return {"snapshot": self._size}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        self._size = whole(calibration["snapshot"], "snapshot", low=1, high=MOST_EVENTS)
        if self.config.snapshot not in (None, self._size):
            raise ValueError("the events of a snapshot are not as many as the option says")
        network = self._started()
        wanted = network.state_dict()
        if wanted.keys() != weights.keys():
            raise ValueError(f"the network has other parts: {sorted(wanted.keys() ^ weights.keys())[0]}")
        for name, tensor in wanted.items():
            kind = str(torch.empty(0, dtype=tensor.dtype).numpy().dtype.str)
            held(weights, name, kind, tuple(tensor.shape), low=-MOST, high=MOST)
        network.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        self._network = network.to(choose_device(self.config.device)).eval()


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
