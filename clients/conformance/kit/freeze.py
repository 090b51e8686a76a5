"""Stops a process for a while, as a platform does with a function between two invocations. Linux."""

import os
import pathlib
import signal
import time

STOP_SECONDS_MAX = 30


def freeze(pid: int, seconds: float) -> None:
    """Stops the process for this time, counted from when it has stopped, and continues it, whatever happens."""
    os.kill(pid, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + STOP_SECONDS_MAX
        while state_of(pid) != "T":
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {pid} does not stop")
            time.sleep(0.001)
        time.sleep(seconds)
    finally:
        os.kill(pid, signal.SIGCONT)


def state_of(pid: int) -> str:
    """One letter; see proc_pid_stat(5). The name of the program before it may have parentheses."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
