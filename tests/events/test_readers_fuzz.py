"""Whatever bytes and values a file holds, it is read rightly or refused in one sentence; and nobody crashes.

The files are read in processes of their own, since what is at stake is a crash of the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

READER = Path(__file__).with_name("fuzzed_readers.py")
KINDS = ("json", "csv", "parquet")
MANY = 1_000_000  # rows, over all kinds
PART = 20_000  # rows of one process
FEW = 1_500  # rows of each kind
MEMORY = 1.0  # GiB that no file may need


def fuzz(kind: str, rows: int, seed: int, folder: Path) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, str(READER), kind, str(rows), str(seed), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    left = [path.name for path in folder.iterdir() if path.name.startswith(f"{kind}-{seed}-")]
    assert done.returncode == 0, f"{left} ended with {done.returncode}: {done.stderr[-3000:]}"
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["peak GiB"] < MEMORY
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_odd_files(kind: str, tmp_path: Path) -> None:
    found = fuzz(kind, FEW, 0, tmp_path)
    assert found["rows"] >= FEW
    assert found["read"]
    assert found["refused"]


@pytest.mark.slow
def test_a_million_rows_of_odd_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seeds of other files than the few ones."""
    parts = [(kind, 1 + seed) for seed in range(-(-MANY // (PART * len(KINDS)))) for kind in KINDS]
    start, total, kinds = time.perf_counter(), Counter[str](), {kind: Counter[str]() for kind in KINDS}

    def part(what: tuple[str, int]) -> dict[str, Any]:
        folder = tmp_path / f"{what[0]}-{what[1]}"
        folder.mkdir()
        return fuzz(what[0], PART, what[1], folder)

    with ThreadPoolExecutor(2) as threads:
        for (kind, _), found in zip(parts, threads.map(part, parts), strict=True):
            counts = Counter({key: found[key] for key in ("files", "rows", "read", "refused")})
            total += counts
            kinds[kind] += counts
    assert total["rows"] >= MANY
    with capsys.disabled():
        print(f"\nodd files in {time.perf_counter() - start:.0f} s: {dict(total)}")
        for kind, counts in kinds.items():
            print(f"  {kind}: {dict(counts)}")
