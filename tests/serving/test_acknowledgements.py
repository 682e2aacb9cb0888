"""A snapshot takes its place when the reader says that it is done with all lines that it counts, and not before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sdgad.errors import InputError
from sdgad.serving.acknowledgements import Acknowledgements


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "acks")
    return tmp_path / "acks"


def test_numbers_are_heard_as_they_come_and_the_highest_counts(pipe: Path) -> None:
    writer = os.open(pipe, os.O_RDWR)
    with Acknowledgements(pipe) as acks:
        acks.hear(9)
        assert acks.line == 0
        os.write(writer, b"3\n 5 \r\n4\n7")
        acks.hear(9)
        assert acks.line == 5
        os.write(writer, b"\n")
        assert acks.reaches(7, 9)
        assert not acks.reaches(8, 9, patience=0.01)
        os.close(writer)
        assert not acks.reaches(8, 9)  # would wait for ever
        assert acks.ended


@pytest.mark.parametrize("wrong", [b"10\n", b"-1\n", b"1.5\n", b"\n", b"x" * 200, b"\xff\n"])
def test_what_is_not_the_number_of_an_answered_line_is_refused(pipe: Path, wrong: bytes) -> None:
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, wrong)
    with (
        Acknowledgements(pipe) as acks,
        pytest.raises(InputError, match="not the number of an answered line"),
    ):
        acks.hear(9)
    os.close(writer)


def test_only_a_pipe_can_be_listened_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1\n")
    with pytest.raises(InputError, match="file is not a pipe; make one with mkfifo"):
        Acknowledgements(tmp_path / "file")
    with pytest.raises(InputError, match="none cannot be read: No such file"):
        Acknowledgements(tmp_path / "none")
