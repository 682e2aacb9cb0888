"""Values that were published for an encoder dataset by dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DATASETS = ("wikipedia", "reddit", "mooc", "lastfm", "enron", "uci")


def by_dataset(**columns: tuple[Any, ...] | Any) -> Mapping[str, Mapping[str, Any]]:
    """Dataset → option → value, from one value per option or one for each of `DATASETS`; `history` is L of the detector."""
    each = {
        name: found if isinstance(found, tuple) else (found,) * len(DATASETS)
        for name, found in columns.items()
    }
    return {dataset: {name: values[i] for name, values in each.items()} for i, dataset in enumerate(DATASETS)}
