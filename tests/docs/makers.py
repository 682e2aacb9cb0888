"""The scripts that write pages from results/."""

from __future__ import annotations

import runpy
import sys
from typing import Any
from unittest import mock

from .markdown import ROOT


def maker(name: str) -> dict[str, Any]:
    """What `docs/<name>.py` defines; its neighbours are found as when it is run."""
    with mock.patch.object(sys, "path", [str(ROOT / "docs"), *sys.path]):
        return runpy.run_path(str(ROOT / "docs" / f"{name}.py"))
