"""Times of a few rows that mean the same however they are read.

A handful of numbers from everywhere may hold one that looks like today beside one that no clock of today holds: a file of
such rows is refused, as it should be. So these are all far from any calendar, or all of one.
"""

from __future__ import annotations

from hypothesis import strategies as st

BEFORE_ALL = 30_000  # days of spreadsheets and written dates begin above
INTEGERS = st.integers(-(2**61), BEFORE_ALL)
FLOATS = st.floats(-(2.0**62), BEFORE_ALL)
SECONDS = st.integers(1_700_000_000, 1_800_000_000)
NANOSECONDS = st.integers(17 * 10**17, 18 * 10**17)
