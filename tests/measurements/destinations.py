#!/usr/bin/env python3
"""What destinations cost: ingest beside one that receives everything, and a client beside many whose receivers never respond.

    tests/measurements/destinations.py --server target/release/audit-server --database sqlite --seconds 30 --rounds 5

One server, measured without and with the destinations in turn: A B A B. They are created for each B and deleted after it, so that
A stores for nobody and B begins without a lag.

1. Clients store batches as fast as the server takes them. B: one destination gets all of these events, over HTTPS. Its receiver reads each
   request and responds, with `--receiver-rate` only when so many records a second allow it.
2. The same load, then a client at a steady rate, whose requests are measured from the moment at which they were due. In A and B it has a
   destination that works. B: destinations whose receivers take the connection and never respond, half of them after they have read the
   request, half of them before the TLS handshake. Each is of an organization of its own, because organizations share the lanes. B begins
   when each of them has timed out once. Until then they may hold every lane, which is a row of its own.

Receiver, clients and server share the machine. Python's standard library and `openssl`; `--database postgres` needs PostgreSQL's programs.
"""

import argparse
import datetime
import http.server
import itertools
import json
import math
import multiprocessing
import os
import re
import shutil
import signal
import socket
import ssl
import statistics
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", name) for name in ("deployment", "attacks")]

import databases
import measure
import processes
import scene as scenes
import service
import target
import victim

BATCH = 100
SENDERS = 8
# So many different bodies, which are sent in turn.
BODIES = 200
# Of the steady client, with the rates of `victim`.
OPERATIONS = ("write", "read")
PERCENTILES = (("p50", 0.5), ("p99", 0.99))
SILENT = "/silent"
RECEIVED_AT = re.compile(rb'"received_at":"([^"]+)"')
# Waits for the next events on SQLite.
BACKLOG_EVENTS_MAX = 16_000
CATCH_UP_SECONDS_MAX = 1_800


class Handler(http.server.BaseHTTPRequestHandler):
    """Takes every request at once, and responds to none of `SILENT`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == SILENT:
            # Until the service closes the connection.
            self.rfile.read(1)
            self.close_connection = True
            return
        arrived = time.time()
        self.server.wait_for_turn(body.count(b"\n"))
        self.send_response(204)
        self.end_headers()
        # The first event of a batch has waited longest. A checkpoint may be alone.
        if found := RECEIVED_AT.search(body):
            received = datetime.datetime.fromisoformat(found[1].decode().replace("Z", "+00:00")).timestamp()
            self.server.note(f"{arrived} {arrived - received}\n")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """The handshake is made by the thread of the connection, so that no client delays another."""

    request_queue_size = 128

    def __init__(self, folder, rate):
        super().__init__((scenes.VICTIM_ADDRESS, 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "receiver.pem"), os.path.join(folder, "receiver.key"))
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.file = os.path.join(folder, "arrivals")
        self.lock = threading.Lock()
        self.rate, self.free_at = rate, 0.0

    def wait_for_turn(self, records):
        """Until a receiver that handles `rate` records a second has handled these."""
        if self.rate:
            with self.lock:
                self.free_at = max(self.free_at, time.monotonic()) + records / self.rate
                free_at = self.free_at
            time.sleep(max(0, free_at - time.monotonic()))

    def note(self, line):
        with self.lock, open(self.file, "a", encoding="ascii") as file:
            file.write(line)

    def handle_error(self, *_):
        """A connection that the service has closed."""


class Receivers:
    """One that responds, in a process of its own, and those that do not."""

    def __init__(self, folder, rate):
        server = Server(folder, rate)
        self.file = server.file
        self.address = server.server_address
        # Nobody accepts: the kernel completes connections, and nothing follows.
        self.unanswered = socket.create_server((scenes.VICTIM_ADDRESS, 0), backlog=4_096)
        self.process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
        self.process.start()
        server.socket.close()

    def url(self):
        return f"https://{self.address[0]}:{self.address[1]}/"

    def silent_url(self, number):
        address = self.unanswered.getsockname() if number % 2 else self.address
        return f"https://{address[0]}:{address[1]}{SILENT}"

    def lags(self, begin, end):
        """Seconds that the first event of each batch has waited, of the batches that arrived in between."""
        if not os.path.exists(self.file):
            return []
        with open(self.file, encoding="ascii") as file:
            arrivals = [tuple(map(float, line.split())) for line in file]
        return [lag for arrived, lag in arrivals if begin <= arrived < end]

    def stop(self):
        self.process.kill()
        self.unanswered.close()


class Destination:
    """A destination of an organization, which is deleted at the end of a `with` block."""

    def __init__(self, node, party, url):
        self.node, self.key, self.url = node, party.master_key, url

    def __enter__(self):
        body = {"name": "measured", "kind": "https", "settings": {"url": self.url, "framing": "lines"}}
        created = service.post(self.node, self.key, "/api/v1/destinations", body)
        self.path = f"/api/v1/destinations/{created['destination']['id']}"
        return self

    def __exit__(self, *_):
        service.delete(self.node, self.key, self.path)

    def shown(self):
        return service.Connection(self.node, timeout=60).get(self.path, self.key)["destination"]

    def wait_for_end(self):
        """Until it has sent every event."""
        processes.wait_until(lambda: self.shown()["lag_events"] == 0, CATCH_UP_SECONDS_MAX, "the destination has every event")


class Silent:
    """The destinations whose receivers do not respond, until the end of a `with` block. Each has an event to send."""

    def __init__(self, node, parties, receivers):
        self.node, self.parties = node, parties
        self.all = [Destination(node, party, receivers.silent_url(number)) for number, party in enumerate(parties)]

    def __enter__(self):
        for destination, party in zip(self.all, self.parties):
            destination.__enter__()
            status = service.store_event(self.node, party.project_key)
            if status != 201:
                raise RuntimeError(f"an event was not stored: {status}")
        return self

    def __exit__(self, *_):
        for destination in self.all:
            destination.__exit__()

    def wait_for_timeouts(self):
        """Until each was tried once."""
        tried = lambda: all(destination.shown()["last_error"] for destination in self.all)
        processes.wait_until(tried, CATCH_UP_SECONDS_MAX, "each receiver has timed out")

    def check(self):
        if any(destination.shown()["position"] > 0 for destination in self.all):
            raise RuntimeError("a receiver that does not respond has an event")


class Bench:
    """The server, the client that is measured, and the organizations of the silent receivers."""

    def __init__(self, options, database, folder):
        self.options = options
        if obstacle := target.create_certificates(folder):
            raise RuntimeError(f"no certificates: {obstacle}")
        url = database.url("destinations")
        parties = [target.party(service.create_organization(options.server, url, f"party {n}")) for n in range(options.silent + 1)]
        self.party, *self.silent = parties
        self.node = service.Node("destinations", options.server, url, folder, settings=target.webhook_settings(folder))
        self.node.start()
        self.scene = scenes.Scene(self.node.address, self.party, self.party, folder, [scenes.VICTIM_ADDRESS])
        self.receivers = Receivers(folder, options.receiver_rate)
        self.bodies = [
            json.dumps([scenes.event(number, tenant_id=f"tenant-{number % 500}") for number in range(first, first + BATCH)])
            for first in range(0, BODIES * BATCH, BATCH)
        ]

    def stop(self):
        self.node.stop()
        self.receivers.stop()

    def ingest(self, seconds):
        """Stores batches as fast as the server takes them. Returns events, and events per second."""
        counts, failures = [], []
        begin = time.monotonic()

        def send(number):
            connection, count = service.Connection(self.node, timeout=60), 0
            for body in itertools.cycle(self.bodies[number::SENDERS]):
                if time.monotonic() - begin >= seconds:
                    break
                status, answer = connection.request("POST", "/api/v1/events", self.party.project_key, body)
                if status != 201:
                    failures.append((status, answer[:200]))
                    break
                count += BATCH
            connection.close()
            counts.append(count)

        threads = [threading.Thread(target=send, args=(number,)) for number in range(SENDERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.monotonic() - begin
        if failures or len(counts) < SENDERS:
            raise RuntimeError(f"a batch was not stored: {failures}")
        return sum(counts), sum(counts) / taken

    def settle(self):
        """Waits for what the server does behind a load."""

        def is_indexed():
            _, text = service.Connection(self.node).request("GET", "/metrics", "")
            return float(re.search(rb"^audit_index_backlog_events (\S+)", text, re.MULTILINE)[1]) <= BACKLOG_EVENTS_MAX

        processes.wait_until(is_indexed, CATCH_UP_SECONDS_MAX, "the index has every event")

    def steady(self, seconds):
        """Latencies of the steady client in milliseconds, and the lags of its own destination."""
        with Destination(self.node, self.party, self.receivers.url()) as destination:
            begin = time.time()
            child = measure.Child(victim.run, self.scene, OPERATIONS, seconds)
            try:
                results, _ = child.receive(seconds + measure.VICTIM_SECONDS_MAX, "the client measures")
            finally:
                child.end()
            destination.wait_for_end()
            lags = self.receivers.lags(begin, time.time())
        for name, figures in results.items():
            if figures.unexpected():
                raise RuntimeError(f"{name}: {figures.unexpected()}")
        row = {f"{name}, {shown} ms": results[name].percentile(share) for name in OPERATIONS for shown, share in PERCENTILES}
        return {**row, **lag_rows(lags)}


def lag_rows(lags):
    ordered = sorted(lags)
    at = lambda share: ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan
    return {"lag of the destination, p50 s": at(0.5), "lag of the destination, longest s": at(1)}


def beside_nothing(bench):
    _, rate = bench.ingest(bench.options.seconds)
    return {"ingest, events/s": rate}


def beside_one(bench):
    """One destination that receives everything."""
    with Destination(bench.node, bench.party, bench.receivers.url()) as destination:
        begin = time.time()
        events, rate = bench.ingest(bench.options.seconds)
        shown, end = destination.shown(), time.time()
        lags = bench.receivers.lags(begin, end)
        afterwards = {} if bench.options.receiver_rate else delivered_afterwards(destination, events, shown["lag_events"])
    return {
        "ingest, events/s": rate,
        "delivered meanwhile, records/s": shown["position"] / (end - begin),
        **lag_rows(lags),
        "not delivered at the end, events": shown["lag_events"],
        "not delivered at the end, oldest s": shown["lag_seconds"] or 0,
        **afterwards,
    }


def delivered_afterwards(destination, events, lag_events):
    """The rate at which a receiver gets the rest of what was stored."""
    begin = time.time()
    destination.wait_for_end()
    caught_up = time.time() - begin
    if destination.shown()["position"] < events:
        raise RuntimeError(f"{events} events were stored: {destination.shown()}")
    return {"delivered afterwards, events/s": lag_events / caught_up if lag_events else math.nan}


def without_silent(bench):
    _, rate = bench.ingest(bench.options.seconds)
    bench.settle()
    return {"ingest, events/s": rate, **bench.steady(bench.options.seconds)}


def first_lag(bench):
    """Seconds until a destination that works has an event."""
    with Destination(bench.node, bench.party, bench.receivers.url()) as destination:
        begin = time.time()
        service.store_event(bench.node, bench.party.project_key)
        destination.wait_for_end()
        return max(bench.receivers.lags(begin, time.time()))


def with_silent(bench):
    """Destinations whose receivers never respond."""
    with Silent(bench.node, bench.silent, bench.receivers) as silent:
        first = first_lag(bench)
        silent.wait_for_timeouts()
        row = without_silent(bench)
        silent.check()
        return {**row, "lag of the destination while the others are new, s": first}


def compare(bench, title, without, with_destinations):
    """Measures in turn, and prints the medians and the median of the ratios."""
    rounds = []
    for number in range(bench.options.rounds):
        pair = []
        for name, side in (("A", without), ("B", with_destinations)):
            bench.settle()
            pair.append(side(bench))
            print(f"  round {number + 1} {name}: {'; '.join(f'{row} {shown(value)}' for row, value in pair[-1].items())}", flush=True)
        rounds.append(pair)
    print(f"\n{title}\n\n| Median of {len(rounds)} rounds of {bench.options.seconds:g} s | without (A) | with (B) | B ÷ A |\n|---|---|---|---|")
    for row in rounds[0][1]:
        befores = [before[row] for before, _ in rounds if row in before]
        afters = [after[row] for _, after in rounds]
        ratios = [after / before for before, after in zip(befores, afters) if before]
        cells = [shown(statistics.median(values)) if values else "–" for values in (befores, afters)]
        print(f"| {row} | {' | '.join(cells)} | {f'{statistics.median(ratios):.2f}' if ratios else '–'} |")
    print(flush=True)


def shown(value):
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    return f"{os.cpu_count()} × {found[1] if found else os.uname().machine}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help="one, silent. Default: both")
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--database", choices=tuple(databases.KINDS), default="sqlite", help="default: sqlite")
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement. Default: 20")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--silent", type=int, default=50, help="destinations whose receivers never respond. Default: 50")
    parser.add_argument("--receiver-rate", type=float, help="records a second that the receiver handles. Default: without limit")
    options = parser.parse_args()
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    if unknown := set(options.part) - {"one", "silent"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    options.server = os.path.realpath(options.server)
    return options


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="destinations-")
    # PostgreSQL runs as another user and must reach its directory.
    os.chmod(folder, 0o711)
    database = databases.KINDS[options.database](folder)
    bench = None
    try:
        bench = Bench(options, database, folder)
        print(f"{options.database}, {processor()}, {SENDERS} connections with batches of {BATCH}", flush=True)
        # The first events create tables of a month and fill caches.
        bench.ingest(min(5, options.seconds))
        if "one" in (options.part or ("one",)):
            compare(bench, "One destination that receives everything", beside_nothing, beside_one)
        if "silent" in (options.part or ("silent",)):
            title = f"{options.silent} destinations whose receivers never respond"
            compare(bench, title, without_silent, with_silent)
    finally:
        if bench:
            bench.stop()
        database.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
