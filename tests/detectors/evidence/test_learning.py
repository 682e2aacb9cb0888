"""What kinds of evidence learn does not depend on when they do."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

from sdgad.detectors.event_table import EventTable
from sdgad.detectors.sdgad.evidence.base import kinds
from sdgad.detectors.sdgad.evidence.learning import Learned, beside, learning
from sdgad.detectors.task import Task

from .test_kinds import lesson_of

TREES, SEED = 10, 3


@pytest.fixture(scope="module")
def given() -> tuple[EventTable, Task]:
    table, lesson = lesson_of()
    return table, lesson.task


def learned_of(given: tuple[EventTable, Task]) -> Learned:
    table, task = given
    with learning(task, table, kinds.names(), SEED, TREES) as learned:
        return learned()


def test_what_learns_beside_the_network_learns_what_it_learns_after_it(
    given: tuple[EventTable, Task],
) -> None:
    threads = []

    def learn() -> Learned:
        threads.append(threading.current_thread())
        return learned_of(given)

    after = learn()
    with beside(given[1], learn) as wait:
        found = wait()
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threads[0]
    assert found.labels == after.labels > 0
    assert found.val.keys() == after.val.keys()
    np.testing.assert_array_equal(found.rows, after.rows)
    for name, value in after.val.items():
        np.testing.assert_array_equal(found.val[name], value, err_msg=name)


def test_on_a_cpu_nothing_is_learned_before_it_is_asked_for(
    given: tuple[EventTable, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr("sdgad.detectors.sdgad.evidence.learning._learn", lambda *_: asked.append(1))
    table, task = given
    with learning(task, table, kinds.names(), SEED, TREES) as learned:
        assert not asked
        learned()
    assert asked == [1]


def test_what_goes_wrong_beside_is_told_to_who_waits_for_it(given: tuple[EventTable, Task]) -> None:
    def learn(reason: str) -> Learned:
        raise ValueError(reason)

    with beside(given[1], partial(learn, "no rows")) as wait, pytest.raises(ValueError, match="no rows"):
        wait()
