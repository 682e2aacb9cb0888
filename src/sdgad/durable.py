"""What was written is on the disk itself, or it is said that it is not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from sdgad.errors import InputError

_NO_DISK = (errno.EINVAL, errno.ENOTSUP)  # pipes, terminals, and file systems that promise nothing


def to_disk(descriptor: int, name: object) -> None:
    """Wait until all that was written to a file is on its disk; errors call it `name`.

    A disk that fails here may forget what it had taken before, so nobody may try again and believe the second answer.
    """
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno in _NO_DISK:
            return
        raise InputError(f"{name} did not reach the disk: {problem.strerror or problem}.") from problem


def folder_to_disk(folder: Path) -> None:
    """The same for the names in a folder: a file that was renamed has its new name after a power cut, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        to_disk(descriptor, folder)
    finally:
        os.close(descriptor)
