"""`sdgad stream` gives the scores of `sdgad score`, line by line, and survives what happens to a process."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sdgad as library
from sdgad.cli.main import run
from sdgad.events.table import read_table

from .conftest import Command, Outcome
from .lives import Answer, Life

Row = dict[str, Any]
FEATURES = ("--features", "amount,channel")


@pytest.fixture(scope="module")
def watched(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads a number and a category."""
    folder = tmp_path_factory.mktemp("stream") / "model"
    detector = ("--detector", "isolation-forest")
    assert run(["fit", f"{files}/past.jsonl", "-o", str(folder), *FEATURES, *detector]) == 0
    return folder


@pytest.fixture(scope="module")
def lines(files: Path) -> list[bytes]:
    return (files / "new.jsonl").read_bytes().splitlines()


@pytest.fixture
def stream(sdgad: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Outcome]:
    """`stream(lines, model, …)`, in this process."""

    def command(given: list[bytes], *arguments: object, end: bytes = b"\n") -> Outcome:
        path = tmp_path / "stdin.jsonl"
        path.write_bytes(b"\n".join(given) + (end if given else b""))
        with path.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            return sdgad("stream", *arguments)

    return command


def answers_of(done: Outcome) -> list[Answer]:
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["line"] for answer in found] == list(
        range(found[0]["line"], found[0]["line"] + len(found))
    )
    return found


def scores_of(done: Outcome) -> np.ndarray[Any, Any]:
    return np.array([answer["score"] for answer in answers_of(done)], float)


# ---------------------------------------------------------------------- the same scores
def as_iso(row: Row, _: int) -> Row:
    return {**row, "t": datetime.fromtimestamp(row["t"], UTC).isoformat()}


def as_milliseconds(row: Row, _: int) -> Row:
    return {**row, "t": round(row["t"] * 1000)}


def with_numbers_as_text(row: Row, i: int) -> Row:
    return row if i % 2 else {**row, "amount": str(row["amount"]), "t": str(row["t"])}


def with_gaps(row: Row, i: int) -> Row:
    lacking = ("amount", "channel", "label")[i % 3]
    return {
        **{name: value for name, value in row.items() if name != lacking},
        **({"amount": None} if i % 5 else {}),
    }


def with_new_categories(row: Row, i: int) -> Row:
    return {**row, "channel": [7, True, "never seen", "card", ""][i % 5], "amount": int(row["amount"])}


def with_odd_ids(row: Row, i: int) -> Row:
    return {**row, "dst": [i, str(i - 1), "ümlaut 💸\u2028", row["src"], 2**63 + i][i % 5]}


def with_baggage(row: Row, i: int) -> Row:
    return {"id": i, "deep": {"a": [{"b": None}] * (i % 3)}, **row, "anomaly_type": None}


CHANGES = [
    as_iso,
    as_milliseconds,
    with_numbers_as_text,
    with_gaps,
    with_new_categories,
    with_odd_ids,
    with_baggage,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_stream_is_scored_as_its_file_is(
    change: Callable[[Row, int], Row],
    stream: Callable[..., Outcome],
    sdgad: Command,
    watched: Path,
    lines: list[bytes],
    tmp_path: Path,
) -> None:
    changed = [json.dumps(change(json.loads(line), i)).encode() for i, line in enumerate(lines)]
    path = tmp_path / "changed.jsonl"
    path.write_bytes(b"\n".join(changed))
    done = sdgad("score", watched, path, "-o", tmp_path / "scores.parquet")
    assert done.code == 0, done.err
    expected = read_table(tmp_path / "scores.parquet")
    for size in (1, 64):
        done = stream(changed, watched, "--batch", size)
        assert scores_of(done) == pytest.approx(expected["score"].to_numpy(), abs=1e-5)
        assert done.err.count("\n") <= 1  # a note is told once
    assert [answer["anomaly"] for answer in answers_of(done)] == expected["anomaly"].to_pylist()
    found = [answer["p_value"] for answer in answers_of(done)]
    assert found == pytest.approx(expected["p_value"].to_numpy(), abs=0.05)


def test_sdgad_itself_streams_the_scores_that_it_gives_a_file(
    stream: Callable[..., Outcome], sdgad: Command, files: Path, lines: list[bytes], tmp_path: Path
) -> None:
    small = ("--set", "history=3", "--set", "width=8", "--epochs", "1")
    assert sdgad("fit", files / "past.jsonl", "-o", tmp_path / "m", *FEATURES, *small).code == 0
    assert sdgad("score", tmp_path / "m", files / "new.jsonl", "-o", tmp_path / "s.parquet").code == 0
    expected = read_table(tmp_path / "s.parquet")["score"].to_numpy()
    for size in (1, 7):
        assert scores_of(stream(lines, tmp_path / "m", "--batch", size)) == pytest.approx(expected, abs=1e-5)


# ---------------------------------------------------------------------- one answer per line
def test_a_bad_line_is_answered_and_costs_no_other_its_score(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes]
) -> None:
    bad = [
        b"", b"{", b"[]", b'{"src": 1}', b"\xff\xfe", b'{"src": "\\ud800", "dst": 1, "t": 2}',
        lines[0].replace(b'"amount": ', b'"amount": "x", "was": '), b"[" * 200_000,
    ]  # fmt: skip
    expected = scores_of(stream(lines[:24], watched))
    mixed = [line for i, good in enumerate(lines[:24]) for line in (bad[i % len(bad)], good)]
    for size in (1, 10):
        answers = answers_of(stream(mixed, watched, "--batch", size, "--echo", "dst"))
        assert [a["score"] for a in answers[1::2]] == pytest.approx(expected, abs=1e-5)
        assert all(set(a) - {"dst"} == {"line", "error"} for a in answers[::2])
        assert [a["dst"] for a in answers[1::2]] == [json.loads(line)["dst"] for line in lines[:24]]
        assert not any("row 1" in a["error"].lower() for a in answers[::2])
    assert answers[12]["error"] == (
        "Feature column 'amount' was numeric when the model was fitted, and is text now."
    )


def test_policies_reach_the_live_scorer(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes], tmp_path: Path
) -> None:
    late = [*lines[5:20], lines[0], *lines[20:30]]
    path = tmp_path / "late.jsonl"
    assert answers_of(stream(late, watched, "--late", "drop"))[15]["note"].endswith("dropped")
    refused = answers_of(stream(late, watched, "--late", "error"))
    assert refused[15]["error"] == "The event is older than the newest event (late='error')."
    assert all("score" in answer for i, answer in enumerate(refused) if i != 15)

    detector = library.load(watched)
    detector.set_params(max_nodes=20, max_age=40_000.0)
    live = detector.live(flagged="skip")
    expected = []
    for line in lines:
        path.write_bytes(line)
        one = library.read_events(path, columns=detector.columns, clock=detector.clock)
        expected.append(live.score_and_update(one)[0])
    options = ("--flagged", "skip", "--max-nodes", 20, "--max-age", 40_000)
    assert scores_of(stream(lines, watched, *options)).tolist() == expected
    assert scores_of(stream(lines, watched)).tolist() != expected


def test_an_event_of_a_wrong_clock_does_not_make_the_next_ones_late(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes]
) -> None:
    wrong = json.dumps({**json.loads(lines[3]), "t": "2087-01-01"}).encode()
    answers = answers_of(
        stream([*lines[:3], wrong, *lines[3:9]], watched, "--max-ahead", 10**6, "--late", "error")
    )
    assert [a["line"] for a in answers if "error" in a] == [4]
    assert answers[3]["error"].startswith("Column 't': ")


def shifted(lines: list[bytes], to: float) -> list[bytes]:
    """The same lines, the last one at some time."""
    rows = [json.loads(line) for line in lines]
    return [json.dumps({**row, "t": row["t"] - rows[-1]["t"] + to}).encode() for row in rows]


@pytest.mark.parametrize("wrong", ["2099-01-01", "in two days"])
def test_without_any_option_a_wrong_clock_makes_nobody_late_and_defeats_no_bound(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes], wrong: str
) -> None:
    when: Any = time.time() + 2 * 86_400 if wrong == "in two days" else wrong
    far = json.dumps({**json.loads(lines[3]), "t": when}).encode()
    for size in (1, 64):
        options = ("--late", "error", "--max-nodes", 20, "--batch", size)
        good = scores_of(stream(lines[:60], watched, *options))
        answers = answers_of(stream([*lines[:20], far, *lines[20:40], far, *lines[40:60]], watched, *options))
        assert [i for i, answer in enumerate(answers) if "error" in answer] == [20, 41]
        assert (
            "ahead of this machine's clock, more than the 24 hours that are allowed" in answers[20]["error"]
        )
        assert [a["score"] for a in answers if "score" in a] == pytest.approx(good, abs=1e-5)


def test_a_long_silence_and_clocks_that_differ_by_hours_are_no_reason_to_refuse(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes]
) -> None:
    """The history of the model ends long ago; the lines come today, some from a clock that is ahead."""
    today = shifted(lines[:20], time.time() + 0.9 * 86_400)
    assert all("score" in answer for answer in answers_of(stream(today, watched)))
    refused = [a.get("error", "") for a in answers_of(stream(today, watched, "--max-ahead", 3600))]
    assert "ahead of this machine's clock, more than the 3,600 seconds" in refused[-1]
    assert all("score" in answer for answer in answers_of(stream(today, watched, "--max-ahead", 10**6)))
    by_gap = answers_of(stream([*lines[:5], *today], watched, "--max-gap", 10**6))
    assert ["error" in answer for answer in by_gap] == [False] * 5 + [True] * 20


def test_a_clock_that_counts_from_anywhere_is_not_compared_with_the_machines(
    stream: Callable[..., Outcome], sdgad: Command, files: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in (files / "past.jsonl").read_bytes().splitlines()]
    start = rows[0]["t"]
    counted = [json.dumps({**row, "t": row["t"] - start}).encode() for row in rows]
    (tmp_path / "past.jsonl").write_bytes(b"\n".join(counted[:300]))
    assert sdgad("fit", tmp_path / "past.jsonl", "-o", tmp_path / "m", "--detector", "midas").code == 0
    far = json.dumps({**json.loads(counted[320]), "t": 10**10}).encode()
    good = counted[300:320]
    assert all("score" in answer for answer in answers_of(stream([*good, far], tmp_path / "m")))
    answers = answers_of(stream([*good, far], tmp_path / "m", "--max-ahead", 10**6))
    assert answers[-1]["error"].endswith("ahead of the newest one, more than the 11.6 days that are allowed.")


def test_a_history_that_lies_in_the_future_itself_is_told_and_refuses_nothing(
    stream: Callable[..., Outcome], sdgad: Command, files: Path, lines: list[bytes], tmp_path: Path
) -> None:
    past = (files / "past.jsonl").read_bytes().splitlines()
    later = shifted([*past, *lines], time.time() + 300 * 86_400)
    (tmp_path / "past.jsonl").write_bytes(b"\n".join(later[: len(past)]))
    assert sdgad("fit", tmp_path / "past.jsonl", "-o", tmp_path / "m", "--detector", "midas").code == 0
    done = stream(later[len(past) :][:20], tmp_path / "m")
    assert all("score" in answer for answer in answers_of(done))
    assert re.fullmatch(
        r"The history ends \d+ days ahead of this machine's clock; events are not compared with it.\n",
        done.err,
    )
    refused = stream(later[len(past) :][:20], tmp_path / "m", "--max-ahead", 60)
    assert refused.code == 2
    assert (
        "clock; events more than 60 seconds ahead of it are refused.\nNo line of 20 could be used"
        in refused.err
    )


# ---------------------------------------------------------------------- lines that nobody can use
def test_a_stream_all_of_whose_lines_are_unusable_fails(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes], tmp_path: Path
) -> None:
    done = stream([b"src,dst,t", b"a,b,7"], watched)
    assert done.code == 2
    assert [json.loads(line)["line"] for line in done.out.splitlines()] == [1, 2]  # answered all the same
    assert done.err == (
        "No line of 2 could be used; the first: The line is not JSON: Expecting value at character 1.\n"
    )
    state = ("--state", tmp_path / "state")
    assert stream([b"bad"], watched, *state).code == 2
    assert stream([b"bad", *lines[:9]], watched, *state).code == 0
    assert (
        stream([b"bad", *lines[:9], b"bad"], watched, *state).code == 0
    )  # the rest of an input that was of use
    assert stream([b"bad", b"bad"], watched, *state, "--continued").code == 2


def test_an_id_cannot_take_a_megabyte_of_memory_nor_stand_for_two(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes]
) -> None:
    row = json.loads(lines[0])
    ids = ["x" * 3_000_000, "é" * 2049, "x" * 4096, "é" * 2048, 2**53 + 1.0, 2**53 + 1]
    given = [json.dumps({**row, "dst": value}).encode() for value in ids]
    for size in (1, 9):
        answers = answers_of(stream(given, watched, "--max-nodes", 10, "--batch", size))
        assert ["error" in answer for answer in answers] == [True, True, False, False, True, False]
        assert answers[0]["error"] == (
            "Column 'dst': an id of 3,000,000 bytes, more than the 4,096 that are allowed."
        )


def test_neighbouring_integers_above_2_to_the_53_are_two_parties(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes]
) -> None:
    """As far as a score can tell: the second event of one party, and the first one of another."""
    rows = [json.loads(line) for line in lines[:2]]
    big = 2**53

    def last(src: int, size: int) -> float:
        given = [{**rows[0], "src": big, "dst": "a"}, {**rows[1], "src": src, "dst": "a"}]
        return float(scores_of(stream([json.dumps(r).encode() for r in given], watched, "--batch", size))[1])

    for size in (1, 2):
        assert last(big + 1, size) == pytest.approx(last(7, size), abs=1e-5)
        assert last(big + 1, size) != pytest.approx(last(big, size), abs=1e-5)


# ---------------------------------------------------------------------- state
def test_a_later_start_goes_on_with_the_next_line(
    stream: Callable[..., Outcome], watched: Path, lines: list[bytes], tmp_path: Path
) -> None:
    state = ("--state", tmp_path / "state")
    whole = answers_of(stream(lines, watched))
    assert answers_of(stream(lines[:40], watched, *state)) == whole[:40]
    done = stream(lines[:90], watched, *state, "--every", 7)
    assert answers_of(done) == whole[40:90]
    assert done.err == f"{tmp_path}/state: 40 lines are done; goes on with the next.\n"
    assert answers_of(stream(lines[90:], watched, *state, "--continued")) == whole[90:]
    done = stream(lines, watched, *state)
    assert (done.code, done.out) == (0, "")
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["lock", "state.safetensors"]


def test_a_state_that_cannot_be_used_is_refused_in_one_sentence(
    stream: Callable[..., Outcome],
    sdgad: Command,
    watched: Path,
    files: Path,
    lines: list[bytes],
    tmp_path: Path,
) -> None:
    folder, other = tmp_path / "state", ("--detector", "isolation-forest", "--seed", 1)
    assert sdgad("fit", files / "past.jsonl", "-o", tmp_path / "other", *FEATURES, *other).code == 0
    state = ("--state", folder)
    assert stream(lines[:20], watched, *state).code == 0
    kept = folder / "state.safetensors"
    shutil.copy(kept, tmp_path / "kept")
    refused = {
        "another model": stream(lines, tmp_path / "other", *state),
        "ends after 10 lines, fewer than the 20 that were consumed before; with --continued": stream(
            lines[:10], watched, *state
        ),
        "first 20 lines of the input are not those": stream(lines[20:], watched, *state),
    }
    content = kept.read_bytes()
    kept.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    refused["is damaged"] = stream(lines, watched, *state)
    kept.write_bytes(content[:100])
    refused["damaged"] = stream(lines, watched, *state)
    for words, done in refused.items():
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert str(folder) in done.err
        assert done.err.count("\n") == 1
    shutil.copy(tmp_path / "kept", kept)
    assert answers_of(stream(lines, watched, *state))[0]["line"] == 21


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--continued"], "--continued needs --state."),
        (["--every", "5"], "--every needs --state."),
        (["--acks", "pipe"], "--acks needs --state."),
        (["--state", "state", "--acks", os.devnull], f"{os.devnull} is not a pipe; make one with mkfifo."),
        (["--state", "state", "--acks", "no-pipe"], "no-pipe cannot be read: No such file or directory."),
        (["--state", "no/such/folder"], "no/such/folder cannot hold the state: No such file or directory."),
        (["--echo", "id,score"], "Key 'score' cannot be repeated, since answers use it themselves."),
    ],
    ids=str,
)
def test_wrong_options_are_named(
    stream: Callable[..., Outcome], watched: Path, options: list[str], sentence: str
) -> None:
    assert stream([], watched, *options) == Outcome(2, "", f"{sentence}\n")


def test_nothing_in_gives_nothing_out(stream: Callable[..., Outcome], watched: Path, tmp_path: Path) -> None:
    assert stream([], watched, "--state", tmp_path / "state") == Outcome(0, "", "")


# ---------------------------------------------------------------------- signals and pipes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_signal_lets_the_line_be_finished_and_keeps_the_state(
    watched: Path, lines: list[bytes], tmp_path: Path, number: signal.Signals, stream: Callable[..., Outcome]
) -> None:
    fifo, state = tmp_path / "in.jsonl", tmp_path / "state"
    os.mkfifo(fifo)
    with Life(fifo, "stream", watched, "--state", state) as life, fifo.open("wb", buffering=0) as given:
        given.write(b"\n".join(lines[:31]))  # the last one has not ended
        first = life.answers(30)  # each comes although there is more to wait for
        with Life(fifo, "stream", watched, "--state", state) as other:
            assert other.exit_code() == 2
            assert other.notes.read_text() == f"{state} is in use by another process.\n"
        os.kill(life.pid, number)
        assert life.answers() == []
        assert life.exit_code() == 128 + number
        assert life.notes.read_text().startswith(f"Stopped after line 30; {state} holds the state.\n")
    whole = answers_of(stream(lines, watched))
    assert first + answers_of(stream(lines, watched, "--state", state)) == whole


def test_half_a_line_at_the_end_is_read_again_when_it_is_whole(
    watched: Path, lines: list[bytes], tmp_path: Path, stream: Callable[..., Outcome]
) -> None:
    whole = answers_of(stream(lines[:40], watched))
    torn = [*lines[:30], lines[30][:25]]
    first = answers_of(stream(torn, watched, "--state", tmp_path / "state", end=b""))
    assert [answer["line"] for answer in first if "error" in answer] == [31]
    then = answers_of(stream(lines[:40], watched, "--state", tmp_path / "state"))
    assert first[:30] + then == whole


def test_the_number_of_lines_that_could_not_be_used_is_said_at_the_end(
    watched: Path, lines: list[bytes], stream: Callable[..., Outcome]
) -> None:
    assert stream([*lines[:3], b"src,dst,t", b""], watched).err == "2 of 5 lines could not be used.\n"
    assert stream(lines[:3], watched).err == ""


def test_a_model_folder_cannot_hold_the_state(
    watched: Path, lines: list[bytes], stream: Callable[..., Outcome]
) -> None:
    before = {path.name for path in watched.iterdir()}
    done = stream(lines[:2], watched, "--state", watched)
    assert done.code == 2
    assert "is a model folder" in done.err
    assert {path.name for path in watched.iterdir()} == before


def test_a_reader_who_leaves_is_no_error_and_nothing_is_counted_that_he_did_not_get(
    watched: Path, lines: list[bytes], tmp_path: Path, stream: Callable[..., Outcome]
) -> None:
    source, state = tmp_path / "in.jsonl", tmp_path / "state"
    source.write_bytes(b"\n".join(lines))  # more answers than fit into the pipe
    with Life(source, "stream", watched, "--state", state, "--every", 10) as life:
        assert len(life.answers(25)) == 25
        life.stop_reading()
        assert life.exit_code() == 1
        assert life.notes.read_text() == ""
    first = answers_of(stream(lines, watched, "--state", state))[0]["line"]
    assert 11 <= first < len(lines)  # a snapshot at line 20 may have come too soon after a slow one


def test_what_the_reader_has_not_acknowledged_is_answered_again(
    watched: Path, lines: list[bytes], tmp_path: Path, stream: Callable[..., Outcome]
) -> None:
    """Without acknowledgements, answers that wait in the pipe of a reader who dies would count as done."""
    source, state, fifo = tmp_path / "in.jsonl", tmp_path / "state", tmp_path / "acks"
    source.write_bytes(b"\n".join(lines))
    os.mkfifo(fifo)
    whole, found, safe = answers_of(stream(lines, watched)), {}, 0
    for done in (0, 3, 24, 25, 60):
        with (
            Life(source, "stream", watched, "--state", state, "--every", 4, "--acks", fifo) as life,
            fifo.open("wb", buffering=0) as acks,
        ):
            answers = life.answers(done + 30)
            assert answers[0]["line"] <= safe + 1  # nothing that was not acknowledged is left out
            for answer in answers[:done]:
                assert found.setdefault(answer["line"], answer) == answer
                acks.write(b"%d\n" % answer["line"])
                safe = max(safe, answer["line"])
            acks.close()
            life.stop_reading()
            assert life.exit_code() == 1
            assert life.notes.read_text().endswith(f"has acknowledged line {safe:,}.\n")
    with (
        Life(source, "stream", watched, "--state", state, "--acks", fifo) as life,
        fifo.open("wb", buffering=0) as acks,
    ):
        answers = life.answers()  # the end comes before anything is acknowledged
        found |= {answer["line"]: answer for answer in answers}
        acks.write(b"%d\n" % answers[-1]["line"])
        assert life.exit_code() == 0
    assert [found[line] for line in sorted(found)] == whole
    assert stream(lines, watched, "--state", state).out == ""


def test_no_standard_input_is_said(sdgad: Command, watched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert sdgad("stream", watched) == Outcome(2, "", "There is no standard input to read events from.\n")


def test_help_has_an_example(sdgad: Command) -> None:
    assert "\n  sdgad stream model < events.jsonl > scores.jsonl\n" in sdgad("stream", "--help").out
