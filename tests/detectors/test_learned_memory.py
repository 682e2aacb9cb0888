"""How a detector learns with an encoder that remembers: from predecessors on, in order, replayed under the weights it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from sdgad.detectors import Detector, make_detector
from sdgad.detectors.average import Swapped
from sdgad.detectors.capture import Capture
from sdgad.detectors.learned.reader import Reader
from sdgad.detectors.learned.selection import Validation
from sdgad.detectors.sdgad.local_state import LocalState
from sdgad.events.simulator import simulate_payments
from sdgad.events.stream import EventStream
from sdgad.history.memory import NodeMemory

TICK = 7200.0
SMALL: dict[str, Any] = {
    "encoder": "tgn",
    "history": 4,
    "width": 8,
    "hidden": 8,
    "commit": 20,
    "batch": 16,
    "device": "cpu",
}


def payments() -> EventStream:
    events = simulate_payments(900, anomaly_rate=0.05, seed=6)
    names = [events.vocabulary.raw(codes).to_pylist() for codes in (events.src, events.dst)]
    t = np.floor(events.t / TICK) * TICK
    return EventStream(*names, t, events.msg, events.label, features=events.features, clock=events.clock)


EVENTS = payments()
PAST, TRAIN, VAL, TEST = EVENTS[:150], EVENTS[150:500], EVENTS[500:700], EVENTS[700:]


def fitted(name: str = "classifier", **options: Any) -> Detector:
    return make_detector(name, **{**SMALL, **options}).fit(TRAIN, val=VAL, epochs=2)


@pytest.mark.parametrize(
    ("name", "encoder"), [("classifier", "tgn"), ("sdgad", "tgn"), ("classifier", "dyrep")]
)
@pytest.mark.parametrize("labels", ["all", "few-shot", "none"])
def test_the_memory_that_is_kept_is_that_of_the_weights_that_are_kept(
    name: str, encoder: str, labels: Any
) -> None:
    """Replayed event by event through a new state, from the first predecessor on; DyRep has dropout in what it writes."""
    detector = make_detector(name, **{**SMALL, "encoder": encoder})
    detector.fit(TRAIN.with_labels(labels, k=2), val=VAL, epochs=2)
    live = detector.live()
    kept, again = live._state, detector._new_state()
    archive, view = detector._archive, detector.view
    index = view.index(archive.log, detector.clock)
    for row in range(len(index)):
        again.enter(view.rows(index, torch.tensor([row])))
    kept, again = (state._nats if isinstance(state, LocalState) else state for state in (kept, again))
    assert isinstance(kept, NodeMemory)
    assert isinstance(again, NodeMemory)
    assert kept.events == again.events == len(PAST) + len(TRAIN) + len(VAL)
    for (name_, one), other in zip(
        sorted(kept.table().items()), [again.table()[k] for k in sorted(again.table())], strict=True
    ):
        size = min(len(one), len(other))
        np.testing.assert_allclose(one[:size], other[:size], rtol=0, atol=1e-5, err_msg=name_)


def test_predecessors_warm_the_memory_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first training batch is read with a memory that has gone through all that came before."""
    seen: list[int] = []
    original = Reader.rows

    def rows(reader: Reader, wanted: torch.Tensor) -> Any:
        assert reader.memory is not None
        seen.append(reader.memory.events - int(wanted[0]))
        return original(reader, wanted)

    monkeypatch.setattr(Reader, "rows", rows)
    fitted()
    assert len(seen) > 30
    assert set(seen) == {0}  # everything before a batch has entered, and nothing of it or after it


def test_batches_end_where_the_memory_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[torch.Tensor] = []
    original = Reader.places

    def watch(reader: Reader, rows: torch.Tensor, size: int) -> Any:
        for places in original(reader, rows, size):
            assert reader.memory is not None
            batches.append(rows[places])
            ends = reader.memory.cuts(reader.seconds(rows[places]))
            assert ends.tolist() in ([], [0])
            yield places

    monkeypatch.setattr(Reader, "places", watch)
    detector = fitted()
    assert all(len(batch) <= 16 for batch in batches)
    whole = torch.cat(batches)
    assert torch.equal(whole, torch.arange(150, 500).repeat(2))  # in order of time, whatever `order` says
    assert len(detector.record_.epochs) == 2


def test_validation_replays_the_memory_under_the_averaged_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each, all blocks from the first event on are committed anew, by the weights that are in place then."""
    commits: list[bool] = []
    replays: list[tuple[int, int]] = []
    averaged: list[bool] = []
    begin, commit, swap = Validation.begin, NodeMemory.commit, Swapped.swap

    def count(memory: NodeMemory, block: Any) -> None:
        commits.append(True)
        commit(memory, block)

    def watch(validation: Validation) -> None:
        assert len(averaged) % 2 == 1  # the average is in place, and will be taken out again
        before = len(commits)
        begin(validation)
        memory = validation._reader.memory
        assert memory is not None
        fresh = NodeMemory(memory._needs, memory._rule, torch.device("cpu"))
        blocks = fresh.cuts(validation._reader.seconds(torch.arange(int(validation.rows[0]))))
        replays.append((len(commits) - before, len(blocks)))

    def swapped(swapping: Swapped) -> None:
        averaged.append(True)
        swap(swapping)

    monkeypatch.setattr(NodeMemory, "commit", count)
    monkeypatch.setattr(Validation, "begin", watch)
    monkeypatch.setattr(Swapped, "swap", swapped)
    fitted()
    assert len(replays) == 2
    assert all(made == expected > 10 for made, expected in replays)


@pytest.mark.parametrize("encoder", ["tgn", "jodie", "dyrep"])
def test_why_a_step_with_memory_is_not_recorded_is_known(
    encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU `Capture` says it once, with the name of the encoder."""
    said: list[tuple[str, str]] = []

    class Watched(Capture[Any]):
        def __init__(self, *args: Any, of: str, obstacle: str, **options: Any) -> None:
            said.append((of, obstacle))
            super().__init__(*args, of=of, obstacle=obstacle, **options)

    monkeypatch.setattr("sdgad.detectors.learned.detector.Capture", Watched)
    make_detector("classifier", **{**SMALL, "encoder": encoder}).fit(TRAIN, val=VAL, epochs=1)
    [(of, obstacle)] = said
    assert repr(encoder) in of
    assert obstacle == "its steps are not the same work every time"


def test_scoring_begins_where_validation_ends_and_goes_on() -> None:
    detector = fitted()
    whole = detector.decision_function(TEST)
    parts = [detector.decision_function(TEST[:70])]
    parts.append(detector.update(TEST[:70]).decision_function(TEST[70:]))
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=0, atol=1e-5)
