"""Small made-up streams that look like nothing else here: to try defaults on what nobody chose them by.

`detection.load("made-logins0")`: the name of a stream, and a seed. Each is some nine thousand events between people, machines or
accounts who have habits, with a few kinds of trouble that its trade knows, about one event in a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import sdgad
from sdgad.events.stream import EventStream

DAY = 86_400.0
EVENTS = 9_000

Event = tuple[str, str, float, int, tuple[object, ...]]  # who, with whom, when, anomalous, features


class Book:
    """Events as they are made up."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def note(self, who: str, whom: str, when: float, *features: object, odd: bool = False) -> None:
        self.events.append((who, whom, when, int(odd), features))

    def stream(self, *features: str) -> EventStream:
        """In order of time, with features of these names."""
        who, whom, when, odd, values = zip(*sorted(self.events, key=lambda event: event[2]), strict=True)
        columns = dict(zip(features, zip(*values, strict=True), strict=True)) if features else {}
        table = {"src": who, "dst": whom, "t": when, "label": odd, **columns}
        return sdgad.read_events(
            pa.table({name: pa.array(column) for name, column in table.items()}),
            features=list(features) or None,
        )


def logins(rng: np.random.Generator) -> EventStream:
    """Users on their own few hosts, at their own hours. Trouble: many hosts in minutes, the wrong half of the day, guessing."""
    book, users, hosts, days = Book(), 300, 80, 60
    own = [rng.choice(hosts, rng.integers(1, 5), replace=False) for _ in range(users)]
    busy = rng.pareto(1.2, users) + 0.2
    hour = rng.normal(13, 2, users)

    def at(user: int, shift: float, spread: float) -> float:
        return float(rng.integers(days) * DAY + (hour[user] + shift + rng.normal(0, spread)) % 24 * 3600)

    for user in rng.choice(users, EVENTS, p=busy / busy.sum()):
        host = rng.choice(own[user]) if rng.random() < 0.97 else rng.integers(hosts)
        result = "fail" if rng.random() < 0.06 else "ok"
        book.note(f"u{user}", f"h{host}", at(user, 0, 2.5), result, rng.lognormal(3, 1))
    for _ in range(14):
        user, when = rng.integers(users), rng.random() * days * DAY
        for host in rng.choice(hosts, 5, replace=False):
            when += rng.exponential(120)
            book.note(f"u{user}", f"h{host}", when, "ok", rng.lognormal(3, 1), odd=True)
    for user in rng.integers(0, users, 30):
        book.note(
            f"u{user}", f"h{rng.choice(own[user])}", at(user, 12, 1), "ok", rng.lognormal(3, 1), odd=True
        )
    for user in rng.integers(0, users, 6):
        when, host = rng.random() * days * DAY, rng.choice(own[user])
        for _ in range(6):
            when += rng.exponential(20)
            book.note(f"u{user}", f"h{host}", when, "fail", rng.lognormal(2, 1), odd=True)
    return book.stream("result", "bytes")


def flows(rng: np.random.Generator) -> EventStream:
    """Machines and their servers. Trouble: scans, much that leaves at once, calls home every ten minutes."""
    book, clients, servers, days = Book(), 200, 60, 20
    own = [rng.choice(servers, 6, replace=False) for _ in range(clients)]
    port = rng.choice(["443", "80", "53", "22", "5432"], servers, p=[0.5, 0.2, 0.15, 0.1, 0.05])

    def by_day() -> float:
        return float(rng.integers(days) * DAY + rng.normal(14, 4.5) % 24 * 3600)

    for client in rng.integers(0, clients, EVENTS):
        server = rng.choice(own[client]) if rng.random() < 0.95 else rng.integers(servers)
        sizes = rng.lognormal(6, 1.5), rng.lognormal(0, 1)
        book.note(f"c{client}", f"s{server}", by_day(), port[server], *sizes)
    for client in rng.integers(0, clients, 8):
        when = rng.random() * days * DAY
        for server in rng.choice(servers, 8, replace=False):
            when += rng.exponential(1)
            tried = rng.choice(["22", "3389", "445"])
            book.note(f"c{client}", f"s{server}", when, tried, rng.lognormal(3, 0.3), 0.01, odd=True)
    for client in rng.integers(0, clients, 25):
        sizes = rng.lognormal(11, 0.7), rng.lognormal(3, 0.5)
        book.note(f"c{client}", f"s{rng.choice(own[client])}", by_day(), "443", *sizes, odd=True)
    for client in rng.integers(0, clients, 3):
        when = rng.random() * days * DAY * 0.8
        for _ in range(12):
            when += 600 + rng.normal(0, 2)
            book.note(f"c{client}", f"x{client}", when, "443", 200 + rng.normal(0, 3), 0.1, odd=True)
    return book.stream("port", "bytes", "seconds")


def edits(rng: np.random.Generator) -> EventStream:
    """Anybody edits anything, what is read much most of all. Trouble: a new account that takes things away, and is gone."""
    book, authors, pages, days = Book(), 700, 400, 40
    busy, read = rng.pareto(1.0, authors) + 0.05, rng.pareto(1.1, pages) + 0.1
    read /= read.sum()
    since = rng.random(authors) * days * 0.8 * (rng.random(authors) < 0.7)
    for author in rng.choice(authors, EVENTS, p=busy / busy.sum()):
        when = (since[author] + rng.random() * (days - since[author])) * DAY
        book.note(f"u{author}", f"p{rng.choice(pages, p=read)}", when, rng.normal(0, 30))
    for vandal in range(45):
        when = rng.random() * days * DAY
        for _ in range(rng.integers(1, 5)):
            when += rng.exponential(300)
            size = -abs(rng.normal(0, 60))
            book.note(f"v{vandal}", f"p{rng.choice(pages, p=read)}", when, size, odd=True)
    return book.stream("size")


def sensors(rng: np.random.Generator) -> EventStream:
    """Devices that report at steady times. Trouble: values off for a while, and reports by another gateway."""
    book, devices, gateways, days = Book(), 60, 5, 20
    each = EVENTS // devices
    level, gap = rng.normal(20, 8, devices), days * DAY / each
    for device in range(devices):
        when, off = rng.random() * gap, range(0)
        if rng.random() < 0.5:
            first = rng.integers(20, each - 10)
            off = range(first, first + rng.integers(2, 6))
        for number in range(each):
            when += gap * rng.normal(1, 0.05)
            odd = number in off
            value = level[device] + 2 * np.sin(2 * np.pi * when / DAY) + rng.normal(0, 0.7)
            value += rng.choice([-8, 8]) if odd else 0
            book.note(f"s{device}", f"g{device % gateways}", when, value, odd=odd)
    for device in rng.integers(0, devices, 30):
        when, value = rng.random() * days * DAY, level[device] + rng.normal(0, 1)
        book.note(f"s{device}", f"g{(device + 1) % gateways}", when, value, odd=True)
    return book.stream("value")


def social(rng: np.random.Generator) -> EventStream:
    """Circles of twenty-five who write to each other, and nothing but who to whom. Trouble: edges into another circle."""
    book, circles, size, days = Book(), 12, 25, 60

    def somebody(circle: np.signedinteger[Any]) -> str:
        return f"{circle}-{rng.integers(size)}"

    for circle in rng.integers(0, circles, EVENTS):
        other = circle if rng.random() < 0.96 else rng.integers(circles)
        book.note(somebody(circle), somebody(other), rng.random() * days * DAY)
    for _ in range(90):
        one, other = rng.choice(circles, 2, replace=False)
        book.note(somebody(one), somebody(other), rng.random() * days * DAY, odd=True)
    return book.stream()


def reviews(rng: np.random.Generator) -> EventStream:
    """Most people rate a few things, some things are rated by many. Trouble: new accounts that praise one thing in a day."""
    book, people, items, days = Book(), 2500, 150, 90
    liked = rng.pareto(1.0, items) + 0.1
    liked /= liked.sum()
    for person in rng.integers(0, people, EVENTS):
        stars = rng.choice(5, p=[0.08, 0.07, 0.15, 0.3, 0.4]) + 1.0
        book.note(f"u{person}", f"i{rng.choice(items, p=liked)}", rng.random() * days * DAY, stars)
    for ring in range(16):
        item, when = rng.integers(items), rng.random() * days * DAY
        for number in range(rng.integers(4, 9)):
            when += rng.exponential(3 * 3600)
            stars = 5.0 if rng.random() < 0.9 else 1.0
            book.note(f"f{ring}-{number}", f"i{item}", when, stars, odd=True)
    return book.stream("stars")


STREAMS: dict[str, Callable[[np.random.Generator], EventStream]] = {
    each.__name__: each for each in (logins, flows, edits, sensors, social, reviews)
}


def made_up(name: str) -> EventStream:
    """The stream of a name like logins0."""
    kind = name.rstrip("0123456789")
    return STREAMS[kind](np.random.default_rng(int(name.removeprefix(kind) or 0)))
