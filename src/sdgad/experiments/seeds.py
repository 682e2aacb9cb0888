"""The same protocol over several seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

from sdgad.detectors.base import Detector
from sdgad.errors import InputError
from sdgad.events.stream import EventStream
from sdgad.experiments.protocol import Protocol
from sdgad.experiments.result import Result
from sdgad.threads import beside_others, short_turns


def run_seeds(
    protocol: Protocol,
    events: EventStream,
    make_detector: Callable[[int], Detector],
    seeds: Iterable[int] = range(5),
    *,
    epochs: int | None = None,
    together: int = 1,
    progress: Callable[[Result], None] | None = None,
) -> list[Result]:
    """One result per seed: a seed is one injection, one choice of k labels and one detector, `make_detector(seed)`.

    `progress` is told each result, in the order of the seeds. As many seeds as `together` says are fitted at the same time, each
    in a thread and a stream of work of its own: a GPU that one fit leaves idle most of the time does five in little more. Results
    are those of one after the other; their seconds are longer. Ctrl-C then waits for the fits that are under way.
    """
    if together < 1:
        raise InputError(f"together={together} must be at least 1.")

    def run(seed: int) -> Result:
        with beside_others(together):
            return protocol.trial(events, seed).run(make_detector(seed), epochs=epochs)

    results = []
    with short_turns() if together > 1 else nullcontext(), ThreadPoolExecutor(together) as threads:
        try:
            for result in threads.map(run, seeds) if together > 1 else map(run, seeds):
                results.append(result)
                if progress is not None:
                    progress(result)
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    return results
