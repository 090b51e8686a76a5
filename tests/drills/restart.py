#!/usr/bin/env python3
"""How fast one node is back after a fault: killed under load, on a full disk, while PostgreSQL hangs, or stopped for 30 s.

    AUDIT_SERVER_BIN=target/release/audit-server tests/drills/restart.py --database sqlite kill full-disk

Prints figures and judges nothing but lost events: times depend on the machine. Python's standard library only.
"""

import argparse
import calendar
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "deployment"))

import postgres
import processes
import service

WRITERS = 4
BATCH_EVENTS = 100
DISK_MIB = 48
# The first line that a server writes once it accepts connections.
LISTENS = "starting service"
HEADER = "| Fault | Database | Events | WAL MiB | Log: start to listening, s | CPU until listening, s | First 201 after, s | Lost |\n|---|---|---|---|---|---|---|---|"


class Load:
    """Clients that store batches until the end of a `with` block, and remember what was acknowledged."""

    def __init__(self, node, key):
        self.node = node
        self.key = key
        self.acknowledged = []
        self.first_after = None
        self.counting_from = None
        self.stopping = threading.Event()
        self.grown = threading.Condition()
        self.threads = [threading.Thread(target=self.write, daemon=True) for _ in range(WRITERS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def write(self):
        connection = service.Connection(self.node)
        while not self.stopping.is_set():
            body = json.dumps([event() for _ in range(BATCH_EVENTS)])
            try:
                status, response = connection.request("POST", "/api/v1/events", self.key, body)
            except service.Unanswered:
                time.sleep(0.01)
                continue
            if status == 201:
                with self.grown:
                    self.acknowledged += json.loads(response)["ids"]
                    if self.counting_from is not None and self.first_after is None:
                        self.first_after = time.monotonic() - self.counting_from
                    self.grown.notify_all()

    def wait_for(self, events):
        """Until so many events are acknowledged, in all."""
        with self.grown:
            if not self.grown.wait_for(lambda: len(self.acknowledged) >= events, 600):
                raise TimeoutError(f"{len(self.acknowledged)} of {events} events are acknowledged")

    def wait_for_first(self):
        with self.grown:
            if not self.grown.wait_for(lambda: self.first_after is not None, 90):
                raise TimeoutError("nothing is acknowledged after the fault")

    def count_from_now(self):
        with self.grown:
            self.counting_from = time.monotonic()


def event():
    return {
        "action": "user.updated",
        "category": "mutation",
        "tenant_id": "acme",
        "actor": {"id": f"actor-{uuid.uuid4()}", "type": "user"},
        "metadata": {"text": "lorem ipsum " * 20},
    }


class Place:
    """Where the database of one fault is."""

    def __init__(self, folder, database, is_small):
        self.folder = folder
        self.disk = os.path.join(folder, "disk")
        os.mkdir(self.disk)
        self.is_small = is_small
        if is_small:
            processes.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", self.disk])
        self.server = None
        self.url = f"sqlite:{os.path.join(self.disk, 'audit.db')}"
        if database == "postgres":
            self.server = postgres.Server(folder, "postgres")
            self.server.create()
            self.server.start()
            self.server.wait_ready()
            self.server.query(f"CREATE DATABASE {postgres.DATABASE}", "postgres")
            self.url = f"postgres://{postgres.ROLE}@127.0.0.1:{self.server.port}/{postgres.DATABASE}"

    def log_mib(self):
        path = os.path.join(self.disk, "audit.db-wal")
        return os.path.getsize(path) / 1024 / 1024 if os.path.exists(path) else 0

    def signal_database(self, number):
        """To all processes of PostgreSQL."""
        with open(os.path.join(self.server.data, "postmaster.pid"), encoding="ascii") as file:
            postmaster = int(file.readline())
        children = processes.run(["pgrep", "-P", str(postmaster)]).split()
        for process in (postmaster, *map(int, children)):
            os.kill(process, number)

    def stop(self):
        if self.server:
            self.server.stop()
        if self.is_small:
            processes.run(["umount", self.disk])


def kill(place, node, load, _options):
    """SIGKILL under load."""
    node.kill()
    return start_again(node, load)


def full_disk(place, node, load, _options):
    """The disk fills up until nothing is stored, the process is killed, and there is room again."""
    filler = os.path.join(place.disk, "filler")
    with open(filler, "wb") as file:
        try:
            while True:
                file.write(b"\0" * 65_536)
                file.flush()
        except OSError:
            pass
    node.kill()
    os.remove(filler)
    return start_again(node, load)


def hanging_database(place, node, load, _options):
    """PostgreSQL is stopped, then the node is killed, and PostgreSQL goes on."""
    place.signal_database(signal.SIGSTOP)
    node.kill()
    place.signal_database(signal.SIGCONT)
    return start_again(node, load)


def stopped(place, node, load, options):
    """SIGSTOP of the node, and SIGCONT after some seconds. It does not start again."""
    node.freeze()
    time.sleep(options.seconds)
    load.count_from_now()
    node.thaw()
    return None, None


def start_again(node, load):
    """Starts a node. What its own log says of its start, and its processor time until it listens, in seconds."""
    begin = os.path.getsize(node.log)
    load.count_from_now()
    node.start()
    after_boot, used = processes.times(node.process.pid)
    with open("/proc/uptime", encoding="ascii") as file:
        booted = time.time() - float(file.read().split()[0])
    started = booted + after_boot
    with open(node.log, encoding="utf-8") as log:
        log.seek(begin)
        lines = [json.loads(line) for line in log if line.startswith("{")]
    listening = next(line["time"] for line in lines if LISTENS in line["message"])
    return seconds_of(listening) - started, used


def seconds_of(timestamp):
    """Of a time in UTC, since the Unix epoch."""
    found = re.match(r"(\d+-\d+-\d+T\d+:\d+:\d+)(\.\d+)?Z$", timestamp)
    moment = time.strptime(found[1] + " UTC", "%Y-%m-%dT%H:%M:%S %Z")
    return calendar.timegm(moment) + float(found[2] or 0)


FAULTS = {
    "kill": (kill, ("sqlite", "postgres")),
    "full-disk": (full_disk, ("sqlite",)),
    "hanging-database": (hanging_database, ("postgres",)),
    "stopped": (stopped, ("sqlite", "postgres")),
}


def run(name, database, options):
    fault, _ = FAULTS[name]
    folder = tempfile.mkdtemp(prefix="restart-")
    os.chmod(folder, 0o711)
    place = Place(folder, database, fault is full_disk)
    node = None
    try:
        created = service.create_organization(options.server, place.url, "restart")
        settings = {"RUST_LOG": "info", "AUDIT_LOG_FORMAT": "json"}
        node = service.Node(0, options.server, place.url, folder, settings=settings)
        node.start()
        with Load(node, created["project_key"]) as load:
            load.wait_for(options.events if fault is not full_disk else 5_000)
            log_mib = place.log_mib()
            listening, used = fault(place, node, load, options)
            load.wait_for_first()
        lost = lost_of(node, created["project_key"], load.acknowledged)
        shown = [f"{value:.2f}" if value is not None else "–" for value in (listening, used, load.first_after)]
        print(f"| {name} | {database} | {len(load.acknowledged)} | {log_mib:.0f} | {' | '.join(shown)} | {lost} |", flush=True)
        return lost
    except Exception:
        print(f"{name}: {node.tail() if node and os.path.exists(node.log) else ''}")
        raise
    finally:
        if node:
            node.stop()
        place.stop()
        shutil.rmtree(folder, ignore_errors=True)


def lost_of(node, key, acknowledged):
    """How many acknowledged events the feed does not have."""
    connection = service.Connection(node)
    found, cursor = set(), ""
    while True:
        page = connection.get(f"/api/v1/events/feed?limit=200{cursor}", key)
        found.update(event["id"] for event in page["events"])
        cursor = f"&after={page['cursor']}"
        if not page["has_more"]:
            return len(set(acknowledged) - found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fault", nargs="*", help=f"{', '.join(FAULTS)}. Default: all")
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both", help="default: both")
    parser.add_argument("--events", type=int, default=50_000, help="acknowledged before the fault. Default: 50000")
    parser.add_argument("--seconds", type=float, default=30, help="for which a node is stopped. Default: 30")
    options = parser.parse_args()
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    if unknown := set(options.fault) - set(FAULTS):
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    options.server = os.path.realpath(options.server)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(HEADER)
    lost = 0
    for name in options.fault or FAULTS:
        for database in FAULTS[name][1]:
            if options.database not in (database, "both"):
                continue
            if name == "full-disk" and os.geteuid() != 0:
                print(f"{name}: SKIPPED, it needs root")
                continue
            lost += run(name, database, options)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
