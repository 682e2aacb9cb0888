"""A pytest plugin: writes down which sdgad was imported, how each test ended, and by what."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_REPORT = "SDGAD_WITNESS"
_ended: list[dict[str, str]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" or report.failed:
        raised = call.excinfo.value if report.failed and call.excinfo else None
        _ended.append({"test": item.nodeid, "outcome": report.outcome, "raised": _kind(raised)})
    return report


def pytest_sessionfinish() -> None:
    import sdgad

    found = {"sdgad": sdgad.__file__, "ended": _ended}
    Path(os.environ[_REPORT]).write_text(json.dumps(found), "utf-8")


def _kind(raised: Any) -> str:
    """`assertion` where a property was found not to hold, else the name of what went wrong."""
    if raised is None:
        return ""
    if isinstance(raised, BaseExceptionGroup):  # hypothesis, when it finds several
        kinds = {_kind(each) for each in raised.exceptions}
        return kinds.pop() if len(kinds) == 1 else ", ".join(sorted(kinds))
    return (
        "assertion" if isinstance(raised, AssertionError | pytest.fail.Exception) else type(raised).__name__
    )
