"""`preset="paper", dataset=…` has the values that were published for an encoder on that dataset."""

from __future__ import annotations

import pytest

import sdgad
from sdgad.encoders.base import encoders
from sdgad.encoders.published import DATASETS, by_dataset
from sdgad.errors import InputError

OURS = ("tcl", "graphmixer", "dygformer", "freedyg", "cawn", "tgat", "tgn", "jodie", "dyrep")


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_dataset_has_a_configuration_that_can_be_built(name: str, dataset: str) -> None:
    config = sdgad.make_detector("classifier", encoder=name, preset="paper", dataset=dataset).config
    said = encoders.get(name).paper_by_dataset[dataset]
    assert config.history == said["history"]
    assert {key: config.encoder_options[key] for key in said if key != "history"} == {
        key: value for key, value in said.items() if key != "history"
    }


def test_what_the_user_says_wins_and_sdgad_keeps_what_the_paper_reports_of_it() -> None:
    given = sdgad.make_detector(
        "classifier", encoder="cawn", preset="paper", dataset="mooc", walks=8, history=5
    )
    assert (given.config.history, given.config.encoder_options["walks"]) == (5, 8)
    assert sdgad.SDGAD(encoder="cawn", preset="paper", dataset="mooc").config.history == 20
    with pytest.raises(InputError, match="no settings for dataset 'darpa'"):
        sdgad.make_detector("classifier", preset="paper", dataset="darpa")


def test_one_value_stands_for_all_datasets() -> None:
    table = by_dataset(history=7, dropout=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    assert table["wikipedia"] == {"history": 7, "dropout": 0.1}
    assert table["uci"] == {"history": 7, "dropout": 0.6}
