"""Lines come whole, at once, and one by one; nothing that a pipe does to them changes them."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.serving.line_source import Line, LineSource


def all_lines(source: LineSource, most: int) -> list[Line]:
    lines: list[Line] = []
    while not source.finished:
        lines += source.take(most)
    return lines


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.binary(max_size=12) | st.just(b"\n"), max_size=12),
    longest=st.integers(1, 20),
    most=st.integers(1, 5),
)
def test_lines_are_what_stands_between_line_ends_however_they_arrive(
    pieces: list[bytes], longest: int, most: int
) -> None:
    whole = b"".join(pieces)
    expected = whole.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    read, write = os.pipe()
    with LineSource(read, longest) as source:
        found: list[Line] = []
        for piece in pieces:  # before each one all that can be taken is taken
            found += source.take(most, patience=0)
            os.write(write, piece) if piece else None
        os.close(write)
        found += all_lines(source, most)
    os.close(read)
    assert found == [line if len(line) <= longest else None for line in expected]


def test_a_line_is_given_out_while_the_next_is_still_being_written() -> None:
    read, write = os.pipe()
    with LineSource(read) as source:
        os.write(write, b"one\ntw")
        assert source.take(9) == [b"one"]
        assert source.take(9, patience=0) == []
        assert not source.finished
        os.write(write, b"o\n")
        assert source.take(9) == [b"two"]
        os.close(write)
        assert source.take() == []
        assert source.finished
    os.close(read)


def test_only_what_is_asked_for_is_taken() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"x\n" * 100_000)
        file.seek(0)
        with LineSource(file.fileno()) as source:
            assert source.take(1) == [b"x"]
            assert source.take(70_000) == [b"x"] * 70_000
            assert len(all_lines(source, 64)) == 29_999


def test_a_line_that_is_far_too_long_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"y" * (3 << 20) + b"\nz\n")
    with path.open("rb") as file, LineSource(file.fileno(), longest=1 << 20) as source:
        source._read()
        largest = 0
        while not source._lines:
            source._read()
            largest = max(largest, len(source._part))
        assert largest <= 1 << 20
        assert all_lines(source, 2) == [None, b"z"]


def test_a_batch_of_long_lines_ends_where_one_line_would(tmp_path: Path) -> None:
    """Else 64 lines of 16 MiB would wait in memory together."""
    path = tmp_path / "long"
    path.write_bytes((b"y" * (1 << 19) + b"\n") * 20 + b"z\n" * 10)
    with path.open("rb") as file, LineSource(file.fileno(), longest=1 << 20) as source:
        sizes = []
        while not source.finished:
            taken = source.take(64)
            sizes.append(len(taken))
            assert sum(len(line or b"") for line in taken) <= (1 << 20) + (1 << 19) + (1 << 16)
        assert sum(sizes) == 30
        assert source._held == 0


def test_something_to_read_elsewhere_ends_the_wait() -> None:
    (read, write), (other, wake) = os.pipe(), os.pipe()
    with LineSource(read) as source:
        os.write(wake, b"!")
        assert source.take(1, None, other) == []  # would wait for ever
        os.write(write, b"one\n")
        assert source.take(1, None, other) == [b"one"]
    for descriptor in (read, write, other, wake):
        os.close(descriptor)


def test_stop_wakes_whoever_waits_and_holds_the_rest_back() -> None:
    read, write = os.pipe()
    with LineSource(read) as source:
        os.write(write, b"one\ntwo\n")
        assert source.take() == [b"one"]
        source.stop()
        assert source.take() == []
        assert source.finished
    with LineSource(read) as source:
        waking = threading.Thread(target=source.stop)
        waking.start()
        assert source.take() == []  # would wait for ever
        waking.join()
    os.close(read)
    os.close(write)
