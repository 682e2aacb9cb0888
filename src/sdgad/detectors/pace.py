"""Pace: how far a thread that feeds a GPU runs ahead of it, and that it sleeps while it waits."""

from __future__ import annotations

from collections import deque

import torch

AHEAD = 8  # calls: a card that has so many before it does not run dry while the thread wakes up


class Pace:
    """Keeps what is sent to a GPU at most a few calls ahead of it: who sends more sleeps until one of them is done.

    Otherwise the queue of the card fills up, and a thread that waits for room in it asks all the time: a core for every fit,
    which the trees of this fit and of those beside it need.
    """

    def __init__(self) -> None:
        self._ends: deque[torch.cuda.Event] = deque()

    def wait(self) -> None:
        """Before a call: sleep while there are too many."""
        if len(self._ends) == AHEAD:
            self._ends[0].synchronize()

    def sent(self) -> None:
        """After it has gone to the current stream."""
        end = self._ends.popleft() if len(self._ends) == AHEAD else torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        end.record()
        self._ends.append(end)
