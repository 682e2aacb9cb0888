"""A long run of `sdgad stream`: lines without end, a tenth of them bad, new parties all the time, one restart; its memory.

    OMP_NUM_THREADS=1 python benchmarks/soak.py --out results/soak.jsonl

The input is made as it is read, through a pipe; the answers come back through another one and are counted, not kept. In the
middle the process is killed (SIGKILL) and started again with `--state` and the same input from its beginning. Prints
resident memory every so many lines, and at the end one JSON line with the curve.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from lines import tell

import sdgad

START = 1_700_000_000
BAD = (b"", b"{", b"null", b"\xff\xfe{}", b"[" * 3000, b'{"src": 1}', b'{"src": "a", "dst": "b", "t": "soon"}',
       b'{"src": "a", "dst": "b", "t": 4102444799, "amount": 1}', b'{"src": "", "dst": "b", "t": 1700000000}',
       b'{"src": "a", "dst": "b", "t": 1700000000, "amount": "much"}')  # fmt: skip


def main() -> None:
    given = parse_options()
    with tempfile.TemporaryDirectory() as folder:
        result = soak(given, Path(folder))
    tell(result, given.out)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--detector", default="isolation-forest")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--bad", type=float, default=0.1, help="share of lines that cannot be used")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--max-nodes", type=int, default=20_000)
    parser.add_argument("--points", type=int, default=40, help="of the curve")
    parser.add_argument("--out", type=Path, help="append to this file too")
    return parser.parse_args()


def soak(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    model = folder / "model"
    sdgad.write_events(sdgad.read_events(_table(2_000), features=["amount"]), folder / "past.jsonl")
    detector = sdgad.make_detector(given.detector, seed=0)
    detector.fit(sdgad.read_events(folder / "past.jsonl", features=["amount"]))
    detector.save(model)
    command = [
        sys.executable, "-m", "sdgad", "stream", str(model), "--state", str(folder / "state"),
        "--batch", str(given.batch), "--max-nodes", str(given.max_nodes), "--every", "20000",
    ]  # fmt: skip
    start, watch = time.perf_counter(), Watch(given.lines // given.points)
    first = watch.run(command, given, until=given.lines // 2)
    again = watch.run(command, given, until=None)
    seconds = time.perf_counter() - start
    assert watch.answered == set(range(1, given.lines + 1)), "a line has no answer"
    late = [point["mib"] for point in watch.curve[len(watch.curve) // 2 :]]
    return {
        "detector": given.detector, "lines": given.lines, "bad": watch.errors, "batch": given.batch,
        "max_nodes": given.max_nodes, "parties": parties(given.lines), "seconds": round(seconds, 1),
        "lines_per_second": round(given.lines / seconds), "killed_after": first, "answered_twice": first + again - given.lines,
        "first_mib": watch.curve[0]["mib"], "peak_mib": max(point["mib"] for point in watch.curve),
        "growth_mib_of_second_half": round(max(late) - late[0], 1), "curve": watch.curve, "cpus": os.cpu_count(),
        "python": platform.python_version(), "sdgad": sdgad.__version__,
    }  # fmt: skip


class Watch:
    """Feeds a process, reads its answers and its memory."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.curve: list[dict[str, float]] = []
        self.answered: set[int] = set()
        self.errors = 0

    def run(self, command: list[str], given: argparse.Namespace, until: int | None) -> int:
        """Answers that came; `until` is the line after which the process is killed."""
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        feeder = threading.Thread(target=_feed, args=(process.stdin, given), daemon=True)
        feeder.start()
        count = 0
        for text in process.stdout:
            if not text.endswith(b"\n"):
                break  # killed within an answer
            answer = json.loads(text)
            line = answer["line"]
            self.errors += "error" in answer and line not in self.answered
            self.answered.add(line)
            count += 1
            if line % self.step == 0:
                self._look(process.pid, line)
            if line == until:
                process.kill()
        code = process.wait()
        feeder.join()
        assert code == (0 if until is None else -9), f"the stream ended with {code}"
        return count

    def _look(self, pid: int, line: int) -> None:
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return  # killed a moment ago
        point = {"line": line, "mib": round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)}
        self.curve.append(point)
        print(f"{line:>9,} lines  {point['mib']:7.1f} MiB", file=sys.stderr, flush=True)


def _feed(pipe: IO[bytes], given: argparse.Namespace) -> None:
    try:
        for block in blocks(given.lines, given.bad):
            pipe.write(block)
        pipe.close()
    except BrokenPipeError:
        pass


def parties(lines: int) -> int:
    """How many there are in so many lines."""
    return 2_000 + lines // 10


def blocks(lines: int, bad: float) -> Iterator[bytes]:
    """The input, the same on every call: parties come, stay for a while and go."""
    rng, size = np.random.default_rng(1), 1_000
    for first in range(0, lines, size):
        count = min(size, lines - first)
        who = rng.integers(0, 2_000, (count, 2)) + first // 10
        amount, wrong = rng.lognormal(3, 1, count), rng.random(count) < bad
        kind = rng.integers(0, len(BAD), count)
        yield b"".join(
            (BAD[kind[i]] if wrong[i] else _line(who[i, 0], who[i, 1], first + i, amount[i])) + b"\n"
            for i in range(count)
        )


def _line(src: int, dst: int, after: int, amount: float) -> bytes:
    return b'{"src": "acc-%d", "dst": "shop-%d", "t": %d, "amount": %.2f}' % (
        src,
        dst,
        START + 5 * after,
        amount,
    )


def _table(count: int) -> dict[str, list[object]]:
    rng = np.random.default_rng(0)
    who = rng.integers(0, 2_000, (count, 2))
    return {
        "src": [f"acc-{i}" for i in who[:, 0]],
        "dst": [f"shop-{i}" for i in who[:, 1]],
        "t": [START - 5 * (count - i) for i in range(count)],
        "amount": rng.lognormal(3, 1, count).tolist(),
    }


if __name__ == "__main__":
    main()
