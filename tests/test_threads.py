"""Threads: they wait without spinning unless the user says otherwise, and there are as many as asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sdgad.threads import short_turns, side_by_side

ASK = "import sdgad, os, torch; print(os.environ['OMP_WAIT_POLICY'], torch.get_num_threads())"


def told(code: str, **environment: str) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**clean, **environment},
    )
    return done.stdout.split()


def test_threads_that_wait_sleep_unless_the_user_says_how_they_shall_wait() -> None:
    assert told(ASK)[0] == "passive"
    assert told(ASK, OMP_WAIT_POLICY="active")[0] == "active"


@pytest.mark.parametrize("first", ["", "import torch; "])
def test_as_many_threads_as_asked_for_whenever_torch_is_loaded(first: str) -> None:
    code = f"{first}from sdgad.threads import use_threads; use_threads(1); {ASK}"
    assert told(code)[1] == "1"


def test_a_command_takes_the_number_of_threads(tmp_path: os.PathLike[str]) -> None:
    code = (
        "from sdgad.cli.main import run; "
        f"code = run(['demo', '--out', {str(tmp_path)!r}, '--events', '300', '--threads', '1', '--json']); "
        "import sys, torch; print(code, torch.get_num_threads(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.split()[-2:] == ["0", "1"], done.stderr


def test_one_of_several_at_work_grows_trees_with_its_share_of_threads_and_leaves_those_of_others_alone() -> (
    None
):
    code = (
        "import threading, sdgad, torch\n"
        "from sdgad.threads import beside_others, share_of_threads\n"
        "torch.set_num_threads(6)\n"
        "def work(at_work):\n"
        "    torch.get_num_threads()\n"
        "    with beside_others(at_work), share_of_threads(): print(torch.get_num_threads())\n"
        "    print(torch.get_num_threads())\n"
        "for at_work in (1, 3, 9):\n"
        "    thread = threading.Thread(target=work, args=(at_work,)); thread.start(); thread.join()\n"
        "print(torch.get_num_threads())"
    )
    assert told(code) == ["6", "6", "2", "6", "1", "6", "6"]


def test_turns_are_short_inside_and_as_they_were_afterwards() -> None:
    before = sys.getswitchinterval()
    with short_turns():
        assert sys.getswitchinterval() < before
    assert sys.getswitchinterval() == before


def test_pieces_of_work_side_by_side_know_how_many_they_are_and_answer_in_order() -> None:
    code = (
        "import threading, sdgad, torch\n"
        "from sdgad.threads import share_of_threads, side_by_side\n"
        "torch.set_num_threads({threads})\n"
        "together = threading.Barrier({together})\n"
        "def piece(number):\n"
        "    together.wait(10 + 0 * torch.get_num_threads())\n"
        "    with share_of_threads(): return number, torch.get_num_threads()\n"
        "print(*side_by_side([lambda number=number: piece(number) for number in range(3)]))"
    )
    assert told(code.format(threads=6, together=3)) == ["(0,", "2)", "(1,", "2)", "(2,", "2)"]
    assert told(code.format(threads=1, together=1)) == ["(0,", "1)", "(1,", "1)", "(2,", "1)"]


def test_what_goes_wrong_in_one_of_several_pieces_goes_wrong_for_all() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1.0, lambda: 1 / 0, lambda: 2.0])
