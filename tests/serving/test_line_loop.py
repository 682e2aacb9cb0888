"""Answers are written before anything claims that they were, and a restart goes on from there."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest

from sdgad.errors import InputError, ModelFolderError
from sdgad.serving.consumed import Consumed
from sdgad.serving.line_loop import answer_lines
from sdgad.serving.line_scorer import LineScorer
from sdgad.serving.line_source import LineSource
from sdgad.serving.state_folder import StateFolder

from .fakes import FakeLive

LINES = [
    json.dumps({"who": "ab"[i % 2], "whom": "z", "when": 1_600_000_000 + i}).encode() if i % 5 else b"{bad"
    for i in range(40)
]


class Pipe(io.BytesIO):
    """A reader that goes away after some answers, which come in one write each."""

    def __init__(self, patience: int = 10**9) -> None:
        super().__init__()
        self.patience = patience

    def flush(self) -> None:
        self.patience -= 1
        if self.patience < 0:
            raise BrokenPipeError

    @property
    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


def run(
    path: Path, out: Pipe, folder: Path | None = None, *, continued: bool = False, **options: Any
) -> Consumed:
    """What the command does."""
    live = FakeLive()
    scorer = LineScorer(cast(Any, live))
    with path.open("rb") as file, LineSource(file.fileno()) as source:
        if folder is None:
            consumed = Consumed()
            answer_lines(source, scorer, out, consumed)
            return consumed
        with StateFolder(folder, cast(Any, live), **options) as state:
            consumed = state.resume()
            if not continued:
                consumed.skip(source)
            answer_lines(source, scorer, out, consumed, state=state)
            return consumed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "lines.jsonl").write_bytes(b"\n".join(LINES))
    return tmp_path / "lines.jsonl"


def test_every_line_is_answered_and_flushed_by_itself(path: Path) -> None:
    out = Pipe()
    assert run(path, out).lines == 40
    assert [answer["line"] for answer in out.answers] == list(range(1, 41))
    assert 10**9 - out.patience >= 40


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_a_closed_pipe_is_never_counted_as_answered(path: Path, tmp_path: Path, every: int) -> None:
    whole, folder, found = Pipe(), tmp_path / "state", {}
    run(path, whole)
    for patience in (3, 9, 1, 16, 100):
        out = Pipe(patience)
        if patience < 100:
            with pytest.raises(BrokenPipeError):
                run(path, out, folder, every=every)
        else:
            run(path, out, folder, every=every)
        for answer in out.answers[:patience]:  # what was written but not flushed may be lost
            assert found.setdefault(answer["line"], answer) == answer
    assert [found[line] for line in sorted(found)] == whole.answers


def test_an_input_that_goes_on_is_not_skipped(path: Path, tmp_path: Path) -> None:
    whole, first, second, folder = Pipe(), Pipe(), Pipe(), tmp_path / "state"
    run(path, whole)
    (tmp_path / "1").write_bytes(b"\n".join(LINES[:17]))
    (tmp_path / "2").write_bytes(b"\n".join(LINES[17:]))
    run(tmp_path / "1", first, folder)
    run(tmp_path / "2", second, folder, continued=True)
    assert first.answers + second.answers == whole.answers
    assert run(path, third := Pipe(), folder).lines == 40  # the checksum has gone on, too
    assert third.answers == []


def test_another_input_is_not_taken_for_the_same(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    run(path, Pipe(), folder)
    (tmp_path / "short").write_bytes(b"\n".join(LINES[:17]))
    with pytest.raises(InputError, match="ends after 17 lines, fewer than the 40 "):
        run(tmp_path / "short", Pipe(), folder)
    (tmp_path / "other").write_bytes(b"\n".join([*LINES[1:], *LINES]))
    with pytest.raises(InputError, match="first 40 lines of the input are not those"):
        run(tmp_path / "other", Pipe(), folder)


def test_one_folder_serves_one_process(path: Path, tmp_path: Path) -> None:
    with (
        StateFolder(tmp_path / "state", cast(Any, FakeLive())),
        pytest.raises(InputError, match="state is in use by another process"),
    ):
        run(path, Pipe(), tmp_path / "state")
    run(path, Pipe(), tmp_path / "state")


def test_a_snapshot_that_counts_no_lines_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    FakeLive().snapshot(StateFolder(tmp_path / "state", cast(Any, FakeLive())).path, {"mine": 1})
    with pytest.raises(ModelFolderError, match="does not say how many lines"):
        run(path, Pipe(), tmp_path / "state")


def test_time_makes_a_snapshot_due_also_while_nothing_comes(tmp_path: Path) -> None:
    read, write = os.pipe()
    live = FakeLive()
    scorer = LineScorer(cast(Any, live))

    class Watched(StateFolder):
        def save(self, consumed: Consumed) -> None:
            super().save(consumed)
            if consumed.lines == 1 and self.path.exists():
                source.stop()  # the input is still open

    os.write(write, LINES[1] + b"\n")
    folder = Watched(tmp_path / "state", cast(Any, live), seconds=0.01)
    with LineSource(read) as source, folder as state:
        answer_lines(source, scorer, Pipe(), Consumed(), state=state)
    assert json.loads(state.path.read_text())["note"]["lines"] == 1
    os.close(read)
    os.close(write)
