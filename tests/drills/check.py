"""What must hold after every cycle, checked over HTTP, in the rows of the database, and with `log verify`."""

import json
import subprocess
import time
import urllib.parse
from functools import partial

from service import Connection, environment

PAGE_EVENTS = 200
# Nodes look for logs that a dead node left unsigned once a minute.
CATCH_UP_SECONDS_MAX = 120
# What `log verify` may find where a database has lost commits: logs that go on and are not signed, and projects that the directory or the
# cell has lost.
LOST = {
    "they were received and not signed in time",
    "the list of projects has the project, and its cell does not have the log",
    "the cell has the log, and the list of projects does not have the project there",
}


class Feed:
    """What was read of the feed of one project."""

    def __init__(self):
        self.cursor = None
        # Idempotency key -> id.
        self.events = {}
        self.twice = 0
        self.ids = set()

    def read(self, connection, key):
        """Reads from the cursor to the end."""
        while True:
            after = f"&after={self.cursor}" if self.cursor else ""
            page = connection.get(f"/api/v1/events/feed?limit={PAGE_EVENTS}{after}", key)
            for event in page["events"]:
                name, identifier = event["idempotency_key"], event["id"]
                self.twice += name in self.events or identifier in self.ids
                self.events[name] = identifier
                self.ids.add(identifier)
            self.cursor = page["cursor"]
            if not page["has_more"]:
                return


class Checker:
    """Compares what is stored with what was acknowledged."""

    def __init__(self, record, project_keys, binary):
        self.record = record
        self.project_keys = project_keys
        self.binary = binary
        self.feeds = [Feed() for _ in project_keys]
        self.checked = [set() for _ in project_keys]

    def check(self, node, drill, everything):
        """The counts of a cycle. `everything` reads the feeds from their beginning, queries every actor again and verifies the logs."""
        if everything:
            self.feeds = [Feed() for _ in self.project_keys]
            self.checked = [set() for _ in self.project_keys]
        counts = dict.fromkeys(("lost", "twice", "changed", "unknown", "not_found", "unindexed", "unsigned"), 0)
        connection = Connection(node, timeout=60)
        for project, key in enumerate(self.project_keys):
            self.feeds[project].read(connection, key)
            self.compare(project, counts)
            counts["not_found"] += self.missing_in_queries(connection, project)
        counts["unindexed"] = wait_for_zero(drill.unindexed)
        counts["unsigned"] = wait_for_zero(partial(self.unsigned, drill.url()) if everything else drill.unsigned)
        if counts["lost"] and not any(has_findings(verify(self.binary, drill.url(), other.state)) for other in drill.nodes):
            raise RuntimeError(f"{counts['lost']} events were lost, and log verify finds nothing on any node")
        counts["changed"] += len(self.record.problems)
        return counts

    def compare(self, project, counts):
        feed, acknowledged = self.feeds[project], self.record.acknowledged[project]
        counts["twice"] += feed.twice
        lost = [key for key in acknowledged if key not in feed.events]
        counts["lost"] += len(lost)
        if self.record.loses:
            for key in lost:
                # It counts once.
                del acknowledged[key]
        for key, identifier in acknowledged.items():
            counts["changed"] += feed.events.get(key, identifier) != identifier
        # Stored and never acknowledged is allowed, stored and never sent is not.
        counts["unknown"] += sum(key not in self.record.sent[project] for key in feed.events)

    def missing_in_queries(self, connection, project):
        """Events of the feed that a query for their actor does not show, or shows twice."""
        by_actor = {}
        for key in self.feeds[project].events:
            actor = self.record.sent[project].get(key)
            by_actor.setdefault(actor, set()).add(key)
        missing = 0
        for actor, keys in by_actor.items():
            state = (actor, len(keys))
            if actor is None or state in self.checked[project]:
                continue
            query = urllib.parse.urlencode({"actor_id": actor, "limit": PAGE_EVENTS})
            page = connection.get(f"/api/v1/events?{query}", self.project_keys[project])
            found = [event["idempotency_key"] for event in page["events"]]
            missing += len(keys.symmetric_difference(found)) + len(found) - len(set(found))
            self.checked[project].add(state)
        return missing

    def unsigned(self, url):
        """Events beyond the signed size of their log. Reads each log whole, and raises if one is inconsistent.

        After a failover that lost signed events, a node signs nothing that contradicts what it has signed: those logs need
        `log new-name`. That later events are not signed is then no fault.
        """
        ledgers = verify(self.binary, url)
        found = {finding["problem"] for ledger in ledgers for finding in ledger["findings"]}
        if self.record.loses and found <= LOST:
            return 0
        if found:
            raise RuntimeError(f"log verify: {found}: {ledgers}")
        return sum(ledger["events"] - (ledger["signed"] or 0) for ledger in ledgers)


def verify(binary, url, state=None):
    """The logs of the report of `log verify`, with what the node remembers that has its state in this directory."""
    settings = {"AUDIT_STATE_DIR": state} if state else {}
    command = [binary, "log", "verify", "--json"]
    finished = subprocess.run(
        command, env={**environment(url), **settings}, capture_output=True, text=True, check=False
    )
    if finished.returncode not in (0, 1):
        raise RuntimeError(f"log verify: exit code {finished.returncode}: {finished.stderr}")
    return json.loads(finished.stdout)["ledgers"]


def has_findings(ledgers):
    return any(ledger["findings"] for ledger in ledgers)


def wait_for_zero(count):
    """The count once it is zero, or as it is after some time: work behind the commits may take a while."""
    deadline = time.monotonic() + CATCH_UP_SECONDS_MAX
    while True:
        value = count()
        if value == 0 or time.monotonic() > deadline:
            return value
        time.sleep(0.2)
