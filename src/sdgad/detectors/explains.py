"""Explains: a detector tells why."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch

from sdgad.detectors.archive import Archive
from sdgad.detectors.deciding import sound
from sdgad.detectors.event_table import EventTable, Table
from sdgad.detectors.explaining.account import Account
from sdgad.detectors.explaining.columns import TableColumns
from sdgad.detectors.explaining.explainer import MOST, Explainer, Say
from sdgad.detectors.explaining.explanation import Explanation
from sdgad.detectors.explaining.findings import Findings
from sdgad.detectors.explaining.states import Narrowed, Witness
from sdgad.detectors.own_state import OwnState
from sdgad.detectors.task import Task
from sdgad.detectors.view import View
from sdgad.errors import InputError
from sdgad.events.stream import Array, EventStream
from sdgad.history.context import PHASE_NAMES, context_names
from sdgad.history.habit_words import Ends
from sdgad.history.log import EventLog
from sdgad.history.window import WindowShape

if TYPE_CHECKING:
    from sdgad.detectors.base import Detector

HABIT = 20  # past events that tell a habit, where a detector itself looks at none
SAMPLE = 4096  # normal events that tell what is unusual
PREFIX = "explain."  # before the names of arrays in a model folder


class Explains(ABC):
    """`explain`: kinds of evidence, where a detector has such, and the habits that an event breaks.

    Everything is read off the rows of the event table. A detector that makes these rows itself tells them (`_tell`); for any
    other they are made from the same Windows that it scores, which hold more than it looks at where they have to.
    """

    tells_rows: ClassVar[bool] = False  # whether it calls `_tell` with rows of its whole table
    _explainer: Explainer | None = None
    _account: Account | None = None

    @abstractmethod
    def _new_state(self) -> OwnState: ...

    # ------------------------------------------------------------------ what a detector may tell
    def _tell(self, rows: Table, kinds: Mapping[str, Array] | None = None) -> None:
        """To be called while events are scored: their rows, and a number of every kind of evidence."""
        if self._account is not None:
            self._account.tell(rows, kinds or {})

    def _evidence_told(self, told: dict[str, Array]) -> list[tuple[str, Array, Array]]:  # noqa: ARG002
        """Name, weights in the scores and nats of every kind of evidence, from the numbers that it told."""
        return []

    def _boosted(self) -> Say:
        """Its boosted trees on rows of the event table."""
        return {}

    # ------------------------------------------------------------------ verbs
    def explain(self: Detector, events: EventStream, *, most: int = MOST) -> list[Explanation]:  # type: ignore[misc]
        """Why each row has its score, in input order: at most so many residuals each.

        The score is that of `decision_function`. A row that is dropped as late has the score NaN and nothing else.
        """
        return self.findings(events).explanations(most=most)

    def findings(self: Detector, events: EventStream) -> Findings:  # type: ignore[misc]
        """Scores and, for those rows that are asked for afterwards, explanations: one pass over the events."""
        self._need_fit()
        if not self.keeps_log:
            scores = self.decision_function(events)
            return self._found(scores, np.full(np.count_nonzero(~np.isnan(scores)), -1), None, Account())
        explainer, account = self._the_explainer(), Account()
        arrivals = self._arrived(events)
        standing = self._witness(account)
        if self._state.remembers:
            standing.load(self._state.arrays())
        scores, place = np.full(len(events), np.nan), np.empty(0, np.int64)
        with account.listening():
            if len(arrivals.kept):
                found = self._archive.through(
                    arrivals, standing, lambda: self._witness(account), self._explaining_view, self.score_rows
                )
                scores[arrivals.kept], place = sound(found[:, 0]), found[:, 1].astype(np.int64)
        return self._found(scores, place, explainer, account)

    def _found(  # type: ignore[misc]
        self: Detector, scores: Array, place: Array, explainer: Explainer | None, account: Account
    ) -> Findings:
        """`place`: of the events that have a score, on the account."""
        p_values, every = np.full(len(scores), np.nan), np.full(len(scores), -1)
        known = ~np.isnan(scores)
        p_values[known], every[known] = self.p_value(scores[known]), place
        evidence = self._evidence_told(account.kinds())
        return Findings(scores, p_values, every, account.table(), evidence, explainer)

    # ------------------------------------------------------------------ how
    @property
    def _explaining_view(self: Detector) -> View:  # type: ignore[misc]
        """Its own, with history and context where it looks at none."""
        return replace(self.view, history=self.history_length or HABIT, context=True)

    @property
    def _sees_habits(self: Detector) -> bool:  # type: ignore[misc]
        """Whether its own Windows hold all that explanations need."""
        return self.uses_context and self.history_length > 0

    def _telling_state(self: Detector, account: Account, *, wide: bool) -> OwnState:  # type: ignore[misc]
        """A new state that puts on an account what the detector tells; `wide`: its Windows are those of `_explaining_view`."""
        twin = copy.copy(self)
        twin._account = account
        state = twin._new_state()
        if wide and not self._sees_habits:
            return Narrowed(state, self.history_length, self.uses_context)
        return state

    def _witness(self: Detector, account: Account, state: OwnState | None = None) -> Witness:  # type: ignore[misc]
        """The same, and the account holds rows, whether or not the detector tells them."""
        table = None if self.tells_rows and self._sees_habits else self._the_explainer().table
        account.own_table = table
        return Witness(state or self._telling_state(account, wide=True), account)

    # ------------------------------------------------------------------ what is unusual
    def _learn_to_explain(self: Detector, task: Task) -> None:  # type: ignore[misc]
        """From a sample of validation events that are not labelled anomalous."""
        self._explainer = None
        if not self.keeps_log:
            return
        normal = (task.val_label != 1).cpu().numpy()
        view = self._explaining_view
        index = task.index if self._sees_habits else view.index(task.log, task.border.clock)
        rows = some(task.middle + np.flatnonzero(normal | (not normal.any())))
        table = EventTable(self._table_columns.shape)
        normals = table.rows(index, torch.from_numpy(rows).to(index.device))
        self._explainer = Explainer.fitted(self._table_columns, self._ends, normals, self._trees_read)

    def _the_explainer(self: Detector) -> Explainer:  # type: ignore[misc]
        """What was learned or, for a model of an older version, what its history tells."""
        if self._explainer is None:
            assert isinstance(self._archive, Archive)
            rows = self._validation_in(self._archive)
            if not len(rows):
                raise InputError(
                    "This model comes from a version of sdgad that explained nothing, and its folder holds no history to "
                    "learn it from: fit it again."
                )
            index = self._explaining_view.index(self._archive.log, self._archive.border.clock)
            normals = EventTable(self._table_columns.shape).rows(
                index, torch.from_numpy(rows).to(index.device)
            )
            self._explainer = Explainer.fitted(self._table_columns, self._ends, normals, self._trees_read)
        return self._explainer

    def _validation_in(self: Detector, archive: Archive) -> Array:  # type: ignore[misc]
        """Some validation events that are not labelled anomalous, as rows of the log that they are part of."""
        log: EventLog = archive.log
        until = log.t[-1] if archive.fitted_until is None and len(log) else archive.fitted_until
        stop = len(log) if until is None else int(np.searchsorted(log.t, until, side="right"))
        label = self._validation.label
        rows = np.arange(stop - len(label), stop)
        normal = (label != 1) | bool((label == 1).all())
        return some(rows[(rows >= 0) & normal])

    def _explaining_arrays(self) -> dict[str, Array]:
        """As they go into `state.safetensors`."""
        held = {} if self._explainer is None else self._explainer.arrays()
        return {PREFIX + name: array for name, array in held.items()}

    def _load_explaining(self: Detector, arrays: Mapping[str, Array]) -> None:  # type: ignore[misc]
        """The inverse, once all else is restored."""
        held = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        if held:
            self._explainer = Explainer.from_arrays(self._table_columns, self._ends, held, self._trees_read)

    @property
    def _table_columns(self: Detector) -> TableColumns:  # type: ignore[misc]
        border = self._archive.border
        phases = len(PHASE_NAMES) if border.clock.wall_clock else 0
        context = len(context_names(border.clock))
        history = self._explaining_view.history
        shape = WindowShape(history, border.features.width, context, phases, self.sequels_length)
        return TableColumns(shape, border.features, border.clock)

    @property
    def _ends(self: Detector) -> Ends:  # type: ignore[misc]
        names = self._archive.border.names
        return Ends.named(names.src, names.dst)

    @property
    def _trees_read(self: Detector) -> Say:  # type: ignore[misc]
        """Trees on the first columns of the table, or on all; without context theirs is another."""
        return self._boosted() if self.uses_context else {}


def some(rows: Array) -> Array:
    """At most as many as the sample has, evenly."""
    found: Array = rows[:: max(1, -(-len(rows) // SAMPLE))]
    return found
