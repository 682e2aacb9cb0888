"""SnapshotMethod: what every snapshot method is, however it learns."""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import nn

from sdgad.detectors.base import Detector
from sdgad.detectors.baselines.snapshots.config import MOST_EVENTS, SnapshotConfig
from sdgad.detectors.baselines.snapshots.state import SnapshotState
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.device import choose_device
from sdgad.detectors.drawn_up import drawn_up
from sdgad.detectors.tags import Tags
from sdgad.events.held import held, whole
from sdgad.events.stream import Array
from sdgad.history.needs import Needs

STARTING = threading.Lock()
MOST = 1e9  # of weights: larger ones leave no number finite


class SnapshotMethod(Detector):
    """Snapshots of `_size` events, a network that is saved by its weights, no features, no context."""

    config_type: ClassVar[type[DetectorConfig]] = SnapshotConfig
    config: SnapshotConfig
    needs: Needs = Needs(time=True)
    uses_context: bool = False
    tags: ClassVar[Tags] = Tags(ties="strict", uses_features=False)
    _network: nn.Module
    _size: int  # events of a snapshot

    @abstractmethod
    def _make_network(self) -> nn.Module:
        """The network, untrained; it draws its first weights from torch's generator, which is seeded."""

    @abstractmethod
    def _new_state(self) -> SnapshotState:
        """The state before the first event, of `self._size` events a snapshot, under `self._network` as it is."""

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
        with drawn_up():  # seen before room is made for it
            wanted = self._make_network().state_dict()
        if wanted.keys() != weights.keys():
            raise ValueError(f"the network has other parts: {sorted(wanted.keys() ^ weights.keys())[0]}")
        for name, tensor in wanted.items():
            kind = str(torch.empty(0, dtype=tensor.dtype).numpy().dtype.str)
            held(weights, name, kind, tuple(tensor.shape), low=-MOST, high=MOST)
        network = self._started()
        network.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        self._network = network.to(choose_device(self.config.device)).eval()
