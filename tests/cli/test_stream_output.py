"""No answer is lost, torn or counted before it is safe, whatever happens to the places that they are written to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sdgad.cli.main import run

from .conftest import environment
from .lives import (
    apart,
    closed,
    to_file,
    to_pipe,
    unbuffered,
    with_a_failing_disk,
    with_files_of_at_most,
    without_reader,
)

Answer = dict[str, Any]
MIDAS = ("--detector", "midas", "--features", "amount,channel")


@pytest.fixture(scope="module")
def watched(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("output") / "model"
    assert run(["fit", f"{files}/past.jsonl", "-o", str(folder), *MIDAS]) == 0
    return folder


@pytest.fixture
def source(files: Path, tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join((files / "new.jsonl").read_bytes().splitlines(keepends=True)[:60]))
    return path


@pytest.fixture(scope="module")
def whole(watched: Path, files: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """The answers of a run in peace."""
    folder = tmp_path_factory.mktemp("peace")
    (folder / "in.jsonl").write_bytes(
        b"".join((files / "new.jsonl").read_bytes().splitlines(keepends=True)[:60])
    )
    assert apart(folder / "in.jsonl", "stream", watched, prepare=[to_file(folder / "out")]) == (0, "")
    return answers_in(folder / "out")


def answers_in(path: Path) -> list[Answer]:
    """Every line is one whole answer, and the last one has its end."""
    content = path.read_bytes()
    assert content.endswith(b"\n") or not content
    return [json.loads(line) for line in content.splitlines()]


def done_by(state: Path, source: Path, watched: Path) -> int:
    """How many lines the state counts."""
    code, notes = apart(source, "stream", watched, "--state", state)
    assert code == 0, notes
    return int(notes.split(":")[1].split()[0].replace(",", "")) if "are done" in notes else 0


# ---------------------------------------------------------------------- every byte, or an error
@pytest.mark.parametrize("size", [1, 60])
def test_a_pipe_that_takes_less_than_it_is_given_loses_nothing(
    watched: Path, source: Path, whole: list[Answer], tmp_path: Path, size: int
) -> None:
    """Under PYTHONUNBUFFERED=1 a write may be short, and nobody but us finishes it."""
    fifo, got = tmp_path / "fifo", bytearray()
    os.mkfifo(fifo)

    def read_slowly() -> None:
        with fifo.open("rb", buffering=0) as pipe:
            threading.Event().wait(0.5)  # more answers than fit
            while piece := pipe.read(777):
                got.extend(piece)

    reader = threading.Thread(target=read_slowly)
    reader.start()
    lines = source.read_bytes()
    echo = b', "more": "' + b"x" * 3000 + b'"}\n'
    source.write_bytes(lines.replace(b"}\n", echo))
    outcome = apart(
        source, "stream", watched, "--batch", size, "--echo", "more", prepare=[to_pipe(fifo), unbuffered]
    )
    reader.join()
    assert outcome == (0, "")
    found = [json.loads(line) for line in bytes(got).splitlines()]
    assert [answer["line"] for answer in found] == list(range(1, 61))
    assert [answer["score"] for answer in found] == pytest.approx([answer["score"] for answer in whole])


def test_a_real_unbuffered_python_fills_no_file_with_half_answers(
    watched: Path, source: Path, whole: list[Answer], tmp_path: Path
) -> None:
    """The whole way once, with a limit on the size of files in place of a full disk."""
    out, limit = tmp_path / "out.jsonl", 1000
    command = 'ulimit -f 1; exec "$0" -m sdgad stream "$1" --state "$2" < "$3" >> "$4"'  # 1 KiB
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, watched, tmp_path / "state", source, out],
        env=environment() | {"PYTHONUNBUFFERED": "1"}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "The answers cannot be written: File too large.\n")
    assert limit // 2 < out.stat().st_size <= 1024
    assert answers_in(out) == whole[: len(answers_in(out))]


def test_a_full_device_is_said_in_one_sentence_and_counts_nothing(
    watched: Path, source: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    outcome = apart(
        source, "stream", watched, "--state", state, "--every", 1, prepare=[to_file(Path("/dev/full"))]
    )
    assert outcome == (2, "The answers cannot be written: No space left on device.\n")
    assert done_by(state, source, watched) == 0


@pytest.mark.parametrize("append", [True, False])
@pytest.mark.parametrize("size", [1, 7])
def test_a_full_disk_leaves_no_piece_of_an_answer_and_the_restart_completes_the_file(
    watched: Path, source: Path, whole: list[Answer], tmp_path: Path, size: int, append: bool
) -> None:
    out, state = tmp_path / "out.jsonl", tmp_path / "state"
    command = ("stream", watched, "--state", state, "--batch", size)
    full = apart(source, *command, prepare=[to_file(out, append=append), with_files_of_at_most(2000)])
    assert full == (2, "The answers cannot be written: File too large.\n")
    first = answers_in(out)
    assert 15 < len(first) < 30
    code, _ = apart(source, *command, prepare=[to_file(out)])
    assert code == 0
    found = {answer["line"]: answer for answer in answers_in(out)}
    assert [found[line]["score"] for line in range(1, 61)] == pytest.approx([a["score"] for a in whole])
    assert first == answers_in(out)[: len(first)]


def test_a_file_that_a_crash_left_in_the_middle_of_a_line_is_mended(
    watched: Path, source: Path, whole: list[Answer], tmp_path: Path
) -> None:
    """Glued to the next one, two answers would be lost."""
    text = [json.dumps(answer) for answer in whole]
    ends = {  # what stands at the end of the file → what a start with a state makes of it
        text[3][:25]: [],
        '{"li': [],
        text[3]: [text[3]],  # whole but for its end
        "# not ours": ["# not ours"],
    }
    for end, kept in ends.items():
        out = tmp_path / "out.jsonl"
        out.write_text("\n".join([*text[:3], end]))
        code, _ = apart(
            source, "stream", watched, "--state", tmp_path / f"state{len(end)}", prepare=[to_file(out)]
        )
        assert code == 0
        assert out.read_text().splitlines() == [*text[:3], *kept, *text]
        out.write_text("\n".join([*text[:3], end]))
        assert apart(source, "stream", watched, prepare=[to_file(out)])[0] == 0
        assert out.read_text().splitlines() == [*text[:3], end, *text]  # not repeated: nothing is taken away


# ---------------------------------------------------------------------- nothing counts that is not safe
def test_answers_that_do_not_reach_the_disk_are_an_error_and_are_not_counted(
    watched: Path, source: Path, tmp_path: Path
) -> None:
    out, state = tmp_path / "out.jsonl", tmp_path / "state"
    outcome = apart(
        source, "stream", watched, "--state", state, "--every", 5,
        prepare=[to_file(out), with_a_failing_disk("out.jsonl")],
    )  # fmt: skip
    assert outcome == (2, "The answers did not reach the disk: Input/output error.\n")
    assert len(answers_in(out)) == 5  # it stopped at the first snapshot
    assert done_by(state, source, watched) == 0


@pytest.mark.parametrize("fault", ["full", "failing", "folder"])
def test_a_state_that_cannot_be_saved_is_an_error_and_leaves_the_one_before(
    watched: Path, source: Path, whole: list[Answer], tmp_path: Path, fault: str
) -> None:
    out, state = tmp_path / "out.jsonl", tmp_path / "state"
    lines = source.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[:20]))
    assert apart(source, "stream", watched, "--state", state, prepare=[to_file(out)]) == (0, "")
    before = (state / "state.safetensors").read_bytes()
    source.write_bytes(b"".join(lines))
    prepare = {
        "full": with_files_of_at_most(len(before) // 2),
        "failing": with_a_failing_disk(".safetensors"),
        "folder": with_a_failing_disk("state"),
    }[fault]
    code, notes = apart(
        source, "stream", watched, "--state", state, "--every", 5, prepare=[to_file(out), prepare]
    )
    assert code == 2
    assert notes.splitlines()[0].endswith("20 lines are done; goes on with the next.")
    assert notes.splitlines()[1].startswith(str(state))
    assert notes.count("\n") == 2
    if fault != "folder":  # there the new one is in its place, though nobody can promise for how long
        assert (state / "state.safetensors").read_bytes() == before
    assert sorted(path.name for path in state.iterdir()) == ["lock", "state.safetensors"]
    assert apart(source, "stream", watched, "--state", state, prepare=[to_file(out)])[0] == 0
    found: dict[int, Answer] = {}
    for answer in answers_in(out):
        assert found.setdefault(answer["line"], answer) == answer
    assert [found[line] for line in sorted(found)] == whole


# ---------------------------------------------------------------------- nobody there
def test_without_a_standard_output_nothing_is_scored_and_it_is_said(
    watched: Path, source: Path, tmp_path: Path
) -> None:
    state = ("--state", tmp_path / "state")
    outcome = apart(source, "stream", watched, *state, prepare=[closed(1)])
    assert outcome == (2, "There is no standard output to write answers to.\n")
    assert apart(source, "stream", watched, prepare=[closed(0)])[0] == 2
    assert apart(source, "stream", watched, *state, prepare=[closed(0), closed(1), closed(2)])[0] == 2


@pytest.mark.parametrize(
    "fault",
    [closed(2), without_reader(2), to_file(Path("/dev/full"), number=2)],
    ids=["closed", "left", "full"],
)
def test_notes_that_nobody_hears_end_nothing(
    watched: Path, source: Path, whole: list[Answer], tmp_path: Path, fault: Any
) -> None:
    """And no file may take the number of the stream that is closed, or notes would be written into the state."""
    out, state = tmp_path / "out.jsonl", tmp_path / "state"
    source.write_bytes(source.read_bytes() + b"bad\n")
    command = ("stream", watched, "--state", state, "--every", 7)
    for _ in range(2):  # the second start has something to say at once
        assert apart(source, *command, prepare=[to_file(out), fault])[0] == 0
    assert answers_in(out)[:60] == whole
    assert done_by(state, source, watched) == 61


def test_a_reader_who_has_gone_before_the_first_answer_is_no_error(
    watched: Path, source: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    outcome = apart(source, "stream", watched, "--state", state, "--every", 1, prepare=[without_reader(1)])
    assert outcome == (1, "")
    assert done_by(state, source, watched) == 0


def test_what_cannot_be_printed_is_one_sentence(watched: Path, source: Path) -> None:
    outcome = apart(source, "info", watched, prepare=[to_file(Path("/dev/full"))])
    assert outcome == (2, "No space left on device.\n")


@pytest.mark.slow
def test_real_closed_streams_bring_no_traceback(watched: Path, source: Path, tmp_path: Path) -> None:
    """The whole way once: Python itself has something to say about closed and full streams when it ends."""
    said = tmp_path / "said"
    endings = {
        'stream "$1" < "$2" >&- 2> "$3"': (2, "There is no standard output to write answers to.\n"),
        'info "$1" > /dev/full 2> "$3"': (2, "No space left on device.\n"),
        'info "$1" > /dev/full 2>&-': (2, ""),
    }
    for words, expected in endings.items():
        said.write_text("")
        done = subprocess.run(
            ["bash", "-c", f'"$0" -m sdgad {words}', sys.executable, watched, source, said],
            env=environment(), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode, said.read_text(), done.stdout, done.stderr) == (*expected, "", "")
