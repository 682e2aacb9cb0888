"""The same protocol over several seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdgad.detectors.base import Detector
from sdgad.events.stream import EventStream
from sdgad.experiments.protocol import Protocol
from sdgad.experiments.result import Result


def run_seeds(
    protocol: Protocol,
    events: EventStream,
    make_detector: Callable[[int], Detector],
    seeds: Iterable[int] = range(5),
    *,
    epochs: int | None = None,
    progress: Callable[[Result], None] | None = None,
) -> list[Result]:
    """One result per seed: a seed is one injection, one choice of k labels and one detector, `make_detector(seed)`.

    `progress` is told each result as it comes.
    """
    results = []
    for seed in seeds:
        result = protocol.trial(events, seed).run(make_detector(seed), epochs=epochs)
        results.append(result)
        if progress is not None:
            progress(result)
    return results
