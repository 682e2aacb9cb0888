"""Reads odd files until so many rows have gone through, in a process of its own: python fuzzed_readers.py KIND ROWS SEED FOLDER.

Prints counts as JSON. FOLDER keeps the file that was being read when something went wrong.
"""

from __future__ import annotations

import json
import logging
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from fuzzed_files import MAKERS, Case

from sdgad.errors import InputError
from sdgad.events import json_lines, table
from sdgad.events.read import read_events
from sdgad.events.write import write_table

SECONDS = 60  # for one file, on a busy machine
PLACE = re.compile(r"column '(\w+)', row (\d+)|row (\d+)")


def too_long(*_: Any) -> None:
    raise AssertionError(f"a file took more than {SECONDS} s")


def read(case: Case, path: Path) -> str:
    """How it ended; anything but one clear sentence or the right rows is an AssertionError."""
    path.write_bytes(case.content)
    try:
        rows = table.read_table(path)
        events = read_events(path, features=["amount"])
    except InputError as problem:
        check_sentence(str(problem), case, path)
        return "refused"
    assert not case.refused, f"read, though {sorted(case.refused)[:5]} must be refused"
    raw = events.vocabulary.raw
    ids = list(zip(map(str, raw(events.src).to_pylist()), map(str, raw(events.dst).to_pylist()), strict=True))
    ids = [ids[place] for place in np.argsort(events.row)]
    if case.expected is not None:
        assert ids == [(source, destination) for source, destination, _, _ in case.expected]
        assert events.in_input_order(events.t).tolist() == [t for _, _, t, _ in case.expected]
        assert events.msg is not None
        assert np.array_equal(
            events.in_input_order(events.msg[:, 0]),
            np.array([amount for *_, amount in case.expected], np.float32),
            equal_nan=True,
        )
    if case.oracle is not None and (found := case.oracle(case.content)) is not None:
        assert ids == found
    if len(ids) < 20:  # carried columns go out as they came
        try:
            write_table(rows, path.with_name("out.jsonl"))
            write_table(rows, path.with_name("out.csv"))
        except InputError as problem:
            check_sentence(str(problem), Case("", b"", 0), path.with_name("out"))
    return "read"


def check_sentence(sentence: str, case: Case, path: Path) -> None:
    """One sentence that names the file and, where it is known which rows are wrong, one of them."""
    assert "\n" not in sentence, sentence
    assert sentence.endswith((".", "?")), sentence
    assert len(sentence) < 3000, sentence
    assert str(path) in sentence, sentence
    assert case.expected is None, f"refused, though nothing is wrong: {sentence}"
    if case.refused:
        place = PLACE.search(sentence)
        assert place is not None, sentence
        number = int(place[2] or place[3])
        assert (place[1], number) in case.refused or (place[1] is None and number in {r for _, r in case.refused}), (
            sentence, sorted(case.refused)[:5],
        )  # fmt: skip


def main(kind: str, rows: int, seed: int, folder: Path) -> None:
    logging.disable()
    signal.signal(signal.SIGALRM, too_long)
    done: Counter[str] = Counter()
    start, file = time.perf_counter(), 0
    while done["rows"] < rows:
        rng = np.random.default_rng([seed, file])
        maker = MAKERS[kind][file % len(MAKERS[kind])]
        case = maker(rng)
        small = bool(rng.integers(3) == 0)  # several blocks in a file
        json_lines._BLOCK = 1024 if small else 16 << 20
        table._BLOCK = 64 << 10 if small else 16 << 20
        path = folder / f"{kind}-{seed}-{file}-{maker.__name__}.{case.suffix}"
        signal.alarm(SECONDS)
        outcome = read(case, path)
        signal.alarm(0)
        path.unlink()
        done.update({"files": 1, "rows": case.rows, outcome: 1, f"{maker.__name__} {outcome}": 1})
        file += 1
    # not that of getrusage, which counts the process that started this one
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) / 2**20
    print(json.dumps({**done, "seconds": round(time.perf_counter() - start, 1), "peak GiB": round(peak, 2)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
