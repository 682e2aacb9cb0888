"""Ordinary payments: who exists, when they pay, whom they pay, and how much."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

HOUR, DAY = 3600.0, 86400.0
CARD, ONLINE, TRANSFER = 0, 1, 2
CHANNELS = ("card", "online", "transfer")

FAVOURITES = 6  # partners that an account returns to, the first ones most often
_ROUNDS = 64  # of rejection sampling; whoever is left then (one in millions) keeps an unlikely hour


@dataclass(frozen=True, eq=False)
class Payments:
    """Columns of payments. Nodes are numbered accounts first, then shops; `t` is seconds from the start."""

    src: Array
    dst: Array
    t: Array
    log_amount: Array
    channel: Array
    pattern: Array  # 0 is ordinary, k is the k-th anomaly pattern

    def __len__(self) -> int:
        return len(self.t)

    def take(self, rows: Array) -> Payments:
        return Payments(*(getattr(self, f.name)[rows] for f in fields(self)))

    @classmethod
    def join(cls, parts: list[Payments]) -> Payments:
        """All parts in order of time."""
        joined = cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))
        return joined.take(np.argsort(joined.t, kind="stable"))


@dataclass(frozen=True, eq=False)
class Population:
    """Accounts with habits, and shops with prices.

    An account pays between `opened` and `closed`, except while it is away, most often around its `peak` hour
    (a von Mises bump of concentration `regularity`). Its log amount to a partner is N(level + price, 0.25²).
    """

    span: float  # seconds
    opened: Array  # per account, sorted: numbers are given in order of opening
    closed: Array
    away_from: Array
    away_to: Array
    activity: Array  # payments per unit of time, up to a common factor
    peak: Array  # hour of the day
    regularity: Array
    weekend: Array  # how much is left of the activity on Saturdays and Sundays
    level: Array  # mean log amount
    favourites: Array  # [accounts, FAVOURITES] nodes
    price: Array  # per node: how much dearer than usual it is to pay them, in log
    web: Array  # per shop: sells online

    @property
    def num_accounts(self) -> int:
        return len(self.opened)

    @property
    def num_shops(self) -> int:
        return len(self.web)

    @classmethod
    def draw(cls, num_accounts: int, span: float, rng: np.random.Generator) -> Population:
        """A population: 70% have their account from the start, some leave for good, some go on holiday."""
        n, shops = num_accounts, max(10, num_accounts // 3)
        opened = np.sort(np.where(np.arange(n) < 0.7 * n, 0.0, rng.uniform(0, 0.92, n))) * span
        leaves = rng.random(n) < 0.06
        closed = np.where(leaves, opened + rng.uniform(0.1, 1.0, n) * (span - opened), span)
        holiday = rng.random(n) < 0.2
        away_from = np.where(holiday, rng.uniform(0.05, 0.85, n) * span, span)
        chronotype = rng.choice(3, n, p=[0.68, 0.2, 0.12])  # by day, in the evening, night owls
        hour, spread = np.array([[13.0, 19.0, 1.5], [2.5, 1.5, 2.0]])[:, chronotype]
        peak = hour + spread * rng.normal(size=n)
        web = rng.random(shops) < 0.4
        web[0] = True  # a small town, too, has a shop online
        account = np.repeat(np.arange(n), FAVOURITES)
        friends = rng.random(len(account)) < 0.25
        favourites = np.where(friends, _acquaintance(account, n, rng), n + _zipf(shops, len(account), rng))
        return cls(
            span=span,
            opened=opened,
            closed=closed,
            away_from=away_from,
            away_to=away_from + rng.uniform(0.12, 0.35, n) * span,
            activity=rng.lognormal(0.0, 0.8, n),
            peak=peak % 24,
            regularity=rng.uniform(1.5, 4.0, n),
            weekend=rng.uniform(0.4, 1.2, n),
            level=rng.normal(3.3, 1.25, n),
            favourites=favourites.reshape(n, FAVOURITES),
            price=np.concatenate([rng.normal(0.4, 0.4, n), rng.normal(0.0, 0.5, shops)]),
            web=web,
        )

    def present(self, node: Array, t: Array) -> Array:
        """Whether a node takes part at a time: shops always do."""
        account = np.minimum(node, self.num_accounts - 1)
        here = (self.opened[account] <= t) & (t < self.closed[account])
        here &= (t < self.away_from[account]) | (t >= self.away_to[account])
        return here | (node >= self.num_accounts)

    def habit(self, src: Array, dst: Array) -> Array:
        """Mean log amount that src pays to dst."""
        return self.level[src] + self.price[dst]

    def channel(self, dst: Array, rng: np.random.Generator) -> Array:
        """People get transfers; web shops are mostly paid online, the others mostly by card."""
        person = dst < self.num_accounts
        online = self.web[np.maximum(dst - self.num_accounts, 0)] ^ (rng.random(len(dst)) < 0.08)
        return np.where(person, TRANSFER, np.where(online, ONLINE, CARD))

    def pay(self, size: int, rng: np.random.Generator) -> Payments:
        """So many ordinary payments, in order of time."""
        chance = self.activity * np.maximum(self.closed - self.opened, 1e-9 * self.span)
        src = np.repeat(np.arange(self.num_accounts), rng.multinomial(size, chance / chance.sum()))
        t = self._sessions(src, self._times(src, rng), rng)
        dst, explores = self._partners(src, t, rng)
        log_amount = self.habit(src, dst) + rng.normal(0.0, np.where(explores, 0.5, 0.25))
        large = rng.random(size) < np.where(explores, 0.04, 0.006)  # a sofa, a repair
        log_amount += large * rng.uniform(np.log(2.5), np.log(7.0), size)
        payments = Payments(src, dst, t, log_amount, self.channel(dst, rng), np.zeros(size, np.int8))
        return payments.take(np.argsort(t, kind="stable"))

    def _times(self, src: Array, rng: np.random.Generator) -> Array:
        """Times at each account's own hours and days, by rejection from the uniform law on its open time."""
        t = np.empty(len(src))
        todo = np.arange(len(src))
        for _ in range(_ROUNDS):
            who = src[todo]
            t[todo] = guess = self.opened[who] + rng.random(len(todo)) * (self.closed[who] - self.opened[who])
            phase = 2 * np.pi / 24 * (guess / HOUR - self.peak[who])
            rhythm = np.maximum(np.exp(self.regularity[who] * (np.cos(phase) - 1)), 0.01)
            rhythm *= np.where(guess // DAY % 7 >= 5, self.weekend[who], 1.0)
            accepted = (1.2 * rng.random(len(todo)) < rhythm) & self.present(who, guess)
            todo = todo[~accepted]
            if len(todo) == 0:
                break
        return t

    def _sessions(self, src: Array, t: Array, rng: np.random.Generator) -> Array:
        """Some payments follow the account's previous one within minutes; now and then many do, in a spree.

        Expects payments grouped by account.
        """
        size = len(src)
        t = t[np.lexsort((t, src))]
        place = np.arange(size)
        spree = rng.random(size) < 0.003
        since = place - np.maximum.accumulate(np.where(spree, place, -size))
        joins = (rng.random(size) < 0.12) | ((since > 0) & (since <= rng.integers(3, 9, size)))
        joins[:1] = False
        joins[1:] &= src[1:] == src[:-1]
        anchor = np.maximum.accumulate(np.where(joins, 0, place))
        elapsed = np.cumsum(rng.exponential(240.0, size))
        joined = t[anchor] + elapsed - elapsed[anchor]
        return np.where(joined < self.closed[src], joined, t)

    def _partners(self, src: Array, t: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Mostly one of the favourites, else (the second result) some popular shop or acquaintance."""
        size = len(src)
        taste = np.cumsum(np.arange(1.0, FAVOURITES + 1) ** -1.3)
        choice = np.searchsorted(taste / taste[-1], rng.random(size), side="right")
        shop = self.num_accounts + _zipf(self.num_shops, size, rng)
        explores = rng.random(size) < 0.07
        other = np.where(rng.random(size) < 0.15, _acquaintance(src, self.num_accounts, rng), shop)
        dst = np.where(explores, other, self.favourites[src, choice])
        absent = ~self.present(dst, t)  # nobody pays those who are not there: dormant accounts stay silent
        return np.where(absent, shop, dst), explores | absent


def _zipf(count: int, size: int, rng: np.random.Generator) -> Array:
    """Numbers below `count`, the r-th with a chance ∝ 1/r."""
    mass = np.cumsum(1.0 / np.arange(1, count + 1))
    numbers: Array = np.searchsorted(mass, rng.random(size) * mass[-1], side="right")
    return numbers


def _acquaintance(account: Array, count: int, rng: np.random.Generator) -> Array:
    """Someone whose account is about as old: so acquaintances pay each other in both directions."""
    step = rng.geometric(0.25, len(account)) * rng.choice([-1, 1], len(account))
    other: Array = (account + step) % count
    return np.where(other == account, (other + 1) % count, other)
