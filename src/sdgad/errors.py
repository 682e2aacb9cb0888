"""Errors that a user can act on."""

from __future__ import annotations


class SdgadError(Exception):
    """One clear sentence that names the file, column, row or option; the command line prints it and exits with 2."""


class InputError(SdgadError, ValueError):
    """The events, labels or options that were given cannot be used."""


class NoEventsError(InputError):
    """A file or table without a single event, which a nightly job may expect."""


class UnknownName(InputError):
    """No method is registered under a name; `missing` says so of a name in a model, which is no slip of the pen."""

    missing: str

    @classmethod
    def of(cls, sentence: str, missing: str) -> UnknownName:
        error = cls(sentence)
        error.missing = missing
        return error


class AtRow(InputError):
    """A row, counted from 0, for which a whole column cannot be used."""

    place: str
    row: int
    problem: str

    @classmethod
    def of(cls, place: str, row: int, problem: str) -> AtRow:
        """`place` is a file and a column of it."""
        error = cls(f"{place}, row {row + 1}: {problem}.")
        error.place, error.row, error.problem = place, row, problem
        return error


class BadRows(InputError):
    """Rows, counted from 0, that cannot be used while the others can; `problem` is that of the first."""

    place: str
    rows: list[int]
    problem: str

    @classmethod
    def of(cls, place: str, rows: list[int], problem: str) -> BadRows:
        """`place` is a file and a column of it."""
        others = [row + 1 for row in rows[1:]]
        more = f" (and so {row_numbers(others)})" if others else ""
        error = cls(f"{place}, row {rows[0] + 1}: {problem}{more}.")
        error.place, error.rows, error.problem = place, rows, problem
        return error


class ModelFolderError(SdgadError):
    """A model folder is missing, truncated, altered, from a newer format, or holds something that it must not."""


class NotFittedError(SdgadError, RuntimeError):
    """A detector was asked for scores before `fit`."""


def row_numbers(rows: list[int], most: int = 5) -> str:
    """`row 7`, or `rows 7, 8, 9, 10, 11 and 400 more`."""
    shown = ", ".join(str(row) for row in rows[:most])
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"
