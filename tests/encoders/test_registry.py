"""Encoders are found by name."""

from __future__ import annotations

import pytest

from sdgad.encoders import encoders, list_encoders
from sdgad.errors import InputError


def test_the_one_hop_encoders_are_there() -> None:
    assert {"tcl", "graphmixer", "dygformer"} <= set(list_encoders())
    assert all(encoders.get(name).name == name for name in list_encoders())


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no encoder named 'tlc'.*tcl"):
        encoders.get("tlc")
