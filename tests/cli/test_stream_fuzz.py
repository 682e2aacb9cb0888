"""Whatever comes in, every line gets one answer, and good lines get the scores that they get without the bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdgad.cli.main import run
from sdgad.events.simulator import simulate_payments
from sdgad.events.write import write_events

from .lives import Answer, Life

Rng = np.random.Generator
USED = ("src", "dst", "t", "amount", "channel")

ODD_VALUES = [
    None, True, False, "", " ", "NaN", "inf", "null", "1,5", "-1.5e3", "0x10", "2020-01-01", "2020-02-30T25:00",
    "1969-12-31T23:59:59.999999999-14:00", "\ud800", "\u2028", "\x00", "💸" * 50, "a" * 100_000, 0, -0.0, 1.5, 1e-320,
    1e38, 1e39, 1e308, 10**18, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400, 10**4000, [], [1], [None], [[]], {},
    {"": 0}, {"src": "a"}, 2**53 + 1, float(2**53), "é" * 3_000, 4_102_444_799, "2099-12-31",
    float("nan"), float("inf"), -float("inf"), 1_769_233_786_188, 1_769_233_786_188_000_000,
]  # fmt: skip


def odd_value(line: bytes, rng: Rng) -> bytes:
    """A valid line in which one value, or several, is something else."""
    row = json.loads(line)
    for _ in range(rng.integers(1, 3)):
        row[USED[rng.integers(len(USED))]] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return json.dumps(row, ensure_ascii=bool(rng.integers(2))).encode("utf-8", "surrogatepass")


def missing_key(line: bytes, rng: Rng) -> bytes:
    row = json.loads(line)
    del row[USED[rng.integers(len(USED))]]
    return json.dumps(row).encode()


def truncated(line: bytes, rng: Rng) -> bytes:
    return line[: rng.integers(len(line))]


def flipped(line: bytes, rng: Rng) -> bytes:
    """Random bytes in place of some, often no longer UTF-8."""
    changed = bytearray(line)
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed).replace(b"\n", b" ")


def noise(_: bytes, rng: Rng) -> bytes:
    return rng.bytes(rng.integers(0, 200)).replace(b"\n", b"")


def nested(line: bytes, rng: Rng) -> bytes:
    depth = int(rng.choice([10, 900, 1_100, 100_000], p=[0.4, 0.3, 0.25, 0.05]))
    deep = b'{"a":' * depth + b"1" + b"}" * depth if rng.integers(2) else b"[" * depth + b"]" * depth
    key = [b"deep", *(name.encode() for name in USED)][rng.integers(6)]
    return line[:-1] + b', "' + key + b'": ' + deep + b"}"


def another_document(_: bytes, rng: Rng) -> bytes:
    documents = [
        b"",
        b" ",
        b"null",
        b"7",
        b'"src"',
        b"[]",
        b"{}",
        b"[{}]",
        b"NaN",
        b"{} {}",
        b"\xef\xbb\xbf",
        b"\x00",
    ]
    return documents[rng.integers(len(documents))]


def repeated_key(line: bytes, rng: Rng) -> bytes:
    key = USED[rng.integers(len(USED))].encode()
    return line[:-1] + b', "' + key + b'": ' + [b"1", b'"x"', b"{}", b"null"][rng.integers(4)] + b"}"


def long_line(line: bytes, _: Rng) -> bytes:
    return line[:-1] + b', "more": "' + b"x" * 20_000 + b'"}'


FUZZERS = [
    odd_value, missing_key, truncated, flipped, noise, nested, another_document, repeated_key, long_line
]  # fmt: skip
SHARES = np.array([8, 2, 3, 3, 2, 1, 1, 1, 0.5])


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    write_events(simulate_payments(300, anomaly_rate=0.05, seed=2), folder / "past.jsonl")
    options = ["--detector", "isolation-forest", "--set", "trees=2", "--features", "amount,channel"]
    assert run(["fit", str(folder / "past.jsonl"), "-o", str(folder / "model"), *options]) == 0
    return folder / "model"


def answers_to(lines: list[bytes], source: Path, *arguments: object) -> list[Answer]:
    source.write_bytes(b"".join(line + b"\n" for line in lines))
    with Life(source, "stream", *arguments) as life:
        answers = life.answers()
        assert life.exit_code() == 0, life.notes.read_text()
        assert "Traceback" not in life.notes.read_text()
        assert life.notes.read_text().count("\n") <= 5  # kinds of notes, each told once
    assert [answer["line"] for answer in answers] == list(range(1, len(lines) + 1))
    return answers


def endure(model: Path, folder: Path, count: int, *options: object) -> None:
    """Some `count` lines, a third of them good and the rest anything."""
    rng = np.random.default_rng(0)
    write_events(simulate_payments(300 + count // 3, anomaly_rate=0.05, seed=2)[300:], folder / "good.jsonl")
    good = (folder / "good.jsonl").read_bytes().splitlines()
    lines, is_good = [], []
    for line in good:
        fuzz: list[Callable[[bytes, Rng], bytes]] = list(
            rng.choice(np.array(FUZZERS), 2, p=SHARES / SHARES.sum())
        )
        mixed = [*(make(line, rng) for make in fuzz), line]
        order = rng.permutation(3)
        lines += [mixed[i] for i in order]
        is_good += [i == 2 for i in order]
    overlong = good[0][:-1] + b', "more": [' + b"1," * (9 << 20) + b"1]}"
    lines[100:100], is_good[100:100] = [overlong], [False]

    arguments = (model, "--max-ahead", 10**6, *options)
    answers = answers_to(lines, folder / "mixed.jsonl", *arguments)
    accepted: list[int] = []
    for i, answer in enumerate(answers):
        if "score" in answer:
            assert 0 < answer["score"] < 1
            accepted.append(i)
        else:
            assert set(answer) == {"line", "error"}
            assert len(answer["error"]) <= 300
            assert "cannot be read" not in answer["error"]  # nothing unforeseen
            assert not is_good[i], (answer, lines[i])
    assert len(good) <= len(accepted) < 0.75 * len(lines)
    alone = answers_to([lines[i] for i in accepted], folder / "accepted.jsonl", *arguments)
    found: list[Any] = [answers[i]["score"] for i in accepted]
    expected = [answer["score"] for answer in alone]
    assert found == (expected if not options else pytest.approx(expected, abs=1e-5))


COUNT = 100_000  # lines of the long run


def test_three_thousand_odd_lines_do_no_harm(forest: Path, tmp_path: Path) -> None:
    endure(forest, tmp_path, 3_000)


def test_odd_lines_do_no_harm_to_their_batch(forest: Path, tmp_path: Path) -> None:
    endure(forest, tmp_path, 1_000, "--batch", 8)


@pytest.mark.slow
def test_a_hundred_thousand_odd_lines_do_no_harm(forest: Path, tmp_path: Path) -> None:
    endure(forest, tmp_path, COUNT)
