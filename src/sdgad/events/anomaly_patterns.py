"""Five kinds of fraud and error, planted among ordinary payments.

None stands out by its amount or its hour alone: it is wrong for this account, this pair, this moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sdgad.events.payment_habits import HOUR, ONLINE, TRANSFER, Array, Payments, Population

MINUTE = 60.0
_ATTEMPTS = 12  # to find strangers; a village where all know each other must do with acquaintances
_SHORTEST_SLEEP, _EARLIEST_SLEEP = 0.16, 0.08  # of dormant accounts, in shares of the stream


@dataclass(frozen=True)
class Pattern:
    """A kind of anomaly: its share of all anomalous payments, and how many of them make one incident."""

    share: float
    size: float
    warm_up: float = (
        0.06  # share of the stream that passes before the first incident, so that there are habits
    )


PATTERNS = {
    "card-testing": Pattern(share=0.22, size=5.5),
    "account-takeover": Pattern(share=0.20, size=3.5),
    "dormant-wakes": Pattern(share=0.20, size=2.5, warm_up=0.24),
    "mule-ring": Pattern(share=0.20, size=6.0),
    "wrong-amount": Pattern(share=0.18, size=1.0),
}
CODES = {name: code for code, name in enumerate(PATTERNS, start=1)}


@dataclass(frozen=True, eq=False)
class Incidents:
    """When incidents happen (as shares of the stream, increasing) and how many payments each has."""

    when: Array
    size: Array

    @classmethod
    def plan(cls, pattern: Pattern, budget: int, rng: np.random.Generator) -> Incidents:
        """Incidents with `budget` payments in all, one in each of as many equal parts of the stream.

        The first third is squeezed behind the warm-up, so that each third of the stream has a third of them.
        """
        count = min(budget, max(1, round(budget / pattern.size)))
        part = (np.arange(count) + rng.uniform(0.25, 0.75, count)) / max(count, 1)
        when = np.where(part < 1 / 3, pattern.warm_up + part * (1 - 3 * pattern.warm_up), part)
        size = np.full(count, budget // max(count, 1))
        size[rng.permutation(count)[: budget - size.sum()]] += 1
        return cls(when, size)

    def __len__(self) -> int:
        return len(self.when)

    @cached_property
    def incident(self) -> Array:
        """The incident that each payment belongs to."""
        return np.repeat(np.arange(len(self)), self.size)

    @cached_property
    def step(self) -> Array:
        """The place of each payment in its incident: 0, 1, …"""
        first: Array = np.cumsum(self.size) - self.size
        return np.arange(len(self.incident)) - first[self.incident]

    def times(self, start: Array, mean_gap: float, rng: np.random.Generator) -> Array:
        """Times of all payments: each incident from its start, with random gaps between its payments."""
        elapsed: Array = np.cumsum(mean_gap * rng.uniform(0.2, 1.8, len(self.step)))
        times: Array = start[self.incident] + elapsed - elapsed[self.step == 0][self.incident]
        return times


@dataclass(frozen=True, eq=False)
class Town:
    """The population, its ordinary payments, and the incidents that are going to happen."""

    people: Population
    payments: Payments
    incidents: dict[str, Incidents]
    sleepers: Array  # the account of each incident of "dormant-wakes"

    @classmethod
    def settle(
        cls, people: Population, num_events: int, budgets: dict[str, int], rng: np.random.Generator
    ) -> Town:
        """Plan all incidents, put the accounts to sleep that are to wake, and let everybody pay."""
        incidents = {name: Incidents.plan(pattern, budgets[name], rng) for name, pattern in PATTERNS.items()}
        wake = incidents["dormant-wakes"].when
        old = people.opened == 0
        modest = old & (people.level < 3.4)  # what is much for them is not much for others
        candidates = rng.permutation(np.flatnonzero(modest if modest.any() else old))
        sleepers = candidates[np.arange(len(wake)) % len(candidates)]
        latest = np.minimum(wake - _SHORTEST_SLEEP, 0.6 * wake)
        asleep = rng.uniform(_EARLIEST_SLEEP, np.maximum(latest, _EARLIEST_SLEEP)) * people.span
        closed, away_from, activity = people.closed.copy(), people.away_from.copy(), people.activity.copy()
        closed[sleepers] = people.span
        np.minimum.at(closed, sleepers, asleep)
        away_from[sleepers] = people.span  # they were regulars until they fell silent
        activity[sleepers] = np.maximum(activity[sleepers], 2.0)
        people = replace(people, closed=closed, away_from=away_from, activity=activity)
        return cls(people, people.pay(num_events, rng), incidents, sleepers)

    @cached_property
    def payer_count(self) -> Array:
        """Per ordinary payment: how often its payer has paid before."""
        return _occurrence(self.payments.src)

    @cached_property
    def pair(self) -> Array:
        """Per ordinary payment: payer and payee as one number."""
        return self._pair(self.payments.src, self.payments.dst)

    @cached_property
    def busy(self) -> Array:
        """Per ordinary payment: whether it falls into busy hours, where fraud can hide."""
        hour = self.payments.t / HOUR % 24
        return (hour >= 8) & (hour < 21)

    @cached_property
    def web_shops(self) -> Array:
        return self.people.num_accounts + np.flatnonzero(self.people.web)

    def rows_at(self, when: Array, eligible: Array) -> Array:
        """For each share of the stream, the next eligible ordinary payment (the last one if none follows)."""
        rows = np.flatnonzero(eligible) if eligible.any() else np.arange(len(self.payments))
        return rows[np.minimum(np.searchsorted(rows, when * len(self.payments)), len(rows) - 1)]

    def starts(self, plan: Incidents, rng: np.random.Generator) -> Array:
        """Times in busy hours at which incidents begin, moments after somebody else's payment, never together with it."""
        seen: Array = self.payments.t[self.rows_at(plan.when, self.busy)]
        aside = rng.spawn(1)[0]  # draws that move none of the others
        return seen + aside.uniform(0.2, 5, len(plan)) * MINUTE

    def strangers(
        self, src: Array, t: Array, pool: Array, rng: np.random.Generator, home: Array | None = None
    ) -> Array:
        """For each payer a node from the pool that is present then and that it never pays otherwise.

        With `home`, the stranger is a stranger to that account, too, and never pays it.
        """
        dst = rng.choice(pool, len(src))
        todo = np.arange(len(src))
        for _ in range(_ATTEMPTS):
            payee = dst[todo]
            unfit = self._acquainted(src[todo], payee) | ~self.people.present(payee, t[todo])
            if home is not None:
                unfit |= self._acquainted(payee, home[todo])
            todo = todo[unfit]
            dst[todo] = rng.choice(pool, len(todo))
        return np.where(dst == src, (dst + 1) % self.people.num_accounts, dst)

    @cached_property
    def _pairs(self) -> Array:
        return np.unique(self.pair)

    def _pair(self, src: Array, dst: Array) -> Array:
        return src * (self.people.num_accounts + self.people.num_shops) + dst

    def _acquainted(self, src: Array, dst: Array) -> Array:
        """Whether src ever pays dst in the ordinary course of things, or is dst."""
        pair = self._pair(src, dst)
        place = np.minimum(np.searchsorted(self._pairs, pair), len(self._pairs) - 1)
        return np.equal(self._pairs[place], pair) | np.equal(src, dst)


def card_testing(town: Town, plan: Incidents, rng: np.random.Generator) -> Payments:
    """A stolen card is tried out: small amounts within minutes, at web shops mostly new to the account."""
    well_off = town.people.level[town.payments.src] > 3.0  # for whom a small amount is unusual
    victim = town.rows_at(plan.when, town.busy & well_off & (town.payer_count >= 8))
    src = town.payments.src[victim][plan.incident]
    start = town.payments.t[victim] + rng.uniform(2, 90, len(plan)) * MINUTE
    t = plan.times(start, 30.0, rng)
    new = rng.random(len(src)) < 0.85
    dst = np.where(new, town.strangers(src, t, town.web_shops, rng), rng.choice(town.web_shops, len(src)))
    amount = rng.normal(np.log(2.2), 0.4, len(src))
    return Payments(src, dst, t, amount, np.full(len(src), ONLINE), _mark("card-testing", len(src)))


def account_takeover(town: Town, plan: Incidents, rng: np.random.Generator) -> Payments:
    """Someone else pays new recipients from an established account, more than usual, at its quiet hours."""
    victim = town.rows_at(plan.when, town.payer_count >= 12)
    account, seen = town.payments.src[victim], town.payments.t[victim]
    quiet = (town.people.peak[account] + 12 + rng.normal(0, 1.5, len(plan))) * HOUR
    start = seen + (quiet - seen + 12 * HOUR) % (24 * HOUR) - 12 * HOUR  # the nearest such hour
    t = plan.times(start, 8 * MINUTE, rng)
    src = account[plan.incident]
    dst = town.strangers(src, t, town.payments.src, rng)
    amount = town.people.level[src] + rng.uniform(np.log(2.5), np.log(6), len(src))
    return Payments(src, dst, t, amount, np.full(len(src), TRANSFER), _mark("account-takeover", len(src)))


def dormant_wakes(town: Town, plan: Incidents, rng: np.random.Generator) -> Payments:
    """An account that was silent for long makes a few payments to one partner that it never had."""
    start = town.starts(plan, rng)
    accounts = np.arange(town.people.num_accounts)
    shops = town.people.num_accounts + np.arange(town.people.num_shops)
    person, shop = (town.strangers(town.sleepers, start, pool, rng) for pool in (accounts, shops))
    partner = np.where(rng.random(len(plan)) < 0.9, person, shop)
    src, dst = town.sleepers[plan.incident], partner[plan.incident]
    t = plan.times(start, 12 * MINUTE, rng)
    much = rng.uniform(np.log(8), np.log(15), len(plan))
    amount = town.people.level[src] + much[plan.incident]
    return Payments(src, dst, t, amount, town.people.channel(dst, rng), _mark("dormant-wakes", len(src)))


def mule_ring(town: Town, plan: Incidents, rng: np.random.Generator) -> Payments:
    """Money goes around a ring of accounts that do not know each other, each passing it on within minutes."""
    start = town.starts(plan, rng)
    t = plan.times(start, 5 * MINUTE, rng)
    active = town.payments.src
    first = town.strangers(np.full(len(plan), -1), start, active, rng)  # to nobody: whoever is present
    src, dst = np.empty(len(t), np.int64), np.empty(len(t), np.int64)
    carrier = first.copy()
    for step in range(int(plan.size.max(initial=0))):
        now = np.flatnonzero(plan.step == step)
        ring = plan.incident[now]
        src[now] = carrier[ring]
        dst[now] = town.strangers(src[now], t[now], active, rng, home=first[ring])
        closes = (step == plan.size[ring] - 1) & (src[now] != first[ring])
        dst[now[closes]] = first[ring[closes]]
        carrier[ring] = dst[now]
    stake = rng.normal(np.log(150.0), 0.7, len(plan))
    amount = stake[plan.incident] - 0.03 * plan.step + rng.normal(0, 0.01, len(t))  # each keeps a little
    return Payments(src, dst, t, amount, np.full(len(t), TRANSFER), _mark("mule-ring", len(src)))


PLANTERS: dict[str, Callable[[Town, Incidents, np.random.Generator], Payments]] = {
    "card-testing": card_testing,
    "account-takeover": account_takeover,
    "dormant-wakes": dormant_wakes,
    "mule-ring": mule_ring,
}  # a wrong amount is no further payment: it spoils one that there is


def with_wrong_amounts(town: Town, plan: Incidents, rng: np.random.Generator) -> Payments:
    """The ordinary payments, some of known pairs with 20 to 100 times the usual amount, or that much less: a
    decimal point or two in the wrong place.

    Cheap habits go up and dear ones down, so that the amount itself remains one that others pay every day.
    """
    payments = town.payments
    known = _occurrence(town.pair) >= 6
    cheap = payments.log_amount < np.median(town.people.level)
    up = rng.random(len(plan)) < 0.75
    row = np.where(up, town.rows_at(plan.when, known & cheap), town.rows_at(plan.when, known & ~cheap))
    factor = rng.uniform(np.log(20), np.log(100), len(plan)) * np.where(up, 1, -1)
    amount, pattern = payments.log_amount.copy(), payments.pattern.copy()
    amount[row] = town.people.habit(payments.src[row], payments.dst[row]) + factor
    pattern[row] = CODES["wrong-amount"]
    return replace(payments, log_amount=amount, pattern=pattern)


def plant(town: Town, rng: np.random.Generator) -> Payments:
    """The town's ordinary payments and all anomalous ones, in order of time."""
    spoilt = with_wrong_amounts(town, town.incidents["wrong-amount"], rng)
    return Payments.join([spoilt, *(run(town, town.incidents[name], rng) for name, run in PLANTERS.items())])


def _occurrence(key: Array) -> Array:
    """How many earlier entries are equal to each entry."""
    order = np.argsort(key, kind="stable")
    place = np.arange(len(key))
    same = np.zeros(len(key), bool)
    same[1:] = key[order][1:] == key[order][:-1]
    before = np.empty(len(key), np.int64)
    before[order] = place - np.maximum.accumulate(np.where(same, 0, place))
    return before


def _mark(name: str, size: int) -> Array:
    return np.full(size, CODES[name], np.int8)
