"""A copy of the package, with one care taken away or none, and tests run against it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .cares import Care

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "sdgad"


def without(care: Care) -> str:
    """The text of the file without the care; the table must not rot, so its old text stands there exactly once."""
    text = (PACKAGE / care.file).read_text("utf-8")
    times = text.count(care.old)
    assert times == 1, f"{care.name}: {care.old!r} stands {times} times in {care.file}, not once"
    return text.replace(care.old, care.new)


@dataclass(frozen=True)
class Outcome:
    """How the tests ended: pytest's exit code, its last words, and what went wrong in each test that failed."""

    code: int
    words: str
    failures: tuple[str, ...]
    tests: int


def run(tests: Sequence[str], folder: Path, care: Care | None = None) -> Outcome:
    """Run tests in another process, in an empty folder, on a copy of the package there."""
    shutil.copytree(PACKAGE, folder / "sdgad", ignore=shutil.ignore_patterns("__pycache__"))
    if care is not None:
        (folder / "sdgad" / care.file).write_text(without(care), "utf-8")
    report = folder / "report.json"
    command = [sys.executable, "-m", "pytest", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parent)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "SDGAD_WITNESS": str(report),
    }
    done = subprocess.run(
        [*command, "-p", "witness", "-x", "-m", "", *(str(ROOT / test) for test in tests)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    words = (done.stdout + done.stderr)[-2000:]
    assert report.is_file(), f"pytest did not come to its end:\n{words}"
    seen = json.loads(report.read_text("utf-8"))
    assert Path(seen["sdgad"]).is_relative_to(folder), f"tests ran on {seen['sdgad']}, not on the copy"
    failures = tuple(each["raised"] for each in seen["ended"] if each["outcome"] == "failed")
    return Outcome(done.returncode, words, failures, len(seen["ended"]))
