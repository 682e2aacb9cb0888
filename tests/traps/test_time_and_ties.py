"""Traps 1 to 10 of docs/traps.md: what happened when, and what happened at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from sdgad.detectors import make_detector
from sdgad.encoders.base import EncoderConfig
from sdgad.encoders.tokens import EventTokens, visible_events
from sdgad.events.clock import Clock
from sdgad.events.injection import inject
from sdgad.events.stream import EventStream
from sdgad.history.buffer import HistoryBuffer, Rows
from sdgad.history.index import HistoryIndex
from sdgad.history.window import Window

HISTORY = 6
NODES = 12
CLOSE = 1e-5
Array = np.ndarray[Any, Any]


class Crowd:
    """Few nodes that act at few times: most rows are tied, some are self-loops, some come twice."""

    def __init__(self, count: int = 240, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.src, self.dst = rng.integers(0, NODES, (2, count))
        self.dst[::30] = self.src[::30]
        self.src[1::25], self.dst[1::25] = self.src[:-1:25], self.dst[:-1:25]
        self.t = np.sort(rng.integers(0, count // 3, count)) * 7
        self.t[1::25] = self.t[:-1:25]
        self.t.sort()
        self.msg = rng.normal(size=(count, 2)).astype(np.float32)

    def index(self, rows: Array | slice = slice(None), shift: float = 0, **options: Any) -> HistoryIndex:
        src, dst, t, msg = self.src[rows], self.dst[rows], self.t[rows] + shift, self.msg[rows]
        return HistoryIndex(src, dst, t, msg, num_nodes=NODES, **options)

    def rows(self, rows: slice, shift: float = 0) -> Rows:
        slot = np.stack([self.src, self.dst], 1)
        return Rows(slot[rows], (self.t + shift)[rows], self.msg[rows])

    def stream(self, shift: float = 0) -> EventStream:
        label = np.arange(len(self.t)) % 20 == 3
        return EventStream(self.src, self.dst, self.t + shift, self.msg, label, clock=Clock("s"))


CROWD = Crowd()


def window_of(index: HistoryIndex, row: int) -> Window:
    return index.rows(torch.tensor([row]), HISTORY)


def everything(index: HistoryIndex) -> Window:
    return index.rows(torch.arange(len(index)), HISTORY)


def pushed(rows: list[Rows]) -> Window:
    """What a live history says of events that come in parts."""
    buffer = HistoryBuffer(HISTORY, 2)
    return Window.cat([buffer.push(part) for part in rows])


def assert_same(one: Window, other: Window) -> None:
    for name, value in vars(one).items():
        torch.testing.assert_close(getattr(other, name), value, atol=0, rtol=1e-6, msg=name)


def assert_same_bits(one: Window, other: Window) -> None:
    for name, value in vars(one).items():
        if value is not None:
            assert torch.equal(getattr(other, name), value), name


def friends(count: int = 800, people: int = 60, most: int = 90, seed: int = 0) -> EventStream:
    """People who write to five friends each, at whole seconds."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, people, count)
    dst = (src + rng.integers(1, 6, count) ** 2) % people
    return EventStream(src, dst, np.cumsum(rng.integers(0, most, count)))


# ---------------------------------------------------------------------- 1, 2, 3: what an event sees
def test_an_event_sees_only_what_is_strictly_earlier() -> None:
    """Real events, and those that might have happened at the very same times."""
    index = CROWD.index()
    real = index.stored(torch.arange(len(index)))
    might = index.hypothetical(real.node[:, 0], real.node[:, 1], real.time)
    for window in (everything(index), index.window(might, HISTORY)):
        assert (window.past_gap[window.mask] > 0).all()
        for row, t in enumerate(CROWD.t):
            for end, node in enumerate((CROWD.src[row], CROWD.dst[row])):
                earlier = (t > CROWD.t) & ((node == CROWD.src) | (node == CROWD.dst))
                assert int(window.mask[row, end].sum()) == min(HISTORY, int(earlier.sum()))


def test_rows_of_one_time_are_nothing_to_each_other() -> None:
    """History, counts and rates of an event are the same whether others happen at its time or not."""
    index = CROWD.index()
    tied = 0
    for row in range(0, len(CROWD.t), 3):
        t = CROWD.t[row]
        rows = np.flatnonzero(t > CROWD.t)
        tied += int((t == CROWD.t).sum()) > 1
        alone = CROWD.index(np.append(rows, row))
        assert_same(window_of(alone, len(rows)), window_of(index, row))
    assert tied > 50


def test_live_rows_of_one_time_stay_apart_wherever_a_batch_ends() -> None:
    whole = everything(CROWD.index())
    for size in (1, 2, 7):
        cuts = range(0, len(CROWD.t), size)
        assert_same(whole, pushed([CROWD.rows(slice(start, start + size)) for start in cuts]))


def test_rows_of_one_time_stay_apart_where_the_history_ends_between_them() -> None:
    train, val, test = CROWD.stream().split()
    detector = make_detector("isolation-forest", trees=20).fit(train, val=val)
    scores = detector.decision_function(test)
    cut = next(row for row in range(len(test) // 2, len(test)) if test.t[row] == test.t[row - 1])
    detector.update(test[:cut])
    np.testing.assert_allclose(detector.decision_function(test[cut:]), scores[cut:], atol=CLOSE)


def test_including_the_event_adds_exactly_one_token_to_each_endpoint() -> None:
    """Neither siblings of its time nor a row that is equal to it come in with it."""
    index = CROWD.index()
    window = everything(index)
    tokens = EventTokens(index.shape(HISTORY), EncoderConfig())(window)
    assert tokens.shape[2] == HISTORY + 1
    included, without = visible_events(window, True), visible_events(window, False)
    added = included.int() - without.int()
    assert (added[..., :-1] == 0).all()
    assert (added[..., -1] == 1).all()
    assert torch.equal(without[..., :-1], window.mask)
    here = torch.from_numpy(CROWD.msg)[:, None, None]
    seen = (window.past_msg == here).all(-1) & window.mask
    assert not seen.any(), "the event stands among its own past"
    assert (window.past_gap[window.mask] > 0).all(), "a sibling stands among the past"


# ---------------------------------------------------------------------- 4, 5, 6: injected events
@pytest.mark.parametrize("preset", ["clean", "paper"])
def test_injected_rows_stand_anywhere_among_the_rows_of_their_time(preset: Any) -> None:
    """Where real rows have no order: each of the 21 places that twenty of them leave is as likely as any other."""
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, 300, (2, 2000))
    events = EventStream(src, dst, np.repeat(np.arange(100) * 60, 20))
    place = np.zeros(21, np.int64)
    for seed in range(4):
        noisy = inject(events, {"S": 0.1}, seed=seed, preset=preset)
        made = noisy.anomaly_type == "S"
        np.testing.assert_array_equal(noisy.src[~made], events.src)
        before = np.cumsum(~made)[made] - 20 * (noisy.t[made] // 60)
        place += np.bincount(before, minlength=21)
    assert place.sum() == 800
    assert chisquare(place).pvalue > 1e-4


@pytest.mark.parametrize(
    ("step", "offset"),
    [(60, 0), (1, 0), (0.5, 0.25), (0.01, 0.0)],
    ids=["minutes", "seconds", "halves", "1/100"],
)
@pytest.mark.parametrize("preset", ["clean", "paper"])
def test_injected_times_lie_on_the_clock_of_the_stream(preset: Any, step: float, offset: float) -> None:
    plain = friends()
    t = np.round(plain.t * step + offset, 2) if step < 1 else plain.t * step
    events = EventStream(plain.src, plain.dst, t)
    noisy = inject(events, {"T": 0.05, "S": 0.05}, preset=preset)
    made = noisy.t[noisy.label == 1]
    assert len(made) == 80
    assert noisy.t.dtype == events.t.dtype
    ticks = (made - events.t[0]) / step
    np.testing.assert_allclose(ticks, np.rint(ticks), rtol=0, atol=1e-6)


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize(
    ("step", "salience"), [(1, 1.0), (200, 1.0), (200, 0.5)], ids=["alone", "crowd", "subtle"]
)
def test_a_moved_pair_has_been_seen_before(part: str, step: int, salience: float) -> None:
    plain = friends(1000)
    times = np.random.default_rng(0).integers(1, 9, 1000) if step > 1 else 1
    src, dst, t = (np.repeat(column, times) for column in (plain.src, plain.dst, plain.t // step))
    train, _, test = EventStream(src, dst, t).split()
    for seed in range(4):
        noisy = inject({"train": train, "test": test}[part], {"T": 0.05}, seed=seed, salience=salience)
        whole, first = noisy.whole, len(noisy.whole) - len(noisy)
        made = first + np.flatnonzero(noisy.anomaly_type == "T")
        assert len(made) >= 20
        real = np.setdiff1d(np.arange(len(whole)), made)
        for row in made:
            same = (whole.src[real] == whole.src[row]) & (whole.dst[real] == whole.dst[row])
            assert whole.t[real][same].min() < whole.t[row]


# ---------------------------------------------------------------------- 7, 9: numbers that are times
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_second_stays_a_second_years_into_a_stream(kind: type) -> None:
    """Float32 counts in steps of 8 there: gaps would be 0 or 8, and the strict cut would miss events."""
    t = np.append(0, 100_000_000 + np.arange(40)).astype(kind) + kind(1_600_000_000)
    events = EventStream(np.zeros(41, int), np.arange(41) % 3, t, clock=Clock("s"))
    np.testing.assert_array_equal(events.t, t)
    one = np.ones((41, 1), np.float32)
    index = HistoryIndex(events.src, events.dst, events.t, one)
    buffer = HistoryBuffer(HISTORY, 1)
    live = buffer.push(Rows(np.stack([events.src, events.dst], 1), events.t, one))
    real = index.stored(torch.arange(41))
    might = index.hypothetical(real.node[:, 0], real.node[:, 1], real.time)
    for window in (everything(index), live, index.window(might, HISTORY, torch.from_numpy(one))):
        assert window.mask[10:, 0].all()
        assert (window.past_gap[10:, 0] == torch.arange(HISTORY, 0, -1)).all()


@pytest.mark.parametrize("wall_clock", [False, True])
def test_the_date_on_which_a_stream_begins_changes_no_bit(wall_clock: bool) -> None:
    """Gaps and ages count from the first event; only a wall clock knows dates, and a week later looks the same."""
    shift, clock = 2600 * 604_800, Clock("s", wall_clock)
    assert_same_bits(everything(CROWD.index(clock=clock)), everything(CROWD.index(shift=shift, clock=clock)))
    if not wall_clock:
        assert_same_bits(pushed([CROWD.rows(slice(None))]), pushed([CROWD.rows(slice(None), shift)]))
        scores = []
        for stream in (CROWD.stream(), CROWD.stream(shift)):
            train, val, test = stream.split()
            scores.append(
                make_detector("isolation-forest", trees=20).fit(train, val=val).decision_function(test)
            )
        np.testing.assert_array_equal(*scores)


# ---------------------------------------------------------------------- 10: the split
def test_a_split_counts_rows_also_where_many_share_a_time() -> None:
    """By quantiles of time the parts would be 300, 0 and 700 rows, or 600, 0 and 400."""
    t = np.concatenate([np.arange(300), np.full(300, 300), 301 + np.arange(400)])
    events = EventStream(np.arange(1000) % 7, np.arange(1000) % 5, t)
    parts = events.split(train=0.4, val=0.2)
    assert [len(part) for part in parts] == [400, 200, 400]
    for name in ("src", "dst", "t", "row"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(events, name))
    many = EventStream(np.zeros(157_474, int), np.ones(157_474, int), np.zeros(157_474))
    assert [len(part) for part in many.split()] == [62_989, 31_495, 62_990]  # the paper's Wikipedia
