"""A stream in consecutive parts, to see what changes."""

from __future__ import annotations

import numpy as np

MOST, FEWEST = 20, 100


def time_bins(t: np.ndarray, most: int = MOST, fewest: int = FEWEST) -> list[slice]:
    """At most `most` parts of about equally many events, each of at least `fewest` where more than one is made.

    Events of one time stay together, so that a part can be told from the next by its time.
    """
    n = len(t)
    count = max(1, min(most, n // fewest))
    wanted = np.arange(count) * n // count
    starts = np.unique(np.searchsorted(t, t[wanted], side="left"))
    kept = [0]
    for start in starts[1:].tolist():
        if start - kept[-1] >= fewest and n - start >= fewest:
            kept.append(start)
    return [slice(a, b) for a, b in zip(kept, [*kept[1:], n], strict=True)]
