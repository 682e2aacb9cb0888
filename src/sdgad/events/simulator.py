"""A simulated stream of payments with planted, typed anomalies."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sdgad.errors import InputError
from sdgad.events.anomaly_patterns import PATTERNS, PLANTERS, Town, plant
from sdgad.events.clock import Clock
from sdgad.events.payment_habits import CHANNELS, DAY, Payments, Population
from sdgad.events.stream import EventStream, FeatureColumn

START = 1_767_571_200  # Monday, 5 January 2026, 00:00 UTC
EVENTS_PER_ACCOUNT = 40
MIN_ACCOUNTS = 10


def simulate_payments(
    num_events: int = 30_000,
    num_accounts: int | None = None,
    days: float = 30.0,
    anomaly_rate: float = 0.01,
    seed: int = 0,
) -> EventStream:
    """Payments of accounts to shops and to each other, a share `anomaly_rate` of them anomalous.

    Accounts have habits: hours and weekdays, a few favourite partners, narrow amounts. There are night owls,
    sprees, holidays and large purchases, and new accounts open all the time. `anomaly_type` names what was
    planted, evenly over the stream: card-testing, account-takeover, dormant-wakes, mule-ring or wrong-amount.
    Features are `amount` and `channel`. The same arguments give the same bytes.
    """
    accounts = max(MIN_ACCOUNTS, num_events // EVENTS_PER_ACCOUNT) if num_accounts is None else num_accounts
    if seed < 0:
        raise InputError(f"seed={seed}: a seed is not negative.")
    if num_events < 1:
        raise InputError(f"num_events={num_events}: a stream has at least one event.")
    if accounts < MIN_ACCOUNTS:
        raise InputError(f"num_accounts={accounts}: at least {MIN_ACCOUNTS} accounts are needed.")
    if not (days > 0 and np.isfinite(days)):
        raise InputError(f"days={days}: the length of the stream must be positive.")
    if not 0 <= anomaly_rate <= 0.5:
        raise InputError(f"anomaly_rate={anomaly_rate}: the share of anomalies lies between 0 and 0.5.")

    draw_people, draw_town, draw_planted = np.random.default_rng(seed).spawn(3)
    people = Population.draw(accounts, days * DAY, draw_people)
    budgets = _budgets(round(anomaly_rate * num_events))
    added = sum(budgets[name] for name in PLANTERS)
    town = Town.settle(people, num_events - added, budgets, draw_town)
    return _stream(plant(town, draw_planted), people)


def _budgets(total: int) -> dict[str, int]:
    """How many payments each pattern gets: its share of the total, rounded so that the sum is exact."""
    ends = np.rint(np.cumsum([pattern.share for pattern in PATTERNS.values()]) * total).astype(int)
    return dict(zip(PATTERNS, np.diff(ends, prepend=0).tolist(), strict=True))


def _stream(payments: Payments, people: Population) -> EventStream:
    names = pa.array(
        [f"acc-{i:05d}" for i in range(people.num_accounts)]
        + [f"shop-{i:04d}" for i in range(people.num_shops)],
        pa.large_string(),
    )
    amount = np.round(np.maximum(np.exp(payments.log_amount), 0.5), 2)
    return EventStream(
        names.take(pa.array(payments.src)),
        names.take(pa.array(payments.dst)),
        START + np.round(np.clip(payments.t, 0.0, people.span), 3),
        np.stack([amount, payments.channel], 1).astype(np.float32),
        (payments.pattern > 0).astype(np.float32),
        features=(FeatureColumn("amount"), FeatureColumn("channel", CHANNELS)),
        anomaly_type=np.array(["", *PATTERNS])[payments.pattern],
        clock=Clock("s", wall_clock=True),
    )
