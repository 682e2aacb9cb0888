"""Errors that a user can act on."""

from __future__ import annotations


class SdgadError(Exception):
    """One clear sentence that names the file, column, row or option; the command line prints it and exits with 2."""


class InputError(SdgadError, ValueError):
    """The events, labels or options that were given cannot be used."""


class NoEventsError(InputError):
    """A file or table without a single event, which a nightly job may expect."""


class ModelFolderError(SdgadError):
    """A model folder is missing, truncated, altered, from a newer format, or holds something that it must not."""


class NotFittedError(SdgadError, RuntimeError):
    """A detector was asked for scores before `fit`."""
