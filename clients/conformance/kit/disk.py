"""A small disk for a spool that fills it: a file system in memory. Linux, with the right to mount."""

import os
import subprocess
import sys
import tempfile


class Disk:
    def __init__(self, bytes_max: int) -> None:
        self.path = tempfile.mkdtemp(prefix="audit-disk-")
        try:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={bytes_max}", "tmpfs", self.path], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            os.rmdir(self.path)
            raise

    def close(self) -> None:
        """The client may still have files open."""
        subprocess.run(["umount", "--lazy", self.path], check=True)
        os.rmdir(self.path)


def is_offered() -> bool:
    """Whether this machine lets the kit make a disk."""
    if sys.platform != "linux":
        return False
    try:
        Disk(65_536).close()
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
