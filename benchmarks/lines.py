"""Results, a JSON line each: on the screen, and at the end of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def tell(found: Mapping[str, Any], out: Path | None) -> None:
    """Print a line at once, and append it to `out` if there is one."""
    line = json.dumps(found)
    print(line, flush=True)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a") as file:
            file.write(line + "\n")
