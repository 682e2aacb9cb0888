"""Somebody else's package brings an encoder: installed, found by name, fitted, saved, loaded elsewhere; and missed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

import sdgad

pytest.importorskip("pip", reason="a package is installed by pip")
pytest.importorskip("hatchling", reason="a package is built by hatchling, as ours is")

DETECTORS = ("classifier", "sdgad")

PROJECT = """
    [build-system]
    requires = ["hatchling"]
    build-backend = "hatchling.build"

    [project]
    name = "fading-encoder"
    version = "0.3"
    dependencies = ["sdgad"]

    [project.entry-points."sdgad.encoders"]
    fading = "fading_encoder:Fading"
"""

MODULE = '''
    """An encoder that no part of sdgad has heard of."""

    from dataclasses import dataclass

    import torch

    from sdgad.configuration import option
    from sdgad.encoders.base import EncoderConfig
    from sdgad.encoders.linear import Linear
    from sdgad.encoders.tokens import TokenEncoder


    @dataclass(frozen=True)
    class FadingConfig(EncoderConfig):
        keep: float = option(0.9, "what an event still counts when one more has come")


    class Fading(TokenEncoder):
        """z = W · Σ_visible keepᵃ · token, a = how many events came after it."""

        config_type = FadingConfig
        paper = FadingConfig(width=64)

        def __init__(self, shape, config):
            super().__init__(shape, config)
            age = torch.arange(shape.history, -1, -1)
            self.register_buffer("weight", config.keep**age, persistent=False)
            self.out = Linear(config.width, config.width)

        def mix(self, tokens, visible):
            return self.out(((self.weight * visible)[..., None] * tokens).sum(2))
'''

COMMANDS = """
    import io, json, sys
    from contextlib import redirect_stderr, redirect_stdout
    from sdgad.cli.main import run

    for line in json.load(sys.stdin):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(line.split())
        print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Elsewhere:
    """New processes in a folder of events and models, where the package is installed or is not."""

    def __init__(self, folder: Path, installed: Path) -> None:
        self.folder = folder
        self.installed = installed

    def python(self, code: str, *, package: bool = True, typed: str = "") -> Ended:
        paths = [str(self.installed)] * package + [path for path in sys.path if path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        return ended([sys.executable, "-c", dedent(code)], self.folder, environment, typed)

    def sdgad(self, *lines: str, package: bool = True) -> list[Ended]:
        """Commands, one after the other in one process: the import of torch is what takes time here."""
        done = self.python(COMMANDS, package=package, typed=json.dumps(lines))
        assert done.code == 0, done.err
        return [Ended(*json.loads(line)) for line in done.out.splitlines()]


def ended(command: list[str], folder: Path, environment: Mapping[str, str], typed: str = "") -> Ended:
    done = subprocess.run(
        command, cwd=folder, env=dict(environment), input=typed, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """The package is written, built and installed by pip: without network, and into a folder of its own, not this environment."""
    root = tmp_path_factory.mktemp("elsewhere")
    package, installed, folder = root / "package", root / "installed", root / "folder"
    (package / "fading_encoder").mkdir(parents=True)
    (package / "pyproject.toml").write_text(dedent(PROJECT), "utf-8")
    (package / "fading_encoder" / "__init__.py").write_text(dedent(MODULE), "utf-8")
    offline = (
        "--isolated", "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "--disable-pip-version-check",
    )  # fmt: skip
    pip = [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", str(installed)]
    done = ended([*pip, str(package)], root, os.environ)
    assert done.code == 0, done.err
    folder.mkdir()
    events = sdgad.simulate_payments(num_events=500, anomaly_rate=0.1, seed=0)
    sdgad.write_events(events[:400], folder / "today.csv")
    sdgad.write_events(events[400:], folder / "tomorrow.csv")
    return Elsewhere(folder, installed)


@pytest.fixture(scope="module")
def names(elsewhere: Elsewhere) -> list[str]:
    """All encoders that `sdgad` lists with the package; it has then fitted both detectors with it, and scored."""
    sizes = "--set width=8 --set keep=0.5 --set history=5"
    listed, *done = elsewhere.sdgad(
        "list encoders",
        *(f"fit today.csv -o {name} --detector {name} --encoder fading --epochs 1 {sizes}" for name in DETECTORS),
        *(f"score {name} tomorrow.csv -o {name}-1.csv" for name in DETECTORS),
    )  # fmt: skip
    for command in (listed, *done):
        assert command.code == 0, command.err
    return listed.out.split()


def test_it_is_listed(names: list[str]) -> None:
    assert {"fading", "tcl"} <= set(names)


@pytest.mark.usefixtures("names")
def test_a_new_process_loads_its_models_and_scores_are_the_same(elsewhere: Elsewhere) -> None:
    *scored, told = elsewhere.sdgad(
        *(f"score {name} tomorrow.csv -o {name}-2.csv" for name in DETECTORS), "info classifier"
    )
    for name, command in zip(DETECTORS, scored, strict=True):
        assert command.code == 0, command.err
        first, again = ((elsewhere.folder / f"{name}-{time}.csv").read_text("utf-8") for time in (1, 2))
        assert again == first
        scores = {row["score"] for row in csv.DictReader(first.splitlines())}
        assert len(scores) > 50, "of a hundred events"
    assert "keep" in told.out


@pytest.mark.usefixtures("names")
def test_without_the_package_its_models_say_in_a_sentence_what_is_missing(elsewhere: Elsewhere) -> None:
    listed, *refused = elsewhere.sdgad(
        "list encoders", *(f"score {name} tomorrow.csv -o {name}-3.csv" for name in DETECTORS), package=False
    )
    assert "fading" not in listed.out
    for name, command in zip(DETECTORS, refused, strict=True):
        assert command.code == 2
        assert not command.out
        assert command.err == (
            f"The model folder {name} cannot be used: It needs the encoder 'fading', which is not installed here; install the "
            "package that brings it (entry point sdgad.encoders), or import its module before.\n"
        )
        assert not (elsewhere.folder / f"{name}-3.csv").exists()


def test_its_vectors_keep_the_contract(elsewhere: Elsewhere) -> None:
    """The quick checks; all of them, below."""
    done = elsewhere.python(
        """
        from sdgad.checks import check_encoder, encoder_checks
        from sdgad.encoders import encoders
        slow = ("at_work", "both_is_one_graph")
        check_encoder(encoders.get("fading"), only=[name for name, _ in encoder_checks() if not name.startswith(slow)])
        """
    )
    assert done.code == 0, done.err


@pytest.mark.slow
def test_it_keeps_the_whole_contract(elsewhere: Elsewhere) -> None:
    code = "import sdgad; from sdgad.encoders import encoders; sdgad.checks.check_encoder(encoders.get('fading'))"
    done = elsewhere.python(code)
    assert done.code == 0, done.err
