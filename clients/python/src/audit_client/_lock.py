"""A lock between processes, which ends with its process however that ends."""

import os
import sys
from pathlib import Path
from typing import Optional

if sys.platform == "win32":
    import msvcrt

    def lock(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """A lock on a file. The file stays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd: Optional[int] = None

    def acquire(self) -> bool:
        """Whether the lock is now held. Does not wait."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock(fd)
        except OSError:
            os.close(fd)
            return False
        self.fd = fd
        return True

    def release(self) -> None:
        """Closes the file, which ends the lock. In the child of a fork, the parent keeps it."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
