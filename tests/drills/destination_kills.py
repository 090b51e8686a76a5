"""One node is killed at random while events are stored and receivers go down and come up. At the end each receiver has every position."""

import contextlib
import json
import math
import os
import random
import sqlite3
import subprocess
import time

import check
import lines
import load
import postgres
import processes
import receivers
import service
from receiver_server import stream_of

WRITERS_MIN = 4
# A client waits for the response to its request. So many events per second leave it time to catch up after a kill.
WRITER_RATE_MAX = 500
# The mean of load.BATCHES.
REQUEST_EVENTS = sum(load.BATCHES) / len(load.BATCHES)
# A receiver is down for so many kills at most. The delay between attempts then stays short.
DOWN_KILLS_MAX = 3
# The part of requests that stand-ins refuse because there are too many.
THROTTLED = 0.05
# After a kill, the database of PostgreSQL restarts as often as this.
DATABASE_RESTARTS = 0.25
# Checkpoints become due as often as this after a kill.
CHECKPOINTS_DUE = 0.3
# A poisonous event is stored, and a replay begins, as often as this before a kill.
POISONS = 0.2
REPLAYS = 0.2
# A replay begins so far before what the main run has delivered.
REPLAY_EVENTS = 20_000
POISON = "poisonous"
PAUSE_SECONDS_MAX = 2.5
# Without progress.
DELIVERED_SECONDS_MAX = 120


class Node:
    """A node with its database, and its trust in the receivers."""

    def __init__(self, options, folder, authority):
        self.server = None
        self.file = os.path.join(folder, "audit.db")
        self.url = f"sqlite:{self.file}"
        if options.database == "postgres":
            self.server = postgres.Server(folder, "postgres")
            self.server.create()
            self.start_database()
            self.server.query(f"CREATE DATABASE {postgres.DATABASE}", "postgres")
            self.url = f"postgres://{postgres.ROLE}@127.0.0.1:{self.server.port}/{postgres.DATABASE}"
        settings = {"AUDIT_WEBHOOK_ALLOW_PRIVATE": "true", "AUDIT_WEBHOOK_CA_FILE": authority.file}
        self.node = service.Node(0, options.server, self.url, folder, settings=settings)

    def start_database(self):
        self.server.start()
        self.server.wait_ready()

    def execute(self, statement):
        """Changes the database while the node is down."""
        if self.server:
            self.server.query(statement)
            return
        with contextlib.closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(statement)

    def stop(self):
        self.node.stop()
        if self.server:
            self.server.stop()


class Stream:
    """A destination of an organization of its own, so that its deliveries have lanes of their own, and its receiver."""

    def __init__(self, receiver, created):
        self.receiver = receiver
        self.master_key = created["master_key"]
        self.project_key = created["project_key"]
        self.path = None
        self.down_kills = 0
        # The position in the log at which each replay begins, by run.
        self.replays = {}

    def create(self, node):
        body = {"name": self.receiver.name, "kind": self.receiver.kind, **self.receiver.destination()}
        created = service.post(node, self.master_key, "/api/v1/destinations", body)
        self.path = f"/api/v1/destinations/{created['destination']['id']}"

    def shown(self, node):
        return service.Connection(node, timeout=60).get(self.path, self.master_key)["destination"]

    def change(self, node, body):
        status, response = service.Connection(node, timeout=60).request("PATCH", self.path, self.master_key, json.dumps(body))
        if status != 200:
            raise RuntimeError(f"PATCH {self.path}: {status} {response[:300]}")

    def replay(self, node):
        """The events that were delivered last. Does nothing while another replay runs."""
        path, first = f"{self.path}/replay", max(0, self.shown(node)["cursor_seq"] - REPLAY_EVENTS)
        body = json.dumps({"from_seq": first})
        status, response = service.Connection(node, timeout=60).request("POST", path, self.master_key, body)
        if status not in (200, 409):
            raise RuntimeError(f"POST {path}: {status} {response[:300]}")
        if status == 200:
            self.replays[json.loads(response)["replay"]["number"]] = first

    def set_aside(self, node):
        """The events that were set aside, by run and position: their ids."""
        connection, found, cursor = service.Connection(node, timeout=60), {}, ""
        while True:
            page = connection.get(f"{self.path}/set-aside?limit=100{cursor}", self.master_key)
            found.update({(event["run"], event["position"]): event["event_id"] for event in page["events"]})
            if not page["has_more"]:
                return found
            cursor = f"&cursor={page['cursor']}"


class Run:
    """The records of one run, as they have arrived: positions and texts."""

    def __init__(self, records, set_aside):
        self.problems = []
        self.repeats = self.last = 0
        by_position = {}
        for position, text in records:
            if position in by_position:
                self.repeats += 1
                if by_position[position] != text:
                    self.problems.append(f"position {position} has two records")
            elif not set_aside.issuperset(range(self.last + 1, position)):
                self.problems.append(f"position {position} arrives after {self.last}")
            by_position.setdefault(position, text)
            self.last = max(self.last, position)
        missing = set(range(1, self.last)) - set(by_position) - set_aside
        if missing:
            self.problems.append(f"{len(missing)} positions are missing, such as {sorted(missing)[:10]}")
        identifiers = [identifier(by_position[position]) for position in sorted(by_position)]
        self.events = [one for one in identifiers if one]
        self.checkpoints = len(identifiers) - len(self.events)
        self.ends_with_checkpoint = bool(identifiers) and identifiers[-1] is None


class Kills:
    """The drill."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.random = random.Random(options.seed)
        self.authority = lines.Authority(folder)
        self.node = Node(options, folder, self.authority)
        self.streams = []
        self.poisons = 0

    def start(self):
        root = receivers.debian_programs(self.options.tools)
        all_receivers = [
            *(receivers.HttpReceiver(kind, kind, self.folder, self.authority) for kind in ("https", "splunk_hec", "datadog", "otlp")),
            receivers.Rsyslog(self.folder, self.authority, root),
            receivers.SyslogNg(self.folder, self.authority, root),
            receivers.Moto(self.folder),
            receivers.SeaweedFs(self.folder),
        ]
        names = [receiver.name for receiver in all_receivers]
        named = self.options.receivers.split(",") if self.options.receivers else names
        if unknown := set(named) - set(names):
            raise SystemExit(f"no such receiver: {', '.join(sorted(unknown))}. There are {', '.join(names)}")
        for receiver in all_receivers:
            if receiver.name not in named:
                continue
            created = service.create_organization(self.options.server, self.node.url, receiver.name)
            self.streams.append(Stream(receiver, created))
            receiver.start()
            if receiver.is_bucket:
                receiver.create()
            elif isinstance(receiver, receivers.HttpReceiver):
                receiver.behave(throttled=THROTTLED, poison=POISON)
        self.node.node.start()
        for stream in self.streams:
            stream.create(self.node.node)

    def disturb(self):
        """One kill of the node, and what else happens at random."""
        time.sleep(self.random.uniform(0.2, PAUSE_SECONDS_MAX))
        for stream in self.streams:
            if stream.receiver.is_up:
                continue
            stream.down_kills += 1
            if stream.down_kills >= DOWN_KILLS_MAX or self.random.random() < 0.5:
                stream.receiver.come_up()
        if self.random.random() < REPLAYS:
            self.random.choice(self.streams).replay(self.node.node)
        if self.random.random() < POISONS:
            self.store_poison(self.random.choice(self.streams))
        going_down = self.random.choice(self.streams)
        if going_down.receiver.is_up:
            going_down.receiver.go_down()
            going_down.down_kills = 0
            time.sleep(self.random.uniform(0, 0.5))
        self.node.node.kill()
        if self.node.server and self.random.random() < DATABASE_RESTARTS:
            self.node.server.stop()
            self.node.start_database()
        self.let_time_pass(is_checkpoint_due=self.random.random() < CHECKPOINTS_DUE)
        self.node.node.start()

    def store_poison(self, stream):
        """An event that the stand-ins refuse."""
        self.poisons += 1
        event = {**load.event(f"poison-{self.poisons}", "poisoner"), "metadata": {"text": POISON}}
        status, response = service.Connection(self.node.node).request("POST", "/api/v1/events", stream.project_key, json.dumps(event))
        if status != 201:
            raise RuntimeError(f"{status} {response[:300]}")

    def let_time_pass(self, is_checkpoint_due):
        """As a minute does for the leases of a node that was killed, and five minutes for checkpoints."""
        due = ", checkpoint_at = 0" if is_checkpoint_due else ""
        self.node.execute(f"UPDATE destination_runs SET leased_until = 0{due}")

    def finish(self):
        """Waits until everything is delivered, with a checkpoint at the end."""
        for stream in self.streams:
            if not stream.receiver.is_up:
                stream.receiver.come_up()
            # The next attempt does not wait for its time.
            stream.change(self.node.node, {"paused": False})
        for stream in self.streams:
            self.wait_for(stream, lambda shown: shown["lag_events"] == 0 and shown["state"] == "active" and not shown["replay"])
        before = {stream: stream.shown(self.node.node)["position"] for stream in self.streams}
        self.node.node.kill()
        self.let_time_pass(is_checkpoint_due=True)
        self.node.node.start()
        for stream in self.streams:
            # Nothing follows if the last record was a checkpoint.
            if not ends_with_checkpoint(stream.receiver):
                self.wait_for(stream, lambda shown, stream=stream: shown["position"] > before[stream])
            self.wait_for_receiver(stream)

    def wait_for(self, stream, condition):
        """For as long as records are delivered."""
        shown = stream.shown(self.node.node)
        while True:
            try:
                processes.wait_until(
                    lambda: condition(stream.shown(self.node.node)), DELIVERED_SECONDS_MAX, f"{stream.receiver.name} has everything"
                )
                return
            except TimeoutError as error:
                before, shown = shown, stream.shown(self.node.node)
                if all(shown[name] == before[name] for name in ("position", "replay")):
                    raise TimeoutError(f"{error}: {shown}") from None

    def wait_for_receiver(self, stream):
        """Until the last position is there: programs of syslog may need a moment."""
        position = stream.shown(self.node.node)["position"]

        def is_there():
            return any(stream_of(json.loads(text))["position"] == position for text in stream.receiver.records()[-2_000:])

        with contextlib.suppress(TimeoutError):
            processes.wait_until(is_there, 10, "the last position")

    def check(self, stream):
        """What is wrong with the records of a receiver, and counts of them."""
        problems = stream.receiver.problems()
        set_aside = stream.set_aside(self.node.node)
        feed = check.Feed()
        feed.read(service.Connection(self.node.node, timeout=60), stream.project_key)
        refused, identifiers = set(set_aside.values()), list(feed.events.values())
        expected = [one for one in identifiers if one not in refused]
        runs = {}
        for text in stream.receiver.records():
            place = stream_of(json.loads(text))
            runs.setdefault(place["run"], []).append((place["position"], text))
        main = Run(runs.pop(0, []), {position for run, position in set_aside if run == 0})
        shown = stream.shown(self.node.node)
        problems += main.problems
        if main.last != shown["position"] or main.events != expected:
            problems.append(f"{main.last} of {shown['position']} positions, {len(main.events)} of {len(expected)} events in their order")
        repeats = main.repeats
        for number, records in runs.items():
            replay = Run(records, {position for run, position in set_aside if run == number})
            problems += [f"run {number}: {problem}" for problem in replay.problems]
            replayed = [one for one in identifiers[stream.replays[number] :] if one not in refused]
            if replay.events != replayed[: len(replay.events)] or not replay.ends_with_checkpoint:
                problems.append(f"run {number} has other events, or no checkpoint at its end")
            repeats += replay.repeats
        if len(set_aside) != shown["set_aside"] or (repeats and stream.receiver.is_bucket):
            problems.append(f"{shown['set_aside']} events were set aside, not {len(set_aside)}; {repeats} repeats")
        problems += self.verify(stream, main.last)
        counts = (len(main.events), main.checkpoints, len(set_aside), len(runs), repeats)
        return problems, counts

    def verify(self, stream, last):
        """What `log stream` says against the records."""
        file = os.path.join(self.folder, f"{stream.receiver.name}.jsonl")
        with open(file, "w", encoding="utf-8") as output:
            output.writelines(f"{text}\n" for text in stream.receiver.records())
        status, key = service.Connection(self.node.node).request("GET", "/api/v1/log/key", stream.project_key)
        if status != 200:
            return [f"GET /log/key: {status}"]
        command = [self.options.server, "log", "stream", file, "--key", key.decode().strip()]
        verified = subprocess.run(command, capture_output=True, text=True, check=False, env=service.environment(self.node.url))
        if verified.returncode != 0 or f"positions 1–{last - 1} are complete" not in verified.stdout:
            return [f"log stream: {verified.returncode} {verified.stdout[-600:]} {verified.stderr[-600:]}"]
        return []

    def stop(self):
        self.node.stop()
        for stream in self.streams:
            stream.receiver.stop()


def identifier(text):
    """The id of an event; none of a checkpoint."""
    record = json.loads(text)
    if "unmapped" in record:
        return record["metadata"].get("uid") if "note" not in record["unmapped"] else None
    return record.get("id")


def ends_with_checkpoint(receiver):
    """Whether the last record of the main run is a checkpoint."""
    texts = (text for text in reversed(receiver.records()) if stream_of(json.loads(text))["run"] == 0)
    return identifier(next(texts, "{}")) is None


def run(options, folder):
    """Returns the number of receivers that lack something."""
    print(f"kills: {options.kills} on {options.database}, seed {options.seed}", flush=True)
    drill = Kills(options, folder)
    failures = 0
    try:
        drill.start()
        keys = [stream.project_key for stream in drill.streams]
        record = load.Record(len(keys))
        writers = max(WRITERS_MIN, math.ceil(options.rate / WRITER_RATE_MAX))
        begin = time.monotonic()
        with load.Load([drill.node.node], keys, record, writers, 0, 0, writers * REQUEST_EVENTS / options.rate) as running:
            # Each log then has an event, which a replay needs.
            running.wait_for([0], writers * len(keys))
            for number in range(options.kills):
                drill.disturb()
                if number % 10 == 9:
                    print(f"kill {number + 1}: {record.total()} events are acknowledged", flush=True)
            running.wait_for([0], 10)
        seconds = time.monotonic() - begin
        print(f"{record.total()} events are acknowledged in {seconds:.0f} s: {record.total() / seconds:.0f} a second", flush=True)
        drill.finish()
        print("| Receiver | Events | Checkpoints | Set aside | Replays | Repeated records | Problems |\n|---|---|---|---|---|---|---|")
        for stream, acknowledged in zip(drill.streams, record.acknowledged):
            problems, counts = drill.check(stream)
            if counts[0] < len(acknowledged):
                problems.append(f"{len(acknowledged)} events were acknowledged")
            shown = "; ".join(problems[:5]) or "none"
            print(f"| {stream.receiver.name} | {' | '.join(map(str, counts))} | {shown} |", flush=True)
            failures += bool(problems)
        return failures
    except Exception:
        print(f"kills: directory {folder}; {drill.node.node.tail() if os.path.exists(drill.node.node.log) else ''}")
        raise
    finally:
        drill.stop()
