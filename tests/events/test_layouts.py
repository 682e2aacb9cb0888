"""Files of other projects are recognised by their header."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.events.layouts import LAYOUTS, by_alias, family, from_metadata, recognise, spread, to_metadata
from sdgad.events.read import read_events
from sdgad.events.stream import ColumnNames

JODIE = "user_id,item_id,timestamp,state_label,comma_separated_list_of_features\n"


def write(folder: Path, text: str, name: str = "events.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_jodie_rows_have_more_fields_than_the_header(tmp_path: Path) -> None:
    events = read_events(
        write(tmp_path, JODIE + "0,0,0.0,0,0.1,-2.5e-01,3\n1,0,36.0,1,0.2,0,4\n0,1,77.5,0,0.3,1,5\n")
    )
    assert events.bipartite
    assert events.num_nodes == 4  # user 0 and item 0 are two nodes
    assert events.t.tolist() == [0.0, 36.0, 77.5]
    assert events.label.tolist() == [0, 1, 0]
    assert events.msg is not None
    assert np.array_equal(events.msg, np.float32([[0.1, -0.25, 3], [0.2, 0, 4], [0.3, 1, 5]]))


@pytest.mark.parametrize(("row", "width"), [("0,0,0.0,0", 0), ("0,0,0.0,0,0.5", 1)])
def test_jodie_rows_may_have_no_or_one_feature(tmp_path: Path, row: str, width: int) -> None:
    assert read_events(write(tmp_path, JODIE + row + "\n")).num_features == width


def test_a_broken_jodie_feature_is_named_by_column_and_row(tmp_path: Path) -> None:
    path = write(tmp_path, JODIE + "0,0,0.0,0,0.1,2\n1,0,1.0,0,0.2,3\n1,0,2.0,0,oops,3\n")
    with pytest.raises(InputError, match=r"events.csv, column 'f0', row 3: 'oops'"):
        read_events(path)


def test_a_ragged_jodie_row_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, JODIE + "0,0,0.0,0,0.1,2\n1,0,1.0,0,0.2\n")
    with pytest.raises(InputError, match=r"events.csv, row 2: 5 fields where there should be 6"):
        read_events(path)


def test_dyglib_row_numbers_are_no_features(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = ",u,i,ts,label,idx\n0,1,3,0.0,0.0,1\n1,2,3,36.0,1.0,2\n"
    with caplog.at_level(logging.WARNING, "sdgad.events"):
        events = read_events(write(tmp_path, text, "ml_wikipedia.csv"))
    assert not events.bipartite  # DyGLib numbers items after users
    assert events.num_features == 0
    assert events.label.tolist() == [0, 1]
    assert events.vocabulary.raw(events.src).to_pylist() == [1, 2]
    assert not caplog.records


def test_tgb_tables_and_files_are_recognised(tmp_path: Path) -> None:
    table = pa.table(
        {
            "sources": [5, 6],
            "destinations": [7, 7],
            "timestamps": [1, 2],
            "edge_feat": [[1.0, 2.0], [3.0, 4.0]],
        }
    )
    from_table = read_events(table)
    from_file = read_events(
        write(tmp_path, "sources,destinations,timestamps,edge_feat\n5,7,1,1.0,2.0\n6,7,2,3.0,4.0\n")
    )
    for events in (from_table, from_file):
        assert events.msg is not None
        assert events.msg.tolist() == [[1, 2], [3, 4]]
        assert [feature.name for feature in events.features] == ["edge_feat0", "edge_feat1"]
        assert events.t.dtype == np.int64
        assert not events.has_labels


def test_every_layout_recognises_its_own_columns() -> None:
    for layout in LAYOUTS.values():
        assert recognise([layout.src, layout.dst, layout.time]) is layout
    assert recognise(["a", "b", "c"]) is None


def test_common_names_are_found_whatever_their_case() -> None:
    assert by_alias("src", ["When", " Source ", "Target"]) == " Source "
    assert by_alias("time", ["Timestamp"]) == "Timestamp"
    assert by_alias("label", ["amount"]) is None


def test_numbered_columns_count_from_zero_without_gaps() -> None:
    assert family(["msg1", "msg0", "msg3"], "msg") == ["msg0", "msg1"]
    assert family(["f0", "f1"], "msg") == ["f0", "f1"]
    assert family(["f1", "f2"], "msg") == []
    assert spread(["a", "b"], 7) is None


def test_what_columns_cannot_say_survives_in_the_metadata() -> None:
    names = ColumnNames("a", "b", "c", None, ("x", "y"))
    layout = from_metadata(pa.schema([], metadata=to_metadata(names, True, Clock("min", True, "Asia/Tokyo"))))
    assert layout is not None
    assert (layout.src, layout.dst, layout.time, layout.label, layout.features) == (
        "a",
        "b",
        "c",
        None,
        ("x", "y"),
    )
    assert layout.bipartite
    assert layout.clock == Clock("min", True, "Asia/Tokyo")


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{}", b'{"src": 1}', b"\xff"])
def test_damaged_metadata_is_as_good_as_none(damaged: bytes) -> None:
    assert from_metadata(pa.schema([], metadata={b"sdgad.events": damaged})) is None
