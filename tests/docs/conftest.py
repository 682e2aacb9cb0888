"""What a reader of the documentation has at hand: files of payments, the demo's folder, a detector."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sdgad.cli.main import run
from sdgad.detectors.base import Detector
from sdgad.events.simulator import simulate_payments

CURRENCIES = ("USD", "EUR", "CHF")
HEADER = ("payer", "payee", "when", "amount", "currency", "is_fraud")


@contextmanager
def short_training() -> Iterator[None]:
    """One epoch, whatever the page asks for: its lines are run, its figures are not."""
    fit = Detector.fit

    def once(self: Detector, train: Any, val: Any = None, **options: Any) -> Detector:
        asked = options.get("epochs")
        return fit(self, train, val, **{**options, "epochs": 1 if asked is None else min(asked, 1)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Detector, "fit", once)
        patch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug here
        yield


def payments(first: int, last: int) -> list[dict[str, Any]]:
    """Rows as a bank might export them."""
    events = simulate_payments(600, anomaly_rate=0.1, seed=0)[first:last]
    assert events.msg is not None
    columns = (
        events.vocabulary.raw(events.src).to_pylist(),
        events.vocabulary.raw(events.dst).to_pylist(),
        [datetime.fromtimestamp(t, UTC).isoformat() for t in events.t.tolist()],
        [round(amount, 2) for amount in events.msg[:, 0].tolist()],
        [CURRENCIES[int(channel) % len(CURRENCIES)] for channel in events.msg[:, 1]],
        events.label.astype(int).tolist(),
    )
    return [dict(zip(HEADER, row, strict=True)) for row in zip(*columns, strict=True)]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, HEADER)
        out.writeheader()
        out.writerows(rows)


@pytest.fixture(scope="session")
def belongings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take for granted: files of payments, a download, and `demo/` as `sdgad demo` leaves it."""
    folder = tmp_path_factory.mktemp("belongings")
    write_csv(folder / "payments.csv", payments(0, 400))
    write_csv(folder / "tomorrow.csv", payments(400, 500))
    lines = [json.dumps(row) + "\n" for row in payments(500, 600)]
    (folder / "events.jsonl").write_text("".join(lines), encoding="utf-8")
    messages = "".join(
        f"{1 + i} {1 + (i + 1) % 1899} {1082040961 + i}\n" for i in range(1899)
    )  # few, of all nodes
    (folder / "CollegeMsg.txt.gz").write_bytes(gzip.compress(messages.encode()))
    with chdir(folder), short_training():
        assert run(["demo", "--events", "600"]) == 0
    return folder


@pytest.fixture
def desk(belongings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the belongings, and the working directory for the length of a test; no dataset is anywhere."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("SDGAD_DATA", raising=False)
    shutil.copytree(belongings, tmp_path, dirs_exist_ok=True)
    with chdir(tmp_path), short_training():
        yield tmp_path
