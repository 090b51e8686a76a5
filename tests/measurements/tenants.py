#!/usr/bin/env python3
"""What many tenants in one project cost: one server whose events are of one tenant and one whose events are of many, in turns.

    tests/measurements/tenants.py --server target/release/audit-server --database sqlite --tenants 100000

Each round sends the same number of events to both servers: first while no map of tenants is asked for, then while a client asks for
the completeness of one tenant after the other. Python's standard library only; `--database postgres` needs PostgreSQL's programs.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "deployment"))

import databases
import processes
import service

BATCH = 100
SENDERS = 4
RETRY_SECONDS_MAX = 120


class Side:
    """A server, and the number of tenants of its events."""

    def __init__(self, options, database, folder, name, tenants):
        self.tenants = tenants
        url = database.url(name)
        self.key = service.create_organization(options.server, url, name)["project_key"]
        self.node = service.Node(name, options.server, url, folder)
        self.node.start()
        self.sent = 0
        self.lock = threading.Lock()

    def processor_seconds(self):
        return processes.times(self.node.process.pid)[1]

    def memory_mib(self):
        """Peak resident memory."""
        return processes.memory_mib(self.node.process.pid)[1]

    def body(self):
        """The next batch. Its tenants are all different, and are those of no batch before until all had an event."""
        with self.lock:
            first, self.sent = self.sent, self.sent + BATCH
        # A prime, so that neighbours in the log are not neighbours in the order of names.
        tenants = [(first + number) * 7_919 % self.tenants for number in range(BATCH)]
        return json.dumps([event(tenant, first + number) for number, tenant in enumerate(tenants)])

    def load(self, events):
        """Events per second, and microseconds of the server's processor time per event."""
        bodies = [[self.body() for _ in range(events // BATCH // SENDERS)] for _ in range(SENDERS)]
        failures = []

        def send(batches):
            connection = service.Connection(self.node, timeout=60)
            for body in batches:
                status, answer = connection.request("POST", "/api/v1/events", self.key, body)
                if status != 201:
                    failures.append((status, answer[:200]))
            connection.close()

        threads = [threading.Thread(target=send, args=(batches,)) for batches in bodies]
        processor, begin = self.processor_seconds(), time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, processor = time.monotonic() - begin, self.processor_seconds() - processor
        if failures:
            raise RuntimeError(f"{len(failures)} batches were not stored: {failures[0]}")
        count = sum(map(len, bodies)) * BATCH
        return count / seconds, processor / count * 1_000_000


class Completeness(threading.Thread):
    """Asks for the completeness of one tenant after the other, one request in `pause` seconds, until it is stopped."""

    def __init__(self, side, pause):
        super().__init__()
        self.side, self.pause = side, pause
        self.ended = threading.Event()
        self.latencies, self.sizes, self.unavailable = [], [], 0
        self.failure = None

    def run(self):
        connection = service.Connection(self.side.node, timeout=RETRY_SECONDS_MAX)
        tenant = 0
        while not self.ended.wait(self.pause):
            tenant = (tenant + 104_729) % min(self.side.tenants, self.side.sent)
            begin = time.monotonic()
            try:
                status, body = completeness(connection, self.side.key, tenant)
            except service.Unanswered as error:
                self.failure = str(error)
                return
            if status == 200:
                self.latencies.append(time.monotonic() - begin)
                self.sizes.append(len(body))
            elif status == 503:
                self.unavailable += 1
            else:
                self.failure = f"{status}: {body[:200]}"
                return

    def stop(self):
        self.ended.set()
        self.join()
        if self.failure:
            raise RuntimeError(f"GET /log/completeness: {self.failure}")

    def row(self):
        latencies = [1_000 * seconds for seconds in self.latencies] or [float("nan")]
        return (
            f"{len(self.latencies)} answers, {self.unavailable} times 503; p50 {statistics.median(latencies):.0f} ms, "
            f"longest {max(latencies):.0f} ms; {max(self.sizes, default=0)} bytes"
        )


def completeness(connection, key, tenant):
    return connection.request("GET", f"/api/v1/log/completeness?tenant_id=tenant-{tenant}", key)


def event(tenant, number):
    return {
        "actor": {"id": f"user-{number % 1_000}", "type": "user"},
        "action": "document.opened",
        "category": "access",
        "tenant_id": f"tenant-{tenant}",
        "target": {"id": f"document-{number}", "type": "document"},
        "metadata": {"number": number, "text": "x" * 200},
        "idempotency_key": f"key-{number}",
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--database", choices=tuple(databases.KINDS), default="sqlite", help="default: sqlite")
    parser.add_argument("--tenants", type=int, default=100_000, help="default: 100000")
    parser.add_argument("--events", type=int, default=20_000, help="of each round and server. Default: 20000")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    options = parser.parse_args()
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    options.server = os.path.realpath(options.server)
    return options


def rounds(options, sides, title, asks):
    ratios = []
    for turn in range(options.rounds):
        figures = {}
        for side in sides if turn % 2 == 0 else reversed(sides):
            client = Completeness(side, 0.5) if asks else None
            if client:
                client.start()
            figures[side.node.number] = side.load(options.events)
            if client:
                client.stop()
                print(f"  {side.node.number}: completeness beside it: {client.row()}")
        one, many = (figures[side.node.number] for side in sides)
        ratios.append((many[0] / one[0], many[1] / one[1]))
        print(
            f"  {title}, round {turn + 1}: one tenant {one[0]:.0f} events/s, {one[1]:.1f} µs per event; "
            f"many {many[0]:.0f} events/s, {many[1]:.1f} µs",
            flush=True,
        )
    rate, processor = (statistics.median(values) for values in zip(*ratios))
    print(f"{title}: many tenants have {rate:.2f} of the events/s and {processor:.2f} of the processor time", flush=True)


def first_map(side):
    """Seconds until the map of all events is there, and the number of requests."""
    begin, requests = time.monotonic(), 0
    connection = service.Connection(side.node, timeout=RETRY_SECONDS_MAX)
    while True:
        requests += 1
        status, body = completeness(connection, side.key, tenant=0)
        if status == 200:
            return time.monotonic() - begin, requests
        if status != 503 or time.monotonic() - begin > RETRY_SECONDS_MAX:
            raise RuntimeError(f"GET /log/completeness: {status} {body[:200]}")
        time.sleep(0.2)


def quiet(side):
    """Requests while nothing is stored."""
    client = Completeness(side, 0.01)
    client.start()
    time.sleep(3)
    client.stop()
    return client.row()


def main():
    options = arguments()
    folder = tempfile.mkdtemp(prefix="tenants-")
    os.chmod(folder, 0o755)
    database = databases.KINDS[options.database](folder)
    sides = []
    try:
        for name, tenants in (("one", 1), ("many", options.tenants)):
            sides.append(Side(options, database, folder, name, tenants))
        for side in sides:
            side.load(options.tenants)
            print(f"{side.node.number}: {side.sent} events of {side.tenants} tenants, {side.memory_mib():.0f} MiB", flush=True)
        rounds(options, sides, "no map", asks=False)
        for side in sides:
            seconds, requests = first_map(side)
            print(f"{side.node.number}: the first map of {side.sent} events takes {seconds:.1f} s, {requests} requests")
            print(f"{side.node.number}: completeness, nothing stored meanwhile: {quiet(side)}", flush=True)
        rounds(options, sides, "with the map", asks=True)
        for side in sides:
            print(f"{side.node.number}: {side.sent} events, memory at its highest {side.memory_mib():.0f} MiB")
    finally:
        for side in sides:
            side.node.stop()
        database.stop()
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
