"""What kinds of evidence beside the network learn: after it, or on a GPU beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial

import torch

from sdgad.detectors.event_table import EventTable, Table
from sdgad.detectors.growing import Growth
from sdgad.detectors.own_stream import own_stream
from sdgad.detectors.sdgad.evidence.base import Lesson
from sdgad.detectors.sdgad.evidence.panel import Numbers, Panel
from sdgad.detectors.task import Task


@dataclass(frozen=True, eq=False)
class Learned:
    """Kinds that were fitted, what they say of validation events, and training events as rows: of these they are asked next."""

    panel: Panel
    labels: int  # training events that are labelled anomalous
    rows: Table
    val: Numbers


@contextmanager
def learning(
    task: Task, table: EventTable, names: Sequence[str], seed: int, trees: int
) -> Iterator[Callable[[], Learned]]:
    """What is yielded gives what these kinds learned from a task, trees being at most so many.

    They need nothing of the network. On a GPU they learn beside it. On a CPU, where the two would wait for each other many
    thousand times, they learn when they are asked for.
    """
    learn = partial(_learn, task, table, names, seed, trees)
    if not names or task.view.device.type == "cpu":
        yield learn
    else:
        with beside(task, learn) as learned:
            yield learned


@contextmanager
def beside(task: Task, learn: Callable[[], Learned]) -> Iterator[Callable[[], Learned]]:
    """Learn in a thread and a stream of work of its own, while the caller goes on; what is yielded waits for the end of it."""
    # what both read is made before either begins: one stream of work does not wait for what another has not finished
    _ = task.index, task.train, task.val
    if task.view.device.type == "cuda":
        torch.cuda.current_stream(task.view.device).synchronize()
    with ThreadPoolExecutor(1, "sdgad-evidence") as thread:
        yield thread.submit(copy_context().run, learn).result


def _learn(task: Task, table: EventTable, names: Sequence[str], seed: int, trees: int) -> Learned:
    with own_stream(task.view.device), torch.no_grad():
        train, val = (table.rows(task.index, rows) for rows in (task.train, task.val))
        lesson = Lesson(task, train, val, seed, Growth(most=trees))
        panel = Panel.fitted(table, lesson, names)
        return Learned(panel, int(lesson.anomalous.sum()), train, panel.raw(val))
