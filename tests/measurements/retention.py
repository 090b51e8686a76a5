#!/usr/bin/env python3
"""What the removal of most of a year costs: a log with a year of events, and a policy that keeps the last months.

    tests/measurements/retention.py --server target/release/audit-server --database sqlite --events 10000000

Each month of the year is stored by a server whose clock shows that month (libfaketime). Then a server of the next year gets the policy.
Clients store and query events all the time, for as long before the removal as during it. Then `log audit` and `log verify` check what is left,
and, with `--verifiers`, tests/log_sumdb (Go) and tests/log_pymerkle.py. Python's standard library only; `--database postgres` needs PostgreSQL's
programs, and `--verifiers` Go with golang.org/x/mod and a Python with pymerkle and rfc8785.
"""

import argparse
import datetime
import glob
import json
import os
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
TENANTS = 500
QUERIES_PER_SECOND = 20
CALM_SECONDS = 60
# Proofs that a verifier fetches. It hashes every event and every record of a removed one.
PROOFS = 2_000
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def clock(moment):
    """Settings of a server whose clock goes on from this time."""
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")[0]
    return {"LD_PRELOAD": library, "FAKETIME": f"@{moment}", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1", "TZ": "UTC"}


def event(number):
    return {
        "actor": {"id": f"user-{number % 5_000}", "type": "user", "name": f"User {number % 5_000}"},
        "action": f"document.{('opened', 'edited', 'shared')[number % 3]}",
        "category": "access",
        "tenant_id": f"tenant-{number % TENANTS}",
        "target": {"id": f"document-{number % 100_000}", "type": "document"},
        "context": {"ip_address": f"192.0.2.{number % 250}"},
        "metadata": {"number": number, "reason": "quarterly review of the contract"},
    }


def body(first, size):
    return json.dumps([event(number) for number in range(first, first + size)])


def store(node, key, bodies, count):
    """Stores `count` batches, with some clients."""
    numbers, lock, failures = iter(range(count)), threading.Lock(), []

    def send():
        connection = service.Connection(node, timeout=60)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            status, answer = connection.request("POST", "/api/v1/events", key, bodies[number % len(bodies)])
            if status != 201:
                failures.append((status, answer[:200]))
                return

    threads = [threading.Thread(target=send) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(f"a batch was not stored: {failures[0]}")


class Repeated(threading.Thread):
    """Sends a request `rate` times a second until it is stopped, and keeps when each began and how long it took."""

    def __init__(self, node, key, rate, request):
        super().__init__(daemon=True)
        self.node, self.key, self.rate, self.request = node, key, rate, request
        self.ended, self.times, self.failures = threading.Event(), [], 0

    def run(self):
        connection, number = service.Connection(self.node, timeout=60), 0
        next_time = time.monotonic()
        while not self.ended.wait(max(0.0, next_time - time.monotonic())):
            next_time, number = next_time + 1 / self.rate, number + 1
            begin = time.monotonic()
            status, _ = connection.request(*self.request(number)[:2], self.key, self.request(number)[2])
            self.failures += status not in (200, 201)
            self.times.append((begin, time.monotonic() - begin))

    def percentiles(self, begin, end):
        taken = sorted(seconds for moment, seconds in self.times if begin <= moment < end)
        at = lambda share: 1_000 * taken[min(len(taken) - 1, int(share * len(taken)))]
        return f"{len(taken)} requests, p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, longest {1_000 * taken[-1]:.0f} ms"


def used_mib(path):
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if not name.endswith(".log")]
    return sum(os.stat(file).st_blocks * 512 for file in files if os.path.exists(file)) / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--database", choices=databases.KINDS, default="sqlite")
    parser.add_argument("--events", type=int, default=1_200_000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--verifiers", metavar="PYTHON", help="interpreter with the packages of the Python verifier; runs both verifiers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.chmod(folder, 0o755)
        database = databases.KINDS[options.database](folder)
        try:
            measure(options, database, folder)
        finally:
            database.stop()


def measure(options, database, folder):
    url = database.url("year")
    organization = service.create_organization(options.server, url, "year")
    key, master, project = (organization[name] for name in ("project_key", "master_key", "project_id"))
    bodies = [body(first * BATCH, BATCH) for first in range(1_000)]
    batches = options.events // BATCH // 12
    settings = {"AUDIT_REMOVAL_GRACE": "1h", "AUDIT_IDEMPOTENCY_WINDOW_MONTHS": "1"}
    node = service.Node("year", options.server, url, folder, settings=settings)
    begin = time.monotonic()
    for month in range(1, 13):
        node.settings = {**settings, **clock(f"2025-{month:02}-15 12:00:00")}
        node.start()
        store(node, key, bodies, batches)
        node.end()
    print(f"{12 * batches * BATCH} events of twelve months stored in {time.monotonic() - begin:.0f} s")

    retention = f"/api/v1/retention?project_id={project}&environment=live"
    node.settings = {**settings, **clock("2025-12-28 12:00:00")}
    node.start()
    connection = service.Connection(node, timeout=60)
    status, answer = connection.request("PUT", retention, master, json.dumps({"days": 31}))
    if status != 200:
        raise RuntimeError(f"PUT /retention: {status} {answer[:300]}")
    begin = time.monotonic()
    plan = processes.wait_until(lambda: connection.get(retention, master)["plan"], 1_800, "a plan")
    print(f"plan of {plan['events']} events after {time.monotonic() - begin:.0f} s")
    node.end()
    before = used_mib(folder)

    grace_ends = datetime.datetime.fromisoformat(plan["not_before"])
    calm_begins = grace_ends - datetime.timedelta(seconds=CALM_SECONDS)
    node.settings = {**settings, **clock(f"{calm_begins:%Y-%m-%d %H:%M:%S}")}
    node.start()
    small = [body(number * 100, 100) for number in range(100)]
    load = [
        Repeated(node, key, 10, lambda number: ("POST", "/api/v1/events", small[number % len(small)])),
        Repeated(node, key, QUERIES_PER_SECOND, lambda number: ("GET", f"/api/v1/events?tenant_id=tenant-{number % TENANTS}&limit=50", None)),
    ]
    calm = time.monotonic()
    for client in load:
        client.start()
    removal = lambda: next(iter(connection.get(retention, master)["removals"]), None)
    removing = processes.wait_until(removal, 600, "the removal") and time.monotonic()
    processes.wait_until(lambda: removal()["state"] == "done", 7_200, "the end of the removal")
    done = time.monotonic()
    for client in load:
        client.ended.set()
        client.join()
    print(f"removal of {removal()['events']} events in {done - removing:.0f} s, beside 1,000 events/s and {QUERIES_PER_SECOND} queries/s")
    for name, client in zip(("ingest", "queries"), load):
        print(f"{name} before: {client.percentiles(calm, removing)}; during: {client.percentiles(removing, done)}; {client.failures} failures")
    address = f"http://{node.address[0]}:{node.address[1]}"
    checks = [[options.server, "log", "audit", "--url", address, "--key", key, "--state", os.path.join(folder, "auditor")]]
    if options.verifiers:
        checks.append([go_verifier(folder), address, key, str(PROOFS)])
        checks.append([options.verifiers, os.path.join(TESTS, "log_pymerkle.py"), "server", address, key, str(PROOFS)])
    for command in checks:
        timed(command)
    node.end()
    print(f"disk: {before:.0f} MiB before, {used_mib(folder):.0f} MiB after")
    timed([options.server, "log", "verify"], environment={**service.environment(url), "AUDIT_STATE_DIR": node.state})


def go_verifier(folder):
    """Builds tests/log_sumdb with Debian's packages of its libraries."""
    program = os.path.join(folder, "log_sumdb")
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "", "GOCACHE": os.path.join(folder, "go")}
    processes.run(["go", "build", "-o", program, os.path.join(TESTS, "log_sumdb", "main.go")], environment=environment)
    return program


def timed(command, environment=None):
    """Runs a command to its end, and prints the last line that it prints."""
    begin = time.monotonic()
    said = processes.run(command, environment=environment).strip().splitlines()[-1]
    print(f"{os.path.basename(command[0])} {os.path.basename(command[1])}, {time.monotonic() - begin:.0f} s: {said}", flush=True)


if __name__ == "__main__":
    main()
