"""SDGAD: the detector of the paper, under the detector contract."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sdgad.calibration.score import CalibratedScore, PrintedScore, Score, score_from_json
from sdgad.detectors.config import DetectorConfig
from sdgad.detectors.device import choose_device
from sdgad.detectors.event_table import SEQUELS_TOLD, EventTable, Table
from sdgad.detectors.explaining.explainer import Say
from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.detectors.learned.examples import Examples
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.own_state import OwnState
from sdgad.detectors.pseudo import FEW_LABELS, PseudoAnomalies
from sdgad.detectors.registry import detectors
from sdgad.detectors.row_maker import thinned
from sdgad.detectors.sdgad.config import NETWORK, SDGADConfig
from sdgad.detectors.sdgad.evidence.base import Group
from sdgad.detectors.sdgad.evidence.boosted_kind import BoostedKind
from sdgad.detectors.sdgad.evidence.join import Weights, by_rule, chosen, joined
from sdgad.detectors.sdgad.evidence.last_word import MOST_SAY, LastWord
from sdgad.detectors.sdgad.evidence.learning import Learned, learning
from sdgad.detectors.sdgad.evidence.panel import Numbers, Panel
from sdgad.detectors.sdgad.evidence.recent import Recent
from sdgad.detectors.sdgad.evidence.sight import JUDGED, say_of_densities, sight
from sdgad.detectors.sdgad.local_state import LocalState
from sdgad.detectors.sdgad.model import Evidence, Join, SDGADModel
from sdgad.detectors.sdgad.selection import JOINS, Selection, unlabelled_join
from sdgad.detectors.task import FitScores, Task
from sdgad.events.held import ANY, held, number, texts
from sdgad.events.stream import Array
from sdgad.history.needs import Needs
from sdgad.history.window import Window, WindowShape
from sdgad.metrics import best_f1_threshold, mixture

F1_SLACK = 0.1  # the boundary finds as much as it can within 10% of the best validation F1
NARROWEST = 0.02  # ℓ_hi − B, as a share of the size of ℓ
HIGH = 0.95  # ℓ_hi is this quantile of training normals
EVIDENCE = "evidence."  # before the names of arrays of kinds of evidence
LAST, RECENT = "last.", "recent."  # and next, of those that belong to none of them


@dataclass(frozen=True, eq=False)
class MadeUp:
    """Events that did not happen: what the network says of them, and they themselves as rows."""

    evidence: Evidence
    rows: Table


@detectors.register("sdgad")
class SDGAD(LearnedDetector):
    """Scores events by the density of their residual representation, between learned boundaries.

    >>> import sdgad
    >>> train, val, test = sdgad.simulate_payments(600, seed=0).split()
    >>> det = sdgad.SDGAD(encoder="tcl", history=5, seed=0).fit(train, val=val, epochs=1)
    >>> det.decision_function(test).shape
    (240,)

    Learns with no labels (pseudo-anomalies stand in), a few, or many. The score is 0.5 at the learned boundary.
    """

    config_type: ClassVar[type[DetectorConfig]] = SDGADConfig
    config: SDGADConfig
    check_options: ClassVar[dict[str, Any]] = {
        "history": 5,
        "width": 8,
        "projection": 8,
        "hidden": 16,
        "trees": 10,
        "epochs": 1,
    }
    _model: SDGADModel
    _table: EventTable
    _learned: Callable[[], Learned] | None  # what kinds beside the network learn; None but for while it does
    _panel: Panel | None
    _recent: Recent | None  # at the end of validation; None where evidence is not measured locally
    _say: Weights  # of kinds that are asked; 0 for those that are heard in the last word alone
    _last: LastWord | None

    # ------------------------------------------------------------------ learn
    def _train(self, task: Task) -> FitScores:
        config = self.config
        self._table = self._make_table()
        with learning(task, self._table, config.kinds, config.seed, config.trees) as learned:
            self._learned = learned
            try:
                return super()._train(task)
            finally:
                self._learned = None

    def _make_model(self, shape: WindowShape) -> SDGADModel:
        return SDGADModel(self.config, shape)

    def _make_table(self) -> EventTable:
        return EventTable(self.window_shape, choose_device(self.config.device))

    def _losses(self, examples: Examples) -> dict[str, Tensor]:
        return self._model.losses(examples.window, examples.anomalous, examples.weight)

    def _judge(self, validation: Validation) -> Callable[[], dict[str, float]]:
        return Selection(self._evidence, self._model, validation)

    def _clipped_apart(self) -> Sequence[nn.Module]:
        return [self._model.project, self._model.density]

    # ------------------------------------------------------------------ calibrate
    @torch.no_grad()
    def _finish(self, task: Task, reader: Reader) -> FitScores:
        """The units of evidence, its join, and the boundary of the score; training and validation only."""
        learned = self._learned
        self._learned = None  # states are copies of the detector, and shall not hold a task
        reader.begin_before(task.train)
        train = self._evidence(reader.windows(task.train, self.score_rows))
        self._model.fit_units(train.take(task.train_label != 1))
        made = None if self._validation_chooses(task) else self._made_up(task, reader)
        val = self._evidence(reader.windows(task.val, self.score_rows))
        self._panel, self._join = None, unlabelled_join(self.config)
        self._recent = self._last = None
        if self.config.kinds:
            assert learned is not None
            train_ell, val_ell = self._weigh(task, learned(), train, val, made)
        else:
            train_ell, val_ell = self._lead(task, train, val)
        if self.config.local and self._panel is not None:
            normal = (task.val_label != 1).cpu().numpy()
            start = Recent.start(-val_ell[normal] if normal.any() else -val_ell)
            measured, self._recent = start.after_validation(-val_ell, reader.seconds(task.val))
            val_ell = -measured
        self._set_score(task, train_ell, val_ell)
        if self._recent is not None:
            self._state = self._new_state()
        return self._score_map(train_ell), self._score_map(val_ell)

    def _validation_chooses(self, task: Task) -> bool:
        """Whether enough of validation is known for its labels to choose the join, and something knows labels at all."""
        known = self.config.known and bool((task.train_label == 1).any())
        return known and task.val_has_both_classes and int((task.val_label == 1).sum()) >= FEW_LABELS

    def _made_up(self, task: Task, reader: Reader) -> MadeUp | None:
        """Pseudo-anomalies of validation events, where the join asks who can tell them from these; a memory stays where it is."""
        if "contrast" not in self.config.kinds:
            return None
        generator = torch.Generator().manual_seed(self.config.seed)
        drawn = PseudoAnomalies(task.index, task.val).draw(thinned(task.val, JUDGED), generator)
        with reader.trial():
            evidence = self._evidence(reader.windows_made(drawn, task.val, self.score_rows))
        return MadeUp(evidence, self._table.made(task.index, drawn))

    def _weigh(
        self, task: Task, learned: Learned, train: Evidence, val: Evidence, made: MadeUp | None
    ) -> tuple[Array, Array]:
        """Units of all kinds of evidence, on validation events, and their say: by a rule, or by validation labels."""
        config, panel, labels = self.config, learned.panel, learned.labels
        network: dict[str, Group] = {"flow": "density"}
        if self._model.known is not None and labels >= FEW_LABELS:  # against pseudo-anomalies trees see more
            network["odds"] = "known"
        network = {name: group for name, group in network.items() if name not in config.without}
        groups = panel.groups(network)
        val_raw = {**learned.val, **_network(val, groups)}
        normal = (task.val_label != 1).cpu().numpy()
        normal |= not normal.any()  # all of validation is anomalous: better a wrong unit than none
        panel.fit_tails({name: value[normal] for name, value in val_raw.items()})
        val_nats = panel.nats(val_raw)
        label = task.val_label.nan_to_num().cpu().numpy()
        if self._validation_chooses(task):
            say = chosen(groups, label, val_nats)
        else:
            say = by_rule(groups, labels, self._say_of_densities(panel, groups, val_nats, made))
        if config.last_word:
            self._last = LastWord.fit(groups, say, val_nats, label == 1)
        heard = set() if self._last is None else set(self._last.say)
        self._say = {name: weight for name, weight in say.items() if weight or name in heard}
        panel.keep(self._say)
        self._panel = panel
        train_raw = {**panel.raw(learned.rows), **_network(train, self._say)}
        return -self._summed(panel.nats(train_raw)), -self._summed(val_nats)

    def _say_of_densities(
        self, panel: Panel, groups: Mapping[str, Group], val_nats: Numbers, made: MadeUp | None
    ) -> float:
        """By how well they tell made-up events from those of validation, and how well the contrast does."""
        if made is None or "contrast" not in groups:
            return 1.0
        nats = panel.nats({**panel.raw(made.rows), **_network(made.evidence, groups)})
        seen = {name: sight(val_nats[name], nats[name]) for name in nats}
        return say_of_densities(
            seen["contrast"], [seen[name] for name, group in groups.items() if group == "density"]
        )

    def _summed(self, nats: Numbers) -> Array:
        """Σ w · nats, or what has the last word."""
        total = joined(nats, self._say)
        return total if self._last is None else self._last(nats, total)

    def _lead(self, task: Task, train: Evidence, val: Evidence) -> tuple[Array, Array]:
        """The network's own evidence alone: one of its two kinds leads."""
        if task.val_has_both_classes and self._model.known is not None:
            label = task.val_label.nan_to_num().cpu().numpy()
            self._join = max(JOINS, key=lambda join: mixture(label, -self._joined_ell(val, join)))
        return self._joined_ell(train, self._join), self._joined_ell(val, self._join)

    def _set_score(self, task: Task, train_ell: Array, val_ell: Array) -> None:
        ell = train_ell[(task.train_label != 1).cpu().numpy()]
        boundary = float(np.quantile(ell, self.config.alpha))
        if task.val_has_both_classes:
            label = task.val_label.nan_to_num().cpu().numpy()
            boundary = -(best_f1_threshold(label, -val_ell, slack=F1_SLACK) or 0.0)
        self._score_map: Score
        if self.config.score == "printed":
            self._score_map = PrintedScore(highest=max(0.0, float(ell.max())))
        else:
            # a boundary above nearly all normals would leave no width to scale by, and a model that knows of no
            # difference none but rounding, which depends on the batch
            width = max(0.01 * float(ell.std()), NARROWEST * (1 + abs(boundary)))
            high = max(float(np.quantile(ell, HIGH)), boundary + width)
            self._score_map = CalibratedScore(boundary=boundary, high=high)

    # ------------------------------------------------------------------ score
    @torch.no_grad()
    def _evidence(self, windows: Iterable[Window]) -> Evidence:
        """The network's."""
        model: SDGADModel = self._in_eval()
        with self._scoring():
            return Evidence.cat([model.evidence(window) for window in windows])

    def _raw(self, windows: Iterable[Window]) -> Numbers:
        """Of all kinds that have a say, those of the network among them."""
        panel, rows = self._panel, []
        assert panel is not None

        def as_rows_too() -> Iterator[Window]:
            for window in windows:
                rows.append(self._table.of(window))
                yield window

        network = self._evidence(as_rows_too())
        table = np.concatenate(rows)
        found = {**panel.raw(table), **_network(network, self._say)}
        self._tell(table, found)
        return found

    def _joined_ell(self, evidence: Evidence, join: Join) -> Array:
        joined_ell: Array = self._model.join(evidence, join).cpu().numpy()
        return joined_ell

    def _ell_of_windows(self, windows: Iterable[Window]) -> Array:
        """What the score is a function of, before it is measured by recent events: log p, or minus the sum of nats."""
        if self._panel is None:
            return self._joined_ell(self._evidence(windows), self._join)
        return -self._summed(self._panel.nats(self._raw(windows)))

    def _nats_of_windows(self, windows: Iterable[Window]) -> Array:
        return -self._ell_of_windows(windows)

    def _score_windows(self, windows: Iterable[Window]) -> Array:
        return self._score_map(self._ell_of_windows(windows))

    def _new_state(self) -> OwnState:
        if self._recent is None:
            return super()._new_state()
        score = self._score_map
        return LocalState(self._state_of(SDGAD._nats_of_windows), self._recent, lambda nats: score(-nats))

    def _move_to(self, device: torch.device) -> None:
        self._table = self._make_table()
        if self._panel is not None:
            self._panel = self._panel.reading(self._table)  # copies of the detector keep theirs
        super()._move_to(device)

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        needs = super().needs
        needs = replace(needs, sequels=max(needs.sequels, self.sequels_length))
        return replace(needs, time=True) if self.config.local and self.config.kinds else needs

    @property
    def sequels_length(self) -> int:  # type: ignore[override]
        config = self.config
        return min(SEQUELS_TOLD, config.history) if config.sequels and config.kinds else 0

    # ------------------------------------------------------------------ explain
    @property
    def tells_rows(self) -> bool:  # type: ignore[override]
        return self._panel is not None

    def _evidence_told(self, told: Numbers) -> list[tuple[str, Array, Array]]:
        """Weights are those of the surprise, which says how rare so much of a kind is; what counts of it may be less."""
        if self._panel is None or not told:
            return []
        surprise = self._panel.surprise(told)
        nats = self._panel.counted(told, surprise)
        if self._last is not None:
            shares = self._last.shares(nats, self._say)
        else:
            shares = {name: np.full(len(nats[name]), weight) for name, weight in self._say.items()}
        return [
            (name, share * _ratio(nats[name], surprise[name]), surprise[name])
            for name, share in shares.items()
        ]

    def _boosted(self) -> Say:
        kinds = {} if self._panel is None else self._panel.kinds
        return {
            name: (kind.trees, self._say[name])
            for name, kind in kinds.items()
            if isinstance(kind, BoostedKind)
        }

    # ------------------------------------------------------------------ files
    def _weights(self) -> dict[str, Array]:
        evidence = {} if self._panel is None else self._panel.arrays()
        evidence |= {} if self._recent is None else self._recent.arrays()
        evidence |= {} if self._last is None else {LAST + name: x for name, x in self._last.arrays().items()}
        return {**super()._weights(), **{EVIDENCE + name: array for name, array in evidence.items()}}

    def _calibration(self) -> dict[str, Any]:
        held = {**super()._calibration(), "score": self._score_map.to_json(), "join": asdict(self._join)}
        if self._panel is not None:
            held["kinds"] = list(self._panel.kinds)
            held["say"] = self._say
        if self._last is not None:
            held["last_word"] = self._last.say
        return held

    def _restore(self, weights: dict[str, Array], calibration: dict[str, Any]) -> None:
        evidence = {name: array for name, array in weights.items() if name.startswith(EVIDENCE)}
        held(
            weights, "project.weight", "f4", (self.config.projection, ANY)
        )  # before a density of that width is built
        super()._restore({name: weights[name] for name in weights.keys() - evidence.keys()}, calibration)
        self._join = Join(**calibration["join"])
        if self._join.lead not in ("odds", "density", "neither"):
            raise ValueError(f"nothing named {self._join.lead!r} can lead")
        number(self._join.weight, "the weight of the join", low=0, high=MOST_SAY)
        self._score_map = score_from_json(calibration["score"])
        self._panel, self._table, self._recent, self._last = None, self._make_table(), None, None
        evidence = {name.removeprefix(EVIDENCE): array for name, array in evidence.items()}
        if f"{RECENT}plain" in evidence:
            self._recent = Recent.from_arrays(evidence)
        last = {name.removeprefix(LAST): array for name, array in evidence.items() if name.startswith(LAST)}
        if "kinds" in calibration:
            self._panel = Panel(self._table, texts(calibration["kinds"], "kinds"))
            self._panel.load(
                {name: array for name, array in evidence.items() if not name.startswith((RECENT, LAST))}
            )
            self._say = {
                name: number(weight, f"the say of {name!r}", low=0, high=MOST_SAY)
                for name, weight in calibration["say"].items()
            }
            self._panel.need_for(self._say, [*NETWORK[: 1 + (self._model.known is not None)]])
        if last or "last_word" in calibration:
            self._last = LastWord.from_file(calibration["last_word"], last)
            if self._panel is None or not set(self._last.say) <= set(self._say):
                raise ValueError("the last word is of kinds of evidence that are not asked")
        local, whole = self.config.local and self._panel is not None, bool(self.config.kinds)
        if (self._recent is not None) != local or (self._panel is not None) != whole:
            raise ValueError("what is held of evidence does not go with the options")


def _network(evidence: Evidence, names: Collection[str]) -> Numbers:
    """Of kinds of evidence that are the network's, those of these names."""
    numbers = {}
    if "flow" in names:
        numbers["flow"] = -evidence.ell.double().cpu().numpy()
    if "odds" in names and evidence.odds is not None:
        numbers["odds"] = evidence.odds.double().cpu().numpy()
    return numbers


def _ratio(part: Array, whole: Array) -> Array:
    """part / whole, and 1 where there is neither."""
    found: Array = np.divide(part, whole, out=np.ones_like(whole), where=whole != 0)
    return found
