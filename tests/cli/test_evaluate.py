"""`sdgad evaluate`: what other thresholds would give, and on which events that is known."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import sdgad as library

from .conftest import Command


def lines_of(printed: str) -> list[list[str]]:
    """The lines of the table of thresholds: flagged, threshold, alerts, …"""
    _, *rest = printed[printed.index("flagged ") :].splitlines()
    return [re.split(r" {2,}", line) for line in rest[: rest.index(next(s for s in rest if s[0] == "*"))]]


def test_each_threshold_gives_the_alerts_that_it_promises(sdgad: Command, files: Path, model: Path) -> None:
    printed = sdgad("evaluate", model, files / "new.csv").out
    detector = library.load(model)
    stream = library.read_events(files / "new.csv", columns=detector.columns)
    scores = detector.decision_function(stream)
    lines = lines_of(printed)
    assert len({line[2] for line in lines}) == len(lines) >= 2
    own = [line for line in lines if line[0].endswith("*")]
    assert [line[2] for line in own] == [f"{(scores >= detector.threshold_).sum()}"]
    for line in lines:
        if line not in own:
            flagged = scores >= float(line[1])  # as it is printed, so as it would be typed
            assert int(line[2]) == flagged.sum()
            assert int(line[-1]) == (flagged & (stream.label == 0)).sum()


def test_alerts_without_a_label_are_told_apart(
    sdgad: Command, files: Path, model: Path, tmp_path: Path
) -> None:
    detector = library.load(model)
    stream = library.read_events(files / "new.csv", columns=detector.columns)
    scores = detector.decision_function(stream)
    stream.label[np.argsort(-scores)[: len(scores) // 2]] = np.nan
    library.write_events(stream, tmp_path / "half.csv")
    alerts = int((scores >= detector.threshold_).sum())
    printed = sdgad("evaluate", model, tmp_path / "half.csv").out
    assert f"reached by 0, and by {alerts:,} without a label" in printed
    assert "false alarms are those of the 75 labelled events" in printed
    assert "without a label" not in sdgad("evaluate", model, files / "new.csv").out
