"""Every example runs from anywhere, says something, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .markdown import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

SAYS = {
    "01_first_scores": r"The ten highest of \d+ scores[\s\S]*AUROC 0\.\d+",
    "02_own_csv": r"did you mean 'Merchant'[\s\S]*timezone='Europe/Berlin'[\s\S]*\d+ events scored",
    "03_few_labels_and_none": r"all labels +f1 +0\.\d+[\s\S]*no labels +quantile 0\.01 +0\.\d+",
    "04_thresholds": r"f1 [\s\S]*fpr 0\.01 [\s\S]*alerts_per_day 2 [\s\S]*value 0\.5 [\s\S]*p = 0\.\d+",
    "05_live": r"What if\? 0\.\d+[\s\S]*ms each[\s\S]*Back again after 200[\s\S]*offline scoring: \d\.\de-0[6-9]",
    "06_bridges": r"(pandas: .* -> Ev|pandas is not)[\s\S]*(polars: .* -> Ev|polars is not)"
    r"[\s\S]*(PyG: .* -> Ev|PyG is not)[\s\S]*TGB: sources",
    "07_own_encoder": r"encoders: bag, [\s\S]*bag +AUROC 0\.\d+",
    "08_compare_detectors": r"boosting +all +0\.\d+[\s\S]*sdgad +none +0\.\d+",
    "09_protocol": r"boosting S1: AUROC \d+[\s\S]*against forest: (ahead|tie|behind): [\s\S]*test +\d+ events, +0 labels",
}


def run_example(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a folder of its own, with a place for temporary files that is looked at afterwards."""
    here, temporary = folder / "here", folder / "temporary"
    here.mkdir()
    temporary.mkdir()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "TMPDIR": str(temporary),
    }
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=here, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def test_every_example_is_known_and_numbered() -> None:
    assert [path.stem for path in EXAMPLES] == sorted(SAYS)
    assert [path.name[:2] for path in EXAMPLES] == [f"{i:02}" for i in range(1, len(EXAMPLES) + 1)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_what_it_promises_and_leaves_nothing_behind(path: Path, tmp_path: Path) -> None:
    done = run_example(path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(SAYS[path.stem], done.stdout), done.stdout
    assert list((tmp_path / "here").iterdir()) == []
    left = {path.name for path in (tmp_path / "temporary").iterdir()}
    assert {name for name in left if not name.startswith("torchinductor")} == set()  # torch's own cache


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_to_run_it(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith('"""')
    assert f"python examples/{path.name}\n" in text
    assert len(text.splitlines()) < 80
