"""check_detector: all that a detector has to obey."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdgad.checks import (
    detector_explanations,
    detector_files,
    detector_labels,
    detector_late,
    detector_live,
    detector_names,
    detector_options,
    detector_parts,
    detector_scores,
    detector_state,
)
from sdgad.checks.detector_subject import DetectorSubject
from sdgad.checks.running import Named, checks_of, run_checks
from sdgad.detectors.base import Detector

MODULES = (
    detector_scores,
    detector_parts,
    detector_names,
    detector_late,
    detector_labels,
    detector_options,
    detector_files,
    detector_state,
    detector_live,
    detector_explanations,
)


def detector_checks() -> list[Named[DetectorSubject]]:
    """Name and function of every check, in order: `check(DetectorSubject(MyDetector))`."""
    return checks_of(MODULES)


def check_detector(
    cls: type[Detector], *, only: Iterable[str] | None = None, device: str = "cpu", **options: Any
) -> None:
    """Whether a detector keeps the contract; `CheckFailed` says which promise is broken, and what was found.

    It is made with its `check_options`, and these options over them, and fitted about ten times on a few hundred events. `only`
    names the checks to run.
    """
    run_checks(DetectorSubject(cls, device=device, **options), detector_checks(), only)
