"""Two names swap what they stand for, in one step that no reader and no crash can fall into the middle of."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

EXCHANGE = 2  # RENAME_EXCHANGE of Linux (renameat2), RENAME_SWAP of macOS (renamex_np)
HERE = -100  # AT_FDCWD of Linux
CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def swapped(one: Path, other: Path) -> bool:
    """Swap two folders; False, and nothing is done, where system or file system have no such step."""
    if sys.platform not in {"linux", "darwin"}:
        return False
    library = ctypes.CDLL(None, use_errno=True)
    paths = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(HERE, paths[0], HERE, paths[1], EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(*paths, EXCHANGE)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(other))
