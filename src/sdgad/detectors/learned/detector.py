"""LearnedDetector: a detector with a network that learns by gradient, in the one training loop."""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sdgad.detectors.base import Detector
from sdgad.detectors.capture import Capture
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.device import choose_device, room
from sdgad.detectors.drawn_up import drawn_up
from sdgad.detectors.learned.config import LearnedConfig, Shorthand
from sdgad.detectors.learned.event_vector import EventVector
from sdgad.detectors.learned.examples import ExampleMaker, Examples
from sdgad.detectors.learned.memory_state import MemoryState
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.learned.training_config import TrainingConfig
from sdgad.detectors.own_state import OwnState, Stateless
from sdgad.detectors.own_stream import own_stream
from sdgad.detectors.precision import products
from sdgad.detectors.pseudo import FEW_LABELS
from sdgad.detectors.step import Schedule, Step
from sdgad.detectors.task import FitScores, Task
from sdgad.detectors.training import train
from sdgad.encoders.dropout import drawing_from
from sdgad.events.held import held
from sdgad.events.stream import Array
from sdgad.history.memory import NodeMemory
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape

STARTING = threading.Lock()
DRAWS = 0x9E3779B9  # so that what training draws has nothing to do with the first weights, which the same seed gives
FEWEST_ROWS, MOST_ROWS = 64, 1 << 15  # events of a Window, when scoring
BOUNDS = {
    "low": -1e9,
    "high": 1e9,
}  # of weights: larger ones leave no number finite. A module may name others in `bounds`
SCALE_SAMPLE = 20_000  # training and validation events, without their labels, for bin edges and whitening


class LearnedModel(nn.Module):
    """A network on event vectors."""

    event: EventVector

    def fit_scales(self, context: Tensor, msg: Tensor, sample: Window, training: int) -> None:
        """Scales of the inputs from training events, bin edges from a sample; the first `training` of it are training events."""
        self.event.fit_scales(context, msg, sample, training)


class LearnedDetector(Detector):
    """What is left to a detector: its network (`_make_model`), the loss parts of a batch, how an epoch is judged, its scores."""

    shorthand_type: ClassVar[type[Any] | None] = Shorthand
    config_type: ClassVar[type[DetectorConfig]] = LearnedConfig
    config: TrainingConfig
    pseudo_below: ClassVar[int] = FEW_LABELS  # of fewer labelled anomalies, pseudo-anomalies join in
    _model: Any

    # ------------------------------------------------------------------ what a learned detector implements
    @abstractmethod
    def _make_model(self, shape: WindowShape) -> LearnedModel:
        """The network, untrained."""

    @abstractmethod
    def _losses(self, examples: Examples) -> dict[str, Tensor]:
        """The parts of the loss of one batch, which are added."""

    @abstractmethod
    def _judge(self, validation: Validation) -> Callable[[], dict[str, float]]:
        """Validation figures of the network as it is; the epoch with the highest `select` is kept."""

    @abstractmethod
    def _finish(self, task: Task, reader: Reader) -> FitScores:
        """Calibrate the trained network; returns the scores of training and validation events.

        It reads both in order (`begin_before` the first, then all `windows`), so that a memory stands at the end afterwards.
        """

    @abstractmethod
    def _score_windows(self, windows: Iterable[Window]) -> Array:
        """Scores in (0, 1) of events with their past, batch after batch: nothing is asked of the device before the last."""

    def _score_window(self, window: Window) -> Array:
        """Those of one batch."""
        return self._score_windows([window])

    def _clipped_apart(self) -> Sequence[nn.Module]:
        """Parts of the network whose gradients are clipped by themselves."""
        return ()

    # ------------------------------------------------------------------ what it looks at
    @classmethod
    def configure(cls, options: dict[str, Any]) -> DetectorConfig:
        config_type = cls.config_type
        assert issubclass(config_type, TrainingConfig)
        return config_type.from_options(options)

    @property
    def uses_context(self) -> bool:  # type: ignore[override]
        return self.config.context

    @property
    def history_length(self) -> int:  # type: ignore[override]
        return self.config.history

    @property
    def score_rows(self) -> int:  # type: ignore[override]
        """As many as the device has room for; a layer of vectors holds `width` numbers for every token of every event."""
        config = self.config
        tokens = 2 * (config.history + 2) * max(1, self.needs.hop)
        layer = 4 * tokens * config.vector_width
        return min(max(FEWEST_ROWS, room(choose_device(config.device)) // layer), MOST_ROWS)

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        return self._network_needs

    @property
    def _network_needs(self) -> Needs:
        return self.config.needs(self.window_shape)

    # ------------------------------------------------------------------ learn
    def _learn(self, task: Task) -> FitScores:
        with own_stream(task.view.device):
            return self._train(task)

    def _train(self, task: Task) -> FitScores:
        config, device = self.config, task.view.device
        generator = torch.Generator(device).manual_seed((config.seed + DRAWS) % 2**32)
        self._start(task)
        needs = self._network_needs
        reader = Reader(task, self._new_memory(needs) if needs.memory else None, needs)
        examples = ExampleMaker(
            reader,
            generator,
            batch=config.batch,
            shuffled=config.order == "shuffled",
            pseudo_below=self.pseudo_below if config.pseudo else 0,
        )
        wanted, fewest = (80, 1) if examples.pseudo is not None else (300, 6)
        many = -(-wanted // examples.num_batches)
        schedule = Schedule(
            task.epochs or max(fewest, many),
            max(
                config.patience, many // 2
            ),  # a few epochs of a small stream are too few steps to lose it over
            config.learning_rate,
            config.weight_decay,
            average=config.average,
        )
        step: Step[Tensor] = Step(
            self._model, schedule, lambda places: self._losses(examples(places)), self._clipped_apart()
        )
        steady = examples.alike and self._model.event.encoder.tags.steady
        run = Capture(
            step,
            generator,
            of=f"The training step of {self.name} with {config.network}",
            precision=config.training_precision,
            wanted=config.graphs,
            obstacle="" if steady else "its steps are not the same work every time",
        )
        with drawing_from(generator):
            self.record_ = train(
                self._model,
                schedule,
                examples.epoch,
                examples.num_batches,
                step,
                self._judge(Validation(reader, config.seed, self.score_rows)),
                run=run,
                progress=task.progress,
            )
        self.record_.in_force = {
            "device": device.type,
            "graph": run.used,
            "precision": config.training_precision if device.type == "cuda" else "fp32",
            "threads": torch.get_num_threads(),
        }
        scores = self._finish(task, reader)
        if reader.memory is not None:
            self._state = self._new_state()
            self._state.load({**self._state.arrays(), **reader.memory.arrays()})
        return scores

    def _start(self, task: Task) -> None:
        """The network before the first step: weights by the seed, scales by training events."""
        config, index, device = self.config, task.index, task.view.device
        seen = torch.cat([task.train, task.val])
        every = max(1, len(seen) // SCALE_SAMPLE)
        sample = index.rows(seen[::every], config.history)
        # modules draw their first weights from the whole process's generator
        with STARTING, torch.random.fork_rng([]):
            torch.default_generator.manual_seed(config.seed)
            self._model = self._make_model(index.shape(config.history)).to(device)
        self._model.fit_scales(
            index.stored_context(task.train), index.msg(task.train), sample, -(-len(task.train) // every)
        )

    def _new_memory(self, needs: Needs) -> NodeMemory:
        return NodeMemory(needs, self._commit_rule(), choose_device(self.config.device))

    def _commit_rule(self) -> Callable[[Window], Tensor]:
        model: LearnedModel = self._model  # of this fit, whatever becomes of the detector
        return model.event.commit

    # ------------------------------------------------------------------ score
    def _new_state(self) -> OwnState:
        return self._state_of(type(self)._score_windows)

    def _state_of(self, numbers: Callable[[Any, Iterable[Window]], Array]) -> OwnState:
        """A state that says such numbers of Windows, with the memory of the encoder if it has one."""
        as_it_is = copy.copy(self)  # a later fit of the detector is none of the state's business
        for name in ("_archive", "_state"):
            as_it_is.__dict__.pop(name, None)
        if not self.needs.memory:
            return Stateless(lambda windows: numbers(as_it_is, windows))
        device = choose_device(self.config.device)
        return MemoryState(
            self.needs, self._commit_rule(), lambda window: numbers(as_it_is, [window]), device
        )

    def _move_to(self, device: torch.device) -> None:
        self._model = copy.deepcopy(self._model).to(device)  # copies of the detector keep theirs
        super()._move_to(device)

    def _scoring(self) -> AbstractContextManager[None]:
        """The precision in which the network scores."""
        return products(self.config.scoring_precision, choose_device(self.config.device))

    def _in_eval(self) -> Any:
        """The network, which does not drop anything now."""
        if self._model.training:  # to say so costs a tenth of scoring one event
            self._model.eval()
        return self._model

    # ------------------------------------------------------------------ files
    def _need_weights(self, weights: dict[str, Array], shape: WindowShape) -> None:
        """The network that the options describe has weights of these names, kinds and sizes; seen before room is made for it."""
        try:
            with drawn_up():
                model = self._make_model(shape)
        except (RuntimeError, NotImplementedError):  # not every flow can be drawn up without being built
            model = self._make_model(shape)
        wanted = model.state_dict()
        if wanted.keys() != weights.keys():
            raise ValueError(f"the network has other parts: {sorted(wanted.keys() ^ weights.keys())[0]}")
        for name, tensor in wanted.items():
            kind = str(torch.empty(0, dtype=tensor.dtype).numpy().dtype.str)
            owner, _, part = name.rpartition(".")
            bounds = getattr(model.get_submodule(owner), "bounds", {}).get(part, BOUNDS)
            held(weights, name, kind, tuple(tensor.shape), **bounds)

    def _weights(self) -> dict[str, Array]:
        return {name: value.detach().cpu().numpy() for name, value in self._model.state_dict().items()}

    def _calibration(self) -> dict[str, Any]:
        return {"shape": asdict(self._model.event.encoder.shape)}

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        shape, own = WindowShape(**calibration["shape"]), replace(self.window_shape, sequels=0)
        if shape != (own if "phases" in calibration["shape"] else replace(own, phases=0)):
            raise ValueError("the network was made for other events")
        self._need_weights(weights, shape)
        self._model = self._make_model(shape)
        self._model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        self._model.to(choose_device(self.config.device)).eval()
