"""Kills a client with a spool, and its server, again and again, and counts what the server has in the end.

    AUDIT_SERVER_BIN=… python tests/crash.py --cycles 50 --events 100000
    … --writer target/debug/examples/crash_writer      kills this program in place of the Python client
    … --database postgres://…                          an empty database in place of SQLite

Every event whose `record` returned must be stored exactly once. Of the events that were being recorded when the client was killed
nobody knows more; each may be stored once or not.
"""

import argparse
import collections
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from audit_server import AuditServer
from crash_writer import THREADS

from audit_client import Client

#: A program with the arguments of crash_writer.py.
WRITER = (sys.executable, str(Path(__file__).parent / "crash_writer.py"))


class Crash:
    """One run."""

    def __init__(self, directory: Path, seed: int, writer: Sequence[str], database: Optional[str]) -> None:
        self.server = AuditServer(directory, database).start()
        self.writer = writer
        self.spool = directory / "spool"
        self.random = random.Random(seed)
        self.recorded: List[str] = []
        self.kills_of_client = self.kills_of_server = 0

    def command(self, *arguments: str) -> List[str]:
        return [*self.writer, self.server.base_url, self.server.project_key, str(self.spool), *arguments]

    def cycle(self, number: int, events: int) -> None:
        """A client records `events` events, and is killed; the server is killed somewhere in between."""
        count = str(events // THREADS + 1)
        writer = subprocess.Popen(self.command(str(number), count), stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        server_ends_at = self.random.randrange(events) if events else 0
        if events == 0:
            # Somewhere in its start, when it reads the spool and cannot send.
            self.server.kill()
            self.kills_of_server += 1
            time.sleep(self.random.uniform(0.0, 0.3))
        else:
            writer.stdout.readline()
            for position in range(events):
                if position == server_ends_at:
                    self.server.kill()
                    self.kills_of_server += 1
                line = writer.stdout.readline()
                if line:
                    self.recorded.append(line.strip())
                # A server that comes back at once, later, or after the client's end.
                if self.server.process is None and self.random.random() < 3 / (events + 3):
                    self.server.start()
        writer.kill()
        self.kills_of_client += 1
        lines = writer.stdout.read().splitlines()
        self.recorded += [line for line in lines if line != "ready"]
        writer.stdout.close()
        writer.wait()
        if self.server.process is None:
            self.server.start()

    def drain(self) -> None:
        subprocess.run(self.command("drain"), check=True, stdout=subprocess.DEVNULL)

    def stored(self) -> Dict[str, int]:
        with Client(self.server.base_url, self.server.project_key) as audit:
            exported = audit.events.export(tenant_id="crash")
            return collections.Counter(event["metadata"]["name"] for event in exported)


def problems(recorded: List[str], stored: Dict[str, int], kills: int) -> List[str]:
    """What is wrong, in words."""
    found = []
    missing = [name for name in recorded if name not in stored]
    repeated = [name for name, count in stored.items() if count > 1]
    unknown = set(stored) - set(recorded)
    if missing:
        found.append(f"{len(missing)} recorded events are missing, such as {missing[:3]}")
    if repeated:
        found.append(f"{len(repeated)} events are stored more than once, such as {repeated[:3]}")
    if len(unknown) > kills * THREADS:
        found.append(f"{len(unknown)} events are stored that were not reported as recorded")
    return found


def run(
    directory: Path,
    cycles: int,
    events: int,
    seed: int,
    progress: Optional[str] = None,
    writer: Sequence[str] = WRITER,
    database: Optional[str] = None,
) -> List[str]:
    """The problems after `cycles` kills and about `events` events."""
    crash = Crash(directory, seed, writer, database)
    try:
        for number in range(cycles):
            # Every tenth client is killed while it starts.
            share = 0 if number % 10 == 9 else events // max(1, cycles - cycles // 10)
            crash.cycle(number, share)
            if progress:
                print(f"{number + 1}/{cycles}: {len(crash.recorded)} {progress}", flush=True)
        crash.drain()
        stored = crash.stored()
        found = problems(crash.recorded, stored, crash.kills_of_client)
        print(
            f"{len(crash.recorded)} events recorded, {len(stored)} stored, {crash.kills_of_client} kills of the client, "
            f"{crash.kills_of_server} of the server, seed {seed}: {'; '.join(found) or 'each exactly once'}"
        )
        return found
    finally:
        crash.server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--writer", metavar="PROGRAM", help="the client that is killed, in place of the Python one")
    parser.add_argument("--database", metavar="URL", help="in place of SQLite")
    arguments = parser.parse_args()
    writer = WRITER if arguments.writer is None else (str(Path(arguments.writer).resolve()),)
    counts = (arguments.cycles, arguments.events, arguments.seed)
    with tempfile.TemporaryDirectory() as directory:
        found = run(Path(directory), *counts, "events recorded", writer, arguments.database)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
