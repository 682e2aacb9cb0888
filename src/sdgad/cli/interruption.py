"""Ctrl-C and SIGTERM: told at once, also while compiled code runs, which no exception can end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | signal.Handlers

STOPPED_BY_SIGNAL = 128
INTERRUPTED, TERMINATED = STOPPED_BY_SIGNAL + signal.SIGINT, STOPPED_BY_SIGNAL + signal.SIGTERM
USUAL: dict[signal.Signals, Handler] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
WORDS = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Terminated"}


class Terminated(BaseException):
    """SIGTERM, on its way out of the command: open output is removed, as it is after Ctrl-C."""


def leave_at_once() -> None:
    """Until signals are watched, which takes long imports, nothing is open and nothing written: one ends the process.

    An exception would not do: Python loses those that come while it calls back from an import.
    """
    for number, usual in USUAL.items():
        if signal.getsignal(number) is usual:
            signal.signal(number, _leave)


def _leave(number: int, _: object) -> None:
    Interruptions().close(number)
    os._exit(STOPPED_BY_SIGNAL + number)


class Interruptions:
    """Signals that were told as they came."""

    def __init__(self) -> None:
        self._told: set[int] = set()
        self._lock = threading.Lock()

    def tell(self, number: int) -> None:
        """At once, and once."""
        self._say(number, "; this ends with the step that is running.")

    def close(self, number: int) -> None:
        """At the end, unless it was told."""
        self._say(number, ".")

    def _say(self, number: int, rest: str) -> None:
        with self._lock, suppress(OSError, ValueError):  # nobody may be there to be told
            if number not in self._told:
                self._told.add(number)
                print(f"{WORDS[signal.Signals(number)]}{rest}", file=sys.stderr, flush=True)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Tell of signals from a thread of its own: Python runs its handlers only between two steps of the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        ours: dict[signal.Signals, Handler] = {
            signal.SIGINT: signal.default_int_handler,
            signal.SIGTERM: _terminate,
        }
        taken = [  # who ignores one, or has a handler, has a reason
            number for number in ours if signal.getsignal(number) in (USUAL[number], _leave)
        ]
        read, write = os.pipe()
        os.set_blocking(write, False)
        earlier = signal.set_wakeup_fd(write, warn_on_full_buffer=False)

        def watch() -> None:
            while caught := os.read(read, 1):
                number = caught[0]
                if number in ours and signal.getsignal(number) is ours[signal.Signals(number)]:
                    self.tell(number)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            for number in taken:
                signal.signal(number, ours[number])
            yield
        finally:
            signal.set_wakeup_fd(earlier)
            os.close(write)
            watcher.join(1.0)
            os.close(read)
            for number in taken:
                signal.signal(number, USUAL[number])


def _terminate(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one shall not disturb the tidying up
    raise Terminated
