"""Clients that write with idempotency keys, and the record of what was acknowledged to them."""

import json
import threading
import time

from service import Connection, Unanswered

# Events of a request, in turn.
BATCHES = (1, 1, 25, 1, 7, 1, 100)
# An actor has so many events at most, so that one page of a query shows all of them.
ACTOR_EVENTS_MAX = 150
# One acknowledged request in this many is sent again, to another node.
REPEAT_INTERVAL = 20
RETRY_PAUSE_SECONDS = 0.05


class Record:
    """What was sent and acknowledged. Shared by all clients."""

    def __init__(self, projects, loses=False):
        self.loses = loses
        self.lock = threading.Lock()
        # By project: idempotency key -> id, of acknowledged events.
        self.acknowledged = [{} for _ in range(projects)]
        # By project: idempotency key -> actor, of all events sent.
        self.sent = [{} for _ in range(projects)]
        # Times of acknowledgements by node.
        self.times = {}
        self.problems = []
        self.refused = {}

    def acknowledge(self, project, keys, ids, node):
        with self.lock:
            self.times.setdefault(node, []).append(time.monotonic())
            for key, identifier in zip(keys, ids):
                known = self.acknowledged[project].setdefault(key, identifier)
                if known != identifier and self.loses:
                    # The first one was lost, and the repeat stored it again.
                    self.acknowledged[project][key] = identifier
                elif known != identifier:
                    self.problems.append(f"{key} was acknowledged as {known} and as {identifier}")

    def count(self, node):
        return len(self.times.get(node, ()))

    def total(self):
        return sum(len(keys) for keys in self.acknowledged)

    def rate(self, nodes, begin, end):
        """Acknowledgements of these nodes per second."""
        with self.lock:
            counts = [sum(begin <= moment <= end for moment in self.times.get(node, ())) for node in nodes]
        return sum(counts) / max(end - begin, 0.001)

    def longest_gap(self, node, begin, end):
        """Seconds without an acknowledgement of this node, at the longest."""
        with self.lock:
            times = [moment for moment in self.times.get(node, ()) if begin <= moment <= end]
        moments = [begin, *times, end]
        return max(later - earlier for earlier, later in zip(moments, moments[1:]))


class Writer(threading.Thread):
    """A client with a node of its own. It repeats an unanswered request at the next node, with the same keys."""

    def __init__(self, number, nodes, project_keys, record, stopping, pause_seconds, interval_seconds):
        super().__init__(daemon=True)
        self.number = number
        self.home = number % len(nodes)
        self.connections = [Connection(node) for node in nodes]
        self.project_keys = project_keys
        self.record = record
        self.stopping = stopping
        self.pause_seconds = pause_seconds
        self.interval_seconds = interval_seconds
        self.requests = 0
        self.actor_events = [0] * len(project_keys)
        self.error = None

    def run(self):
        try:
            due = time.monotonic()
            while not self.stopping.wait(max(self.pause_seconds, due - time.monotonic())):
                due += self.interval_seconds
                self.write()
        except Exception as error:  # pylint: disable=broad-except
            # Reported by the main thread: a client that ends silently would test nothing.
            self.error = error
        finally:
            for connection in self.connections:
                connection.close()

    def write(self):
        request = self.requests
        self.requests += 1
        project = request % len(self.project_keys)
        size = BATCHES[request // len(self.project_keys) % len(BATCHES)]
        keys = [f"w{self.number}-{request}-{index}" for index in range(size)]
        actor = self.actor(project, size)
        body = json.dumps([event(key, actor) for key in keys])
        with self.record.lock:
            self.record.sent[project].update((key, actor) for key in keys)
        node = self.send(self.home, project, keys, body)
        if node is not None and request % REPEAT_INTERVAL == 0:
            self.send(node + 1, project, keys, body)

    def actor(self, project, size):
        begun = self.actor_events[project] // ACTOR_EVENTS_MAX
        if (self.actor_events[project] + size - 1) // ACTOR_EVENTS_MAX != begun:
            # The batch does not fit the actor: the next one begins.
            self.actor_events[project] = (begun + 1) * ACTOR_EVENTS_MAX
        number = self.actor_events[project] // ACTOR_EVENTS_MAX
        self.actor_events[project] += size
        return f"actor-{self.number}-{project}-{number}"

    def send(self, first, project, keys, body):
        """Sends until a node acknowledges, and returns that node. None: the load was stopped before."""
        attempt = 0
        while True:
            node = (first + attempt) % len(self.connections)
            status, response = self.attempt(node, project, body)
            if status == 201:
                ids = json.loads(response)["ids"]
                if len(ids) != len(keys):
                    raise RuntimeError(f"{len(ids)} ids for {len(keys)} events: {response[:300]}")
                self.record.acknowledge(project, keys, ids, node)
                return node
            with self.record.lock:
                self.record.refused[status] = self.record.refused.get(status, 0) + 1
            if status is not None and status < 500:
                raise RuntimeError(f"status {status}: {response[:300]}")
            if self.stopping.wait(RETRY_PAUSE_SECONDS):
                return None
            attempt += 1

    def attempt(self, node, project, body):
        try:
            return self.connections[node].request("POST", "/api/v1/events", self.project_keys[project], body)
        except Unanswered:
            return None, b""


def event(key, actor):
    return {
        "action": "drill.written",
        "category": "system",
        "tenant_id": "drill",
        "actor": {"id": actor, "type": "service"},
        "idempotency_key": key,
        "metadata": {"padding": "x" * (200 + 37 * len(key) % 800)},
    }


class Load:
    """Writers that run until the end of a `with` block. Each pauses before a request. With an interval, a request is due so long after
    the one before was due, and is sent at once if it is late."""

    def __init__(self, nodes, project_keys, record, writers, first_number, pause_seconds, interval_seconds=0):
        self.stopping = threading.Event()
        self.record = record
        self.writers = [
            Writer(first_number + number, nodes, project_keys, record, self.stopping, pause_seconds, interval_seconds)
            for number in range(writers)
        ]

    def __enter__(self):
        for writer in self.writers:
            writer.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for writer in self.writers:
            writer.join()

    def wait_for(self, nodes, count, seconds=90):
        """Waits until each of these nodes has acknowledged `count` more requests."""
        goals = {node: self.record.count(node) + count for node in nodes}
        deadline = time.monotonic() + seconds
        while any(self.record.count(node) < goal for node, goal in goals.items()):
            for writer in self.writers:
                if writer.error:
                    raise writer.error
            if time.monotonic() > deadline:
                missing = [node for node, goal in goals.items() if self.record.count(node) < goal]
                raise TimeoutError(f"nodes {missing} do not acknowledge within {seconds} s")
            time.sleep(0.01)
