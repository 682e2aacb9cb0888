"""Networks that are drawn up, to see what they need or hold, take neither room nor time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import sdgad
from sdgad.detectors.drawn_up import drawn_up
from sdgad.encoders.base import encoders
from sdgad.history.window import WindowShape

SHAPE = WindowShape(history=5, msg=2, context=30, phases=4)
LOADED = "import sys, sdgad; sdgad.load(sys.argv[1]); print('torch._dynamo' in sys.modules)"


@pytest.mark.parametrize("name", sdgad.list_encoders())
def test_a_network_that_is_drawn_up_has_the_parts_of_one_that_is_built(name: str) -> None:
    encoder = encoders.get(name)
    built = encoder(SHAPE, encoder.config_type())
    with drawn_up():
        drawn = encoder(SHAPE, encoder.config_type())
    parts = [
        {key: (value.shape, value.dtype) for key, value in made.state_dict().items()}
        for made in (built, drawn)
    ]
    assert parts[0] == parts[1]
    assert all(weight.is_meta for weight in drawn.parameters())
    assert not any(weight.is_meta for weight in built.parameters())


def test_weights_are_drawn_again_once_the_drawing_up_is_over() -> None:
    with drawn_up():
        nn.Linear(2, 2)
    weight = nn.Linear(40, 40).weight
    assert not weight.is_meta
    assert weight.std() > 0
    assert torch.isfinite(weight).all()


def test_to_load_a_model_does_not_load_the_compiler_of_torch(tmp_path: Path) -> None:
    """It takes a second and a half, which everybody would wait who scores a small file."""
    train, val, _ = sdgad.simulate_payments(600, seed=0).split()
    sdgad.SDGAD(**sdgad.SDGAD.check_options).fit(train, val=val).save(tmp_path / "model")
    command = [sys.executable, "-c", LOADED, str(tmp_path / "model")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
