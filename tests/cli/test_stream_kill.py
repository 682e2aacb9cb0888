"""`kill -9` at any moment costs no answer: start again with the same input, join the outputs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from sdgad.cli.main import run
from sdgad.events.simulator import simulate_payments
from sdgad.events.write import write_events

from .lives import Answer, Life

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
