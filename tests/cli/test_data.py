"""`sdgad data`: what there is and where, copies from elsewhere, figures beside the paper's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sdgad.events.datasets import download as web
from sdgad.events.datasets.dataset import Source, list_datasets
from sdgad.events.datasets.places import cache
from sdgad.events.datasets.uci import UCI

from .conftest import Command, environment

UNREACHABLE = "http://127.0.0.1:9/CollegeMsg.txt.gz"  # the port for what is to be discarded
MESSAGES = "1 2 1082040961\n3 4 1082155839\n1 2 1082155839\n2 1 1082414391\n"


@pytest.fixture(autouse=True)
def an_empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("SDGAD_DATA", raising=False)
    monkeypatch.setattr(web, "PAUSE", 0.0)
    monkeypatch.setattr(UCI, "sources", (Source(UNREACHABLE),))
    (tmp_path / "CollegeMsg.txt").write_text(MESSAGES)
    return tmp_path


def test_list_says_where_each_dataset_is(
    sdgad: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sdgad("data", "import", "uci", tmp_path / "CollegeMsg.txt", "--force").code == 0
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "mooc.parquet").write_bytes(b"")
    monkeypatch.setenv("SDGAD_DATA", str(folder))
    lines = {line.split()[0]: line for line in sdgad("data", "list").out.splitlines()}
    assert lines.keys() == {"dataset", *list_datasets()}
    assert lines["uci"].split()[1:3] == ["59,835", "1,899"]
    assert lines["uci"].endswith(f"cache: {cache() / 'uci.parquet'}")
    assert lines["mooc"].endswith(f"SDGAD_DATA: {folder / 'mooc.parquet'}")
    assert lines["reddit"].endswith("not here")


def test_names_of_datasets_are_listed(sdgad: Command) -> None:
    assert sdgad("list", "datasets").out.split() == list_datasets()


def test_fetch_leaves_what_is_here_alone(sdgad: Command, tmp_path: Path) -> None:
    sdgad("data", "import", "uci", tmp_path / "CollegeMsg.txt", "--force")
    assert sdgad("data", "fetch", "uci").out == f"uci is here: {cache() / 'uci.parquet'} (cache).\n"
    forced = sdgad("data", "fetch", "uci", "--force")
    assert forced.code == 2
    assert forced.out == ""
    assert forced.err.startswith(f"uci cannot be downloaded: {UNREACHABLE}: the server cannot be reached")
    assert forced.err.endswith("a copy from elsewhere is taken by `sdgad data import uci FILE`.\n")
    assert forced.err.count("\n") == 1


def test_a_misspelt_name_is_told_before_anything_is_downloaded(sdgad: Command) -> None:
    done = sdgad("data", "fetch", "uci", "enrom")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("There is no dataset named 'enrom' (did you mean 'enron'?)")


def test_import_takes_a_file_and_tells_where_it_differs(sdgad: Command, tmp_path: Path) -> None:
    refused = sdgad("data", "import", "uci", tmp_path / "CollegeMsg.txt")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(
        f"{tmp_path / 'CollegeMsg.txt'} is not uci: nodes 4, not 1,899, events 4, not"
    )
    assert refused.err.count("\n") == 1
    assert not cache().exists()
    done = sdgad("data", "import", "uci", tmp_path / "CollegeMsg.txt", "--force")
    assert (done.code, done.out) == (0, f"uci is now here: {cache() / 'uci.parquet'}.\n")
    assert "differs from what the paper says of it: nodes 4, not 1,899" in done.err


def test_describe_puts_a_dataset_beside_the_paper(sdgad: Command, tmp_path: Path) -> None:
    sdgad("data", "import", "uci", tmp_path / "CollegeMsg.txt", "--force")
    shown = sdgad("data", "describe", "uci")
    assert shown.code == 0
    words = [line.split() for line in shown.out.splitlines()]
    assert ["events", "4", "59,835", "different"] in words
    assert ["features", "0", "0", "equal"] in words
    assert "unique pairs / possible pairs (nodes²); the paper prints another one" in shown.out
    assert "It has no labels; every event counts as normal." in shown.out
    found = json.loads(sdgad("data", "describe", "uci", "--json").out)
    assert (found["dataset"], found["events"], found["stated"]["events"]) == ("uci", 4, 59_835)
    assert found["equal"]["features"] is True
    assert found["equal"]["events"] is False


def test_describe_takes_any_file_with_the_usual_options(sdgad: Command, tmp_path: Path) -> None:
    path = tmp_path / "payments.csv"
    path.write_text("payer,shop,when,fraud\na,x,0,0\nb,a,60,1\na,x,120,\na,x,120,0\n")
    named = ("--src", "payer", "--dst", "shop", "--time", "when", "--label", "fraud", "--bipartite")
    found = json.loads(sdgad("data", "describe", path, *named, "--json").out)
    assert (found["nodes"], found["pairs"], found["times"], found["granularity"]) == (4, 2, 3, 60.0)
    assert (found["labelled"], found["anomalies"], found["dataset"], found["stated"]) == (3, 1, None, None)
    assert found["anomaly_ratio_by_part"] == {"train": 0.0, "validation": 1.0, "test": 0.0}
    shown = sdgad("data", "describe", path, *named)
    assert "time step  60 s" in shown.out
    assert "paper" not in shown.out
    unlabelled = sdgad("data", "describe", path, "--src", "payer", "--dst", "shop", "--time", "when")
    assert "anomalies                no labels" in unlabelled.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["describe", "reddit"], "reddit is not here: neither in the folder that SDGAD_DATA names nor in"),
        (["describe", "redit"], "There is no file and no dataset 'redit'; the datasets are darpa, "),
        (["describe", "gone.csv"], "gone.csv does not exist."),
        (
            ["describe", "uci", "--src", "u"],
            "uci is a dataset, whose columns are known; options are for files.",
        ),
        (["import", "uci", "gone.txt"], "gone.txt does not exist."),
        (["import", "nothing", "gone.txt"], "There is no dataset named 'nothing'"),
        (["fetch"], "Missing argument 'NAME…'."),
        (["fly"], "No such command 'fly'."),
    ],
)
def test_mistakes_are_one_sentence(sdgad: Command, arguments: list[str], complaint: str) -> None:
    done = sdgad("data", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(complaint)
    assert done.err.count("\n") == 1
    assert not cache().exists()


@pytest.mark.parametrize("command", ["list", "fetch", "import", "describe"])
def test_every_command_explains_itself_with_an_example(sdgad: Command, command: str) -> None:
    shown = sdgad("data", command, "--help")
    assert shown.code == 0
    assert f"\n  sdgad data {command}" in shown.out
    overview = sdgad("data")
    assert overview.code == 0
    assert f"\n  {command} " in overview.out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from sdgad.cli.main import run; run(['data', '--help']); print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert not set(done.stdout.split()) & {"torch", "numpy", "pyarrow", "sklearn", "urllib.request"}
