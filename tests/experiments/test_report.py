"""The report: one safe, self-contained, reproducible page for every stream that can be scored."""

from __future__ import annotations

import html
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdgad.errors import InputError
from sdgad.events.clock import Clock
from sdgad.experiments.report import TOP, ScoredStream, write_report
from sdgad.experiments.scored import anomalies, backgrounds
from sdgad.metrics import evaluate

WALL = Clock("s", wall_clock=True)
HOSTILE = '<script>alert("1")</script>'
VOID = {"meta", "br", "hr", "img", "link", "input"}


def stream(n: int = 400, seed: int = 0, **changes: Any) -> ScoredStream:
    rng = np.random.default_rng(seed)
    label = np.zeros(n, dtype=np.float32)
    label[:: max(2, n // 20)] = 1
    kind = np.where(label == 1, rng.choice(["burst", "takeover"], n), "").astype(object)
    made = ScoredStream(
        t=np.sort(1_700_000_000 + rng.integers(0, 10**6, n)),
        clock=WALL,
        source=[f"payer-{i}" for i in range(n)],
        destination=[f"payee-{i}" for i in range(n)],
        score=1 / (1 + np.exp(-rng.normal(3 * label - 2, 1))),
        threshold=0.5,
        label=label,
        anomaly_type=kind,
        p_value=rng.random(n),
        details={"amount": [f"{i}.25" for i in range(n)]},
    )
    return replace(made, **changes)


def page(folder: Path, scored: ScoredStream, **changes: Any) -> str:
    metrics = evaluate(scored.label, scored.score, scored.threshold, anomaly_type=scored.anomaly_type)
    options: dict[str, Any] = {
        "title": "A report",
        "facts": [("detector", "sdgad"), ("command", "sdgad demo --seed 0")],
        "metrics": metrics,
        "comparison": [{"method": "boosting", "auroc": 0.9, "ap": None, "seconds": 1.5}],
    }
    write_report(folder / "report.html", scored, **(options | changes))
    return (folder / "report.html").read_text(encoding="utf-8")


class Outline(HTMLParser):
    """Tags, attributes and text, as a browser would see them; and whether every tag is closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    source = page(tmp_path, stream(3000))
    seen = Outline(source)
    assert not seen.open
    assert not {"script", "link", "iframe", "object", "base", "form"} & set(seen.tags)
    assert all(
        value.startswith(("#", "data:image/png;base64,"))
        for name, value in seen.attributes
        if name in ("src", "href", "xlink:href")
    )
    assert "http:" not in source
    assert "https:" not in source
    assert "@import" not in source
    assert not any(name.startswith("on") for name, _ in seen.attributes)
    assert seen.tags.count("svg") == 3


def test_every_reference_inside_a_figure_has_its_target(tmp_path: Path) -> None:
    source = page(tmp_path, stream(3000))
    targets = [value for name, value in Outline(source).attributes if name == "id"]
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', source)) <= set(targets)


@pytest.mark.parametrize(
    "text", [HOSTILE, "🦄 <b>", "a & b", "$x$ ${y} $$", '" onload="x', "ид", "\x00\x1b[31m", "\ud800"]
)
def test_text_from_the_data_is_shown_and_never_obeyed(tmp_path: Path, text: str) -> None:
    scored = stream(60)
    named = replace(
        scored,
        source=[text] * 60,
        destination=[text] * 60,
        anomaly_type=np.where(scored.label == 1, text, "").astype(object),
        details={text: [text] * 60},
    )
    source = page(
        tmp_path, named, title=text, facts=[(text, text), ("command", text)], comparison=[{"method": text}]
    )
    seen = Outline(source)
    assert "script" not in seen.tags
    assert "b" not in re.findall(r"<bdi><(\w+)", source)
    assert not any(name == "onload" for name, _ in seen.attributes)
    shown = re.sub(r"[\x00-\x1f\ud800]", "\ufffd", text)
    assert seen.text.count(shown) >= 3 * TOP


def test_text_that_reverses_the_reading_order_is_made_visible(tmp_path: Path) -> None:
    assert "\u202e" not in page(tmp_path, stream(30, source=["invoice\u202efdp.exe"] * 30))


def test_the_same_scores_give_the_same_bytes(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    first = page(tmp_path, stream(3000))
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert page(tmp_path, stream(3000)) == first
        assert matplotlib.rcParams["font.size"] == 30
    assert page(tmp_path, stream(3000, seed=1)) != first


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.1, 0.5, 0.7, 0.9, 0.999]), min_size=1, max_size=80))
def test_top_rows_are_the_highest_scores_with_ties_in_stream_order(scores: list[float]) -> None:
    n = len(scores)
    top = stream(n, score=np.array(scores)).top(TOP)
    assert top.tolist() == sorted(range(n), key=lambda row: (-scores[row], row))[:TOP]


def test_every_top_alert_is_listed_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    scored = stream()
    source = page(tmp_path, scored)
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", source)]
    listed = [row for row in rows if "payer-" in row]
    assert len(listed) == TOP
    assert scored.p_value is not None
    assert scored.anomaly_type is not None
    for row, text in zip(scored.top(TOP), listed, strict=True):
        truth = scored.anomaly_type[row] or "normal"
        known = [
            f"payer-{row}",
            f"payee-{row}",
            f"{scored.score[row]:.6f}",
            scored.moment(row),
            f"{row}.25",
            truth,
        ]
        assert all(f"|{cell}|" in html.unescape(text) for cell in known)


def test_without_labels_it_says_so_and_claims_nothing(tmp_path: Path) -> None:
    scored = stream(label=np.full(400, np.nan, dtype=np.float32), anomaly_type=None)
    for changes in ({}, {"metrics": None}):
        seen = Outline(page(tmp_path, scored, comparison=(), **changes))
        assert "No event carries a label" in seen.text
        assert "AUROC" not in seen.text
        assert "truth" not in seen.text
        assert "Precision and recall" not in seen.text
        assert "alerts per day" in seen.text
        assert seen.tags.count("svg") == 2


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_says_so_instead_of_failing(tmp_path: Path, only: int) -> None:
    label = np.full(400, only, dtype=np.float32)
    seen = Outline(page(tmp_path, stream(label=label, anomaly_type=None)))
    assert "There is no precision-recall curve" in seen.text
    assert seen.tags.count("svg") == 2


@pytest.mark.parametrize("label", [0.0, 1.0, np.nan])
@pytest.mark.parametrize(
    "clock", [WALL, Clock("s"), Clock("ns"), Clock("d", wall_clock=True, timezone="Asia/Tokyo")]
)
@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_a_single_event_has_a_report(tmp_path: Path, label: float, clock: Clock, score: float) -> None:
    scored = ScoredStream(
        t=np.array([17_000]),
        clock=clock,
        source=["a"],
        destination=["a"],
        score=np.array([score]),
        threshold=0.5,
        label=np.array([label], dtype=np.float32),
    )
    assert "1 event at " in page(tmp_path, scored)


@pytest.mark.parametrize("clock", [WALL, Clock("s")])
def test_all_events_at_one_time_have_a_report(tmp_path: Path, clock: Clock) -> None:
    assert "3,000 events at " in page(tmp_path, stream(3000, t=np.full(3000, 1.7e9), clock=clock))


def test_equal_scores_have_a_report(tmp_path: Path) -> None:
    assert Outline(page(tmp_path, stream(2000, score=np.full(2000, 0.7)))).tags.count("svg") == 3


def test_times_beyond_the_calendar_are_numbers(tmp_path: Path) -> None:
    scored = stream(50, t=np.arange(50) + 10**15)
    assert scored.moment(0) == str(10**15)
    assert "since the first event" in page(tmp_path, scored)


def test_a_large_stream_makes_a_small_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 200_000
    names = np.array([f"node {i}" for i in range(100)])[rng.integers(0, 100, n)]
    scored = ScoredStream(
        t=np.sort(rng.random(n)) * 1e6,
        clock=Clock("s"),
        source=names,
        destination=names,
        score=rng.random(n),
        threshold=0.5,
        label=(rng.random(n) < 0.5).astype(np.float32),
        anomaly_type=np.array([f"type {i}" for i in range(30)], dtype=object)[rng.integers(0, 30, n)],
    )
    page(tmp_path, scored)
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


def test_without_matplotlib_the_tables_remain_and_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    seen = Outline(page(tmp_path, stream()))
    assert "pip install 'sdgad[report]'" in seen.text
    assert "svg" not in seen.tags
    assert all(
        heading in seen.text for heading in ("Top alerts", "Thresholds", "Recall by type", "Comparison")
    )


def test_every_event_is_in_exactly_one_group() -> None:
    scored = stream(500, anomaly_type=np.array([f"type {i % 13}" for i in range(500)], dtype=object))
    scored.label[:50] = np.nan
    scored.label[50:200] = 1
    rows = np.concatenate([group.rows for group in (*backgrounds(scored), *anomalies(scored))])
    assert sorted(rows.tolist()) == list(range(500))
    styles = [(group.color, group.marker) for group in anomalies(scored)]
    assert len(set(styles)) == len(styles)


def test_moments_are_iso_in_the_zone_of_the_clock() -> None:
    summer = 1_720_000_000
    for unit, t in (("s", summer), ("ms", summer * 10**3), ("us", summer * 10**6), ("ns", summer * 10**9)):
        for dtype in (np.int64, np.float64):
            clock = Clock(unit, wall_clock=True, timezone="Europe/Berlin")
            assert (
                stream(1, t=np.array([t], dtype=dtype), clock=clock).moment(0) == "2024-07-03T11:46:40+02:00"
            )
    assert stream(1, t=np.array([summer + 0.25])).moment(0) == "2024-07-03T09:46:40.250Z"


def test_times_are_to_the_second_unless_the_stream_is_over_within_the_hour() -> None:
    start = 1_720_000_000
    assert stream(2, t=np.array([start + 0.25, start + 3599])).moment(0) == "2024-07-03T09:46:40.250Z"
    assert stream(2, t=np.array([start + 0.25, start + 3601])).moment(0) == "2024-07-03T09:46:40Z"


def test_an_alert_is_named_by_its_row_in_the_file(tmp_path: Path) -> None:
    scored = stream(row=np.arange(400)[::-1] + 5000)
    row = int(scored.top(1)[0])
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page(tmp_path, scored).split("<h2>Top alerts")[1])
    width = cells.index(f"<bdi>payer-{row}</bdi>")
    assert width == 2  # score, time, source
    listed = cells[: len(cells) // TOP]
    assert f"{5000 + 399 - row + 1:,}" in listed


def test_scores_below_the_threshold_are_not_called_alerts(tmp_path: Path) -> None:
    seen = Outline(page(tmp_path, stream(threshold=0.9999999)))
    assert "Highest scores" in seen.text
    assert "Top alerts" not in seen.text


def tile(source: str, name: str) -> str:
    found = re.search(rf"<span>{name}</span><b>(.*?)</b><i>(.*?)</i>", source)
    assert found is not None
    return f"{found[1]} {found[2]}"


def test_a_tile_says_which_events_it_was_counted_on(tmp_path: Path) -> None:
    label = np.full(400, np.nan, np.float32)
    label[[0, 1, 2]] = (1, 1, 0)
    score = np.full(400, 0.1)
    score[[0, 7, 8]] = 0.9
    source = page(tmp_path, stream(label=label, score=score, anomaly_type=None))
    assert tile(source, "precision") == "1 of 1 alerts with a label (2 more have none)"
    assert tile(source, "recall") == "1 of 2 anomalies that are alerts"
    assert "2 anomalies are too few to trust this" in tile(source, "AUROC")
    label[:] = np.arange(400) % 4 == 0
    label[300:] = np.nan
    score[::2] = 0.9
    source = page(tmp_path, stream(label=label, score=score, anomaly_type=None))
    labelled = int((score[:300] >= 0.5).sum())
    hidden = int((score[300:] >= 0.5).sum())
    precision = 75 / labelled
    assert (
        tile(source, "precision")
        == f"{precision:.3f} of {labelled} alerts with a label ({hidden} more have none)"
    )
    assert tile(source, "AUROC").endswith("on the 300 labelled events")
    label[300:] = 0
    source = page(tmp_path, stream(label=label, score=score, anomaly_type=None))
    assert tile(source, "precision").endswith("alerts that are anomalies")


def test_a_warning_is_shown_above_everything_else(tmp_path: Path) -> None:
    source = page(tmp_path, stream(), warnings=[f"Mind {HOSTILE}"])
    assert "Mind &lt;script&gt;" in source
    assert source.index("Mind &lt;") < source.index("<h2>")


def test_wide_things_scroll_in_their_own_box(tmp_path: Path) -> None:
    source = page(tmp_path, stream())
    assert len(re.findall(r'<div class="scroll"><table>', source)) == source.count("<table>")
    assert source.count('<figure class="scroll"') == source.count("<svg")


def test_days_of_a_wall_clock_carry_their_month(tmp_path: Path) -> None:
    days = 1_767_225_600 + 86_400 * np.linspace(0, 14, 400)  # from 1 January 2026
    assert len(re.findall(r">Jan \d\d<", page(tmp_path, stream(t=days)))) >= 3


def test_a_failed_report_leaves_the_old_one(tmp_path: Path) -> None:
    before = page(tmp_path, stream())
    with pytest.raises(TypeError):
        page(tmp_path, stream(), comparison=[{"auroc": object()}])
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"score": np.array([])}, "no scored event"),
        ({"score": np.array([0.1, np.nan, 0.2])}, "row 2"),
        ({"score": np.array([0.1, 0.2, 1.5])}, "row 3"),
        ({"source": ["a"]}, "'source' has 1 rows"),
        ({"details": {"amount": ["1"]}}, "'amount' has 1 rows"),
    ],
)
def test_columns_that_do_not_fit_are_refused_in_a_sentence(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        stream(3, **changes)
