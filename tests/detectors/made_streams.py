"""Streams made so that one thing alone tells the anomalies: an event just beyond the window, or the second hop."""

from __future__ import annotations

import numpy as np

from sdgad.events.stream import EventStream, FeatureColumn

MARK = FeatureColumn("mark")


def third_last(
    users: int = 220, rounds: int = 40, items: int = 40, share: float = 0.25, seed: int = 0
) -> EventStream:
    """Every round each user acts once, in random order, with a random item; an event is anomalous if the user's third
    last one was marked.

    The two last events of the user, those of the item, counts and times say nothing: a window of L = 2 cannot tell.
    """
    rng = np.random.default_rng(seed)
    user = np.concatenate([rng.permutation(users) for _ in range(rounds)])
    mark = rng.random(len(user)) < share
    by_user = np.argsort(user, kind="stable").reshape(users, rounds)
    label = np.zeros(len(user))
    label[by_user[:, 3:]] = mark[by_user[:, :-3]]
    return EventStream(
        [f"user {i}" for i in user],
        [f"item {i}" for i in rng.integers(0, items, len(user))],
        np.arange(len(user), dtype=float),
        mark[:, None].astype(np.float32),
        label,
        features=(MARK,),
        bipartite=True,
    )


def second_hop(events: int = 9000, nodes: int = 400, share: float = 0.25, seed: int = 0) -> EventStream:
    """Random pairs meet; an event is anomalous if the source's last partner had been marked in its event before that meeting.

    What tells lies in the history of the source's neighbour: the marks of the source's own events and of the destination's say
    nothing, nor do counts and times, and any event is as likely as any other.
    """
    rng = np.random.default_rng(seed)
    pair = np.array([rng.choice(nodes, 2, replace=False) for _ in range(events)])
    mark = rng.random(events) < share
    label = np.zeros(events)
    last = np.full(nodes, -1)  # event of each node
    before = np.full((events, 2), -1)  # the event before, of either end
    for event, (source, target) in enumerate(pair.tolist()):
        meeting = last[source]
        if meeting >= 0:
            end = 1 if pair[meeting, 0] == source else 0  # which end the partner was
            earlier = before[meeting, end]
            label[event] = earlier >= 0 and mark[earlier]
        before[event] = last[[source, target]]
        last[[source, target]] = event
    return EventStream(
        [f"n{i}" for i in pair[:, 0]],
        [f"n{i}" for i in pair[:, 1]],
        np.cumsum(rng.exponential(10.0, events)),
        mark[:, None].astype(np.float32),
        label,
        features=(MARK,),
    )
