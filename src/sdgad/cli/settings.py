"""The options of a detector, gathered from a file, from `--set` and from named options."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sdgad.configuration import parse_assignment
from sdgad.errors import InputError

READERS: dict[str, Callable[[str], Any]] = {".json": json.loads, ".toml": tomllib.loads}


def gather(config: Path | None, assignments: Sequence[str], named: Mapping[str, Any]) -> dict[str, Any]:
    """`--set` and named options (those that are not None) over the file; giving one twice is an error."""
    given: dict[str, Any] = {}
    for text in assignments:
        key, value = parse_assignment(text)
        if key in given:
            raise InputError(f"--set gives {key!r} twice.")
        given[key] = value
    for key, value in named.items():
        if value is None:
            continue
        if key in given:
            raise InputError(f"Option {key!r} is given twice: by --{key} and by --set.")
        given[key] = value
    return {**(read_config(config) if config else {}), **given}


def read_config(path: Path) -> dict[str, Any]:
    """The options in a JSON or TOML file, keys as in `--set`."""
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise InputError(f"{path} has no known format; a config file ends in {' or '.join(READERS)}.")
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a config file.")
    try:
        options = read(path.read_text(encoding="utf-8-sig"))
    except ValueError as problem:  # of JSON, of TOML or of UTF-8
        raise InputError(f"{path} cannot be read: {problem}.") from None
    if not isinstance(options, dict):
        raise InputError(f"{path} holds no options: it should be one JSON object.")
    return options
