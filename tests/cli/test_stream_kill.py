"""`kill -9` at any moment costs no answer: start again with the same input, join the outputs."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from sdgad.cli.main import run
from sdgad.detectors.live_state import KEY
from sdgad.events.simulator import simulate_payments
from sdgad.events.write import write_events

from .lives import Answer, Life, apart, begun, to_file

KILLS = 70  # of the stream; the others of 200 hit saves and updates
BAD = [b"", b"{", b'{"src": 1}']


FITS = {
    "isolation-forest": ["--detector", "isolation-forest", "--set", "trees=10"],
    "midas-f": ["--detector", "midas-f", "--set", "tick=3600"],
    "tgn": [
        "--detector",
        "classifier",
        "--encoder",
        "tgn",
        "--epochs",
        "1",
        "--set",
        "commit=20",
        "--set",
        "width=8",
    ],
}  # a model on Windows alone, and two with a state of their own


def fitted(folder: Path, options: list[str]) -> Path:
    """A small model; `new.jsonl` beside it has some bad lines among the good ones."""
    events = simulate_payments(1_500, anomaly_rate=0.05, seed=1)
    write_events(events[:300], folder / "past.jsonl")
    write_events(events[300:], folder / "new.jsonl")
    command = ["fit", str(folder / "past.jsonl"), "-o", str(folder / "model"), "--features", "amount,channel"]
    assert run([*command, *options]) == 0
    lines = (folder / "new.jsonl").read_bytes().splitlines()
    mixed = [line for i, good in enumerate(lines) for line in ([BAD[i % 3], good] if i % 11 == 0 else [good])]
    (folder / "new.jsonl").write_bytes(b"\n".join(mixed))
    return folder / "model"


@pytest.fixture(scope="module", params=sorted(FITS))
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fitted(tmp_path_factory.mktemp("kill"), FITS[request.param])


def survive(model: Path, folder: Path, kills: int, lines: int) -> None:
    """Kill `kills` times, at moments that seed 0 chooses, then let it finish; compare with a run in peace."""
    rng = np.random.default_rng(0)
    source = folder / "in.jsonl"
    text = (model.parent / "new.jsonl").read_bytes().splitlines()[:lines]
    source.write_bytes(b"\n".join(text))
    with Life(source, "stream", model) as life:
        expected = life.answers()
        assert life.exit_code() == 0

    found: dict[int, Answer] = {}
    repeated = 0
    for kill in range(kills + 1):
        every = int(rng.choice([1, 2, 5, 40]))  # so often that many a kill hits a snapshot
        with Life(source, "stream", model, "--state", folder / "state", "--every", every) as life:
            if kill < kills:
                most = 2 * (lines - len(found)) // (kills - kill + 1)
                answers = life.answers(int(rng.integers(0, max(most, 1))))
                os.kill(life.pid, signal.SIGKILL)
                answers += life.answers()
                assert life.exit_code() == -signal.SIGKILL
            else:
                answers = life.answers()
                assert life.exit_code() == 0
        for answer in answers:
            repeated += answer["line"] in found
            assert found.setdefault(answer["line"], answer) == answer
    assert [found[line] for line in sorted(found)] == expected
    assert len(expected) == lines
    assert repeated > 0  # some kills came between an answer and the snapshot that counts it
    assert sorted(path.name for path in (folder / "state").iterdir()) == ["lock", "state.safetensors"]


def test_five_kills_lose_nothing(model: Path, tmp_path: Path) -> None:
    survive(model, tmp_path, kills=5, lines=300)


@pytest.mark.slow
def test_fifty_kills_lose_nothing(model: Path, tmp_path: Path) -> None:
    survive(model, tmp_path, kills=50, lines=1_200)


def counted(state: Path) -> int:
    """How many lines the snapshot calls done."""
    if not state.exists():
        return 0
    with safe_open(state, framework="np") as file:
        return int(json.loads(file.metadata()[KEY])["note"]["lines"])


def survive_in_a_file(model: Path, folder: Path, kills: int, lines: int) -> None:
    """The same with `>> out.jsonl`: killed at any moment, also while it starts or saves, the file is never wrong.

    After every kill the state counts no line whose answer is not in the file; at the end every line of the file is one
    answer, and what was answered twice was answered alike.
    """
    rng = np.random.default_rng(1)
    source, out, state = folder / "in.jsonl", folder / "out.jsonl", folder / "state"
    source.write_bytes(b"\n".join((model.parent / "new.jsonl").read_bytes().splitlines()[:lines]))
    assert apart(source, "stream", model, prepare=[to_file(folder / "whole.jsonl")])[0] == 0
    expected = [json.loads(line) for line in (folder / "whole.jsonl").read_text().splitlines()]
    assert len(expected) == lines
    out.write_bytes(b"")
    size = (folder / "whole.jsonl").stat().st_size
    for _ in range(kills):
        command = ("stream", model, "--state", state, "--every", int(rng.choice([1, 3, 20])))
        process = begun(source, *command, prepare=[to_file(out)])
        goal = out.stat().st_size + int(rng.integers(0, size // kills))  # so the end is never reached
        if rng.random() < 0.2:
            time.sleep(0.2 * rng.random())  # while it starts
        else:
            while process.is_alive() and out.stat().st_size < goal:
                time.sleep(0.001)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        whole = {
            json.loads(line)["line"]
            for line in out.read_bytes().splitlines(keepends=True)
            if line.endswith(b"\n")
        }
        assert set(range(1, counted(state / "state.safetensors") + 1)) <= whole
        if rng.random() < 0.3:  # as if the power had failed within a write
            with out.open("ab") as file:
                file.write(json.dumps(expected[-1]).encode()[: rng.integers(1, 40)])
    code, notes = apart(source, "stream", model, "--state", state, prepare=[to_file(out)])
    assert code == 0, notes
    found: dict[int, Answer] = {}
    for line in out.read_bytes().splitlines():
        answer = json.loads(line)
        assert found.setdefault(answer["line"], answer) == answer
    assert [found[line] for line in sorted(found)] == expected
    assert counted(state / "state.safetensors") == lines
    assert sorted(path.name for path in state.iterdir()) == ["lock", "state.safetensors"]


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fitted(tmp_path_factory.mktemp("kill-file"), FITS["isolation-forest"])


def test_three_kills_leave_a_file_that_is_whole(forest: Path, tmp_path: Path) -> None:
    survive_in_a_file(forest, tmp_path, kills=3, lines=150)


@pytest.mark.slow
def test_seventy_kills_leave_a_file_that_is_whole(forest: Path, tmp_path: Path) -> None:
    survive_in_a_file(forest, tmp_path, kills=KILLS, lines=1_200)
