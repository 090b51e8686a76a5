"""The process that is killed: records events through a spool with several threads, and prints the name of each recorded one.

    python crash_writer.py URL KEY SPOOL PREFIX COUNT    records until it is killed, at most COUNT events of each thread
    python crash_writer.py URL KEY SPOOL drain           sends what the spool has

It prints `ready`, then a line for each event after `record` has returned.
"""

import os
import sys
import threading
from pathlib import Path

from audit_client import Client, RetryPolicy, Spool

THREADS = 4
DRAIN_SECONDS_MAX = 1800.0


def say(line: str) -> None:
    """One write, so that lines of several threads do not mix."""
    os.write(1, f"{line}\n".encode())


def record(client: Client, prefix: str, count: int) -> None:
    for number in range(count):
        name = f"{prefix}-{number}"
        client.record(
            {
                "action": "crash.tested",
                "category": "system",
                "tenant_id": "crash",
                "actor": {"id": "writer", "type": "service"},
                "metadata": {"name": name},
            }
        )
        say(name)


def main() -> int:
    url, key, spool, prefix = sys.argv[1:5]
    client = Client(url, key, spool=Spool(Path(spool)), retry=RetryPolicy(backoff_seconds=0.01, backoff_seconds_max=0.5))
    say("ready")
    if prefix == "drain":
        is_done = client.flush(DRAIN_SECONDS_MAX) and client.close()
        return 0 if is_done and client.stats().failed == 0 else 1
    writers = [threading.Thread(target=record, args=(client, f"{prefix}.{thread}", int(sys.argv[5]))) for thread in range(THREADS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    # Not closed: the end of this process is as sudden as a kill.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
