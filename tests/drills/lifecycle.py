#!/usr/bin/env python3
"""Retention, erasure and archives: the server, `archive create` and `archive restore` are killed at every step, and a restart finishes what
was begun.

    AUDIT_SERVER_BIN=target/release/audit-server tests/drills/lifecycle.py --kills 200 --database postgres

Clients store and query events, and an operator changes policies, cancels plans and has persons erased. Needs libfaketime, and PostgreSQL's
programs for `--database postgres`. Python's standard library only.
"""

import argparse
import collections
import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "deployment"))

import databases
import lifecycle_check
import lifecycle_clients as clients
import postgres
import processes
import service
from lifecycle_clients import received_at

BEGIN = "2026-01-05T12:00:00Z"
LOGS = 2
# Days before the kills, and the events that each log gets in one of them.
PAST_DAYS = 90
DAY_EVENTS = 60
SETTINGS = {"AUDIT_REMOVAL_GRACE": "1h", "AUDIT_IDEMPOTENCY_WINDOW_MONTHS": "1"}
STEPS = ("collecting", "listed", "planned", "removing", "removing, some done", "cleaning", "cancelled")
STATES = [f"{kind}: {step}" for kind in ("retention", "erasure") for step in STEPS if (kind, step) != ("retention", "listed")]
ARCHIVE_STATES = ["archive: file begun", "archive: file without manifest"]
RESTORE_STATES = ["restore: begun", "restore: announced", "restore: some done"]
# Kills of `archive restore`, for each of the server, and at least; the server is killed with some of them.
RESTORE_KILLS, RESTORE_KILLS_MIN = 0.3, 4
SERVER_KILLS = 0.3
# After so many kills each state must have been hit.
ALL_STATES_KILLS = 100
# Part of the kills that wait for a state; how long they wait for it; and how long the others wait at most.
AIMED = 0.7
STATE_SECONDS_MAX = 6
RANDOM_SECONDS_MAX = 3
# Part of the kills after which PostgreSQL restarts as well.
DATABASE_RESTARTS = 0.2
# Between two lives of the server the clock is advanced within a lease, beyond it, beyond the grace, or to the next plan: seconds.
ADVANCES = (20, 1_000, 4_000, 8 * 3_600, 20 * 3_600)
PAST_GRACE_SECONDS = 2 * 3_600
FILE_EVENTS = 500
FINISH_ROUNDS_MAX = 40
LISTING_LEASE_SECONDS = 900
FINISH_SECONDS_MAX = 300
OPEN = "SELECT kind, state, cursor_seq > first_seq FROM removals WHERE state <> 'done'"


class Watch:
    """Reads the states of the open removals while a server runs."""

    def __init__(self, database, url):
        self.server = getattr(database, "server", None)
        self.name = url.rpartition("/")[2]
        self.file = url.removeprefix("sqlite:")
        self.connection = None
        self.psql = None

    def query_psql(self):
        """By one process, which takes a state that soon passes."""
        if self.psql is None:
            command = [processes.program("psql"), "-h", self.server.folder, "-p", str(self.server.port), "-U", postgres.ROLE, "-XAtq"]
            command += ["-F", " ", "-v", "ON_ERROR_STOP=1", "-d", self.name]
            self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.psql.stdin.write(f"{OPEN};\n\\echo .\n")
        self.psql.stdin.flush()
        lines = []
        while (line := self.psql.stdout.readline()) != ".\n":
            if not line:
                raise RuntimeError("psql has ended")
            lines.append(line)
        return [(kind, state, begun == "t") for kind, state, begun in (line.split() for line in lines)]

    def states(self):
        """None where the database cannot be read at this moment."""
        if self.server:
            rows = self.query_psql()
        else:
            try:
                if self.connection is None:
                    self.connection = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=0)
                rows = self.connection.execute(OPEN).fetchall()
            except sqlite3.OperationalError:
                return None
        begun = {f"{kind}: {state}, some done" for kind, state, begun in rows if begun and state == "removing"}
        return begun | {f"{kind}: {state}" for kind, state, _ in rows}

    def close(self):
        """Before the server ends: the last connection decides what is left of the write-ahead log."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        if self.psql is not None:
            self.psql.communicate()
            self.psql = None


class Archive:
    """A directory, and the `archive create` that writes it. When one is complete it is verified, and another one begins."""

    def __init__(self, drill):
        self.drill = drill
        self.number = 0
        self.process = None
        self.wanted = None
        self.kill_at = None
        # What the run before has not finished.
        self.left = self.unfinished()
        self.verified = 0
        self.is_excused = False

    @property
    def directory(self):
        return os.path.join(self.drill.folder, f"archive-{self.number}")

    def command(self):
        month = time.strftime("%Y-%m", time.gmtime(self.drill.clock.now()))
        return ["archive", "create", "--to", self.directory, "--until", month, "--events-per-file", str(FILE_EVENTS)]

    def unfinished(self):
        """The files of each state, as (name, number, time of the last change)."""
        found = {state: set() for state in ARCHIVE_STATES}
        for folder, _, names in os.walk(self.directory):
            for name in names:
                if name == "_file.new":
                    state = ARCHIVE_STATES[0]
                elif name.endswith(".parquet") and f"_manifest-{name.removesuffix('.parquet')}.json" not in names:
                    state = ARCHIVE_STATES[1]
                else:
                    continue
                path = os.path.join(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    status = os.stat(path)
                    found[state].add((path, status.st_ino, status.st_ctime_ns))
        return found

    def states(self):
        """Those of this run: the files of a run that was killed before do not count."""
        return {state for state, files in self.unfinished().items() if files - self.left[state]}

    def tend(self):
        """Starts the program, kills it at its moment, or takes what it has completed."""
        drill = self.drill
        if self.process is None:
            self.wanted = drill.least(ARCHIVE_STATES) if drill.random.random() < AIMED else None
            self.kill_at = time.monotonic() + (drill.random.uniform(0, RANDOM_SECONDS_MAX) if self.wanted is None else STATE_SECONDS_MAX)
            self.is_excused = False
            self.left = self.unfinished()
            environment = {**service.environment(drill.url), **drill.clock.settings(), "AUDIT_STATE_DIR": drill.node.state}
            self.process = processes.start([drill.node.binary, *self.command()], self.log, environment=environment)
            return
        code = self.process.poll()
        if code is not None:
            self.process = None
            if code == 0:
                self.complete()
            elif not self.is_excused:
                raise RuntimeError(f"archive create: exit code {code}: {self.tail()}")
        elif (self.wanted and self.wanted in self.states()) or time.monotonic() > self.kill_at:
            self.strike()

    def strike(self):
        self.process.send_signal(signal.SIGSTOP)
        states = self.states()
        if self.wanted and self.wanted not in states and time.monotonic() <= self.kill_at:
            self.process.send_signal(signal.SIGCONT)
            return
        self.process.kill()
        self.process.wait()
        # It may have ended by itself just before.
        self.drill.archive_kills += self.process.returncode != 0
        self.drill.hits.update(states)
        self.process = None

    def complete(self):
        lifecycle_check.verify_archive(self.drill, self.directory)
        shutil.rmtree(self.directory)
        self.verified += 1
        self.number += 1

    @property
    def log(self):
        return os.path.join(self.drill.folder, "archive.log")

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-600:]


class Restore:
    """The `archive restore` of the events that retention removed from a log, for a hold on all of it."""

    def __init__(self, drill, log):
        self.drill, self.log = drill, log
        self.reader = service.Connection(drill.node, timeout=60)
        retention = self.reader.get(log.path("/retention"), log.master_key)
        before = lifecycle_check.removed_before(retention["removals"])
        self.missing = [identifier for identifier in drill.past[log.project] if received_at(identifier) < before]
        hold = service.post(drill.node, log.master_key, log.path("/holds"), {"reason": "drill"})["hold"]["id"]
        self.command = ["archive", "restore", "--from", drill.past_archive, "--hold", hold, "--project", log.project, "--environment", "live"]

    def is_there(self, identifier):
        status, body = self.reader.request("GET", f"/api/v1/events/{identifier}", self.log.project_key)
        if status not in (200, 410):
            raise RuntimeError(f"GET /events/{identifier}: {status} {body[:300]}")
        return status == 200

    def state(self):
        """None where the newest event is there."""
        if self.is_there(self.missing[-1]):
            return None
        if self.is_there(self.missing[0]):
            return RESTORE_STATES[2]
        own = "/api/v1/events?tenant_id=audit-server&action=audit.events.restored&limit=1"
        return RESTORE_STATES[1] if self.reader.get(own, self.log.project_key)["events"] else RESTORE_STATES[0]

    def kill(self, number):
        """Starts the command and kills it, first once in each state, because none comes back. Whether there is anything left to restore."""
        drill = self.drill
        wanted = RESTORE_STATES[number] if number < len(RESTORE_STATES) else RESTORE_STATES[-1] if drill.random.random() < AIMED else None
        end = time.monotonic() + (STATE_SECONDS_MAX if wanted else drill.random.uniform(0, RANDOM_SECONDS_MAX))
        output = os.path.join(drill.folder, "restore.log")
        environment = {**service.environment(drill.url), **drill.clock.settings(), "AUDIT_STATE_DIR": drill.node.state}
        process = processes.start([drill.node.binary, *self.command], output, environment=environment)
        while process.poll() is None and time.monotonic() < end and not (wanted and self.state() == wanted):
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        state = self.state()
        process.kill()
        if process.wait() not in (0, -signal.SIGKILL):
            with open(output, encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"archive restore: exit code {process.returncode}: {log.read()[-600:]}")
        if process.returncode != 0:
            drill.restore_kills += 1
            drill.hits.update([state] if state else [])
        if drill.random.random() < SERVER_KILLS:
            # The next one signs what the command has appended without waiting for a minute.
            drill.node.kill()
            drill.start()
            self.reader.close()
        return process.returncode != 0

    def run(self):
        """Kills it some times, and lets it finish. What it has restored is there once, and no further run restores anything."""
        if not self.missing:
            return
        kills = max(RESTORE_KILLS_MIN, int(self.drill.options.kills * RESTORE_KILLS))
        for number in range(kills):
            if not self.kill(number):
                break
        lifecycle_check.command(self.drill, *self.command)
        again = lifecycle_check.command(self.drill, *self.command)
        if not again.startswith("0 events restored"):
            raise RuntimeError(f"a finished restore was repeated: {again}")
        stored, _ = lifecycle_check.feed_of(self.reader, self.log)
        left = [identifier for identifier in self.missing if identifier not in stored]
        if left:
            raise RuntimeError(f"{len(left)} of {len(self.missing)} events were not restored, such as {left[0]}")
        self.drill.restored.update(self.missing)


class Drill:
    """The server, its clients, and what kills it."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.random = random.Random(options.seed)
        self.hits = collections.Counter()
        self.archive_kills = self.restore_kills = self.database_restarts = 0
        self.clock = clients.Clock(BEGIN)
        self.database = databases.KINDS[options.database](folder)
        self.url = self.database.url("audit")
        self.node = service.Node(0, options.server, self.url, folder)
        self.watch = Watch(self.database, self.url)
        created = [service.create_organization(options.server, self.url, f"log {number}") for number in range(LOGS)]
        self.logs = [clients.Log(one, number) for number, one in enumerate(created)]
        self.operators = []
        self.clients = []
        self.archive = Archive(self)
        # The state in which the next kill is to come, or any.
        self.wanted = None
        # The events of the time before the kills by project, in the order of the log, and an archive of them; those that were restored.
        self.past = {}
        self.past_archive = os.path.join(folder, "archive-past")
        self.restored = set()

    def start(self):
        self.node.settings = {**SETTINGS, **self.clock.settings()}
        self.node.start()

    def store_past(self):
        """The events of the months before, by a server whose clock stands still and is moved day by day."""
        file = os.path.join(self.folder, "clock")
        self.clock.show(file)
        settings = self.clock.settings()
        del settings["FAKETIME"]
        self.node.settings = {**SETTINGS, **settings, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1"}
        self.node.start()
        writers = [clients.Writer(self.node, log, self.random.random(), 0) for log in self.logs]
        for _ in range(PAST_DAYS):
            for writer in writers:
                writer.store_some(DAY_EVENTS)
            self.clock.advance(24 * 3_600 - 60)
            self.clock.show(file)
        self.node.end()

    def archive_past(self):
        """Once the server has signed all events."""
        self.past = {log.project: list(log.events) for log in self.logs}
        month = time.strftime("%Y-%m", time.gmtime(self.clock.now()))
        expected = [f"{log.project}/live: the first {len(log.events)} positions" for log in self.logs]

        def is_complete():
            lifecycle_check.command(self, "archive", "create", "--to", self.past_archive, "--until", month)
            verified = lifecycle_check.verify_archive(self, self.past_archive)
            return all(line in verified for line in expected)

        processes.wait_until(is_complete, FINISH_SECONDS_MAX, "the archive of the past")

    def start_clients(self):
        for log in self.logs:
            self.operators.append(clients.Operator(self.node, log, self.random.random(), 0.05, self.clock))
            self.clients += [kind(self.node, log, self.random.random(), 0.05) for kind in (clients.Writer, clients.Reader)]
        self.clients += self.operators
        for client in self.clients:
            client.start()

    def least(self, states):
        """One that was hit least often."""
        fewest = min(self.hits[state] for state in states)
        return self.random.choice([state for state in states if self.hits[state] == fewest])

    def kill(self):
        """One life of the server."""
        wanted = self.wanted
        for operator in self.operators:
            operator.begin_life(wanted)
        begin = time.monotonic()
        end = begin + (STATE_SECONDS_MAX if wanted else self.random.uniform(0, RANDOM_SECONDS_MAX))
        while not self.strike(wanted, time.monotonic() > end):
            self.archive.tend()
            for client in self.clients:
                if client.error:
                    raise client.error
            time.sleep(0.001)
        self.watch.close()
        self.node.kill()
        if self.options.database == "postgres" and self.random.random() < DATABASE_RESTARTS:
            self.archive.is_excused = True
            self.database_restarts += 1
            self.database.server.stop()
            self.database.server.start()
            self.database.server.wait_ready()
        self.wanted = self.least(STATES) if self.random.random() < AIMED else None
        # One plan of retention a day.
        is_next_plan = self.wanted == "retention: collecting"
        self.clock.advance(ADVANCES[-1] if is_next_plan else self.random.choice(ADVANCES))
        self.start()

    def strike(self, wanted, is_late):
        """Stops the server in the wanted state, or anyway when it is late. Returns whether it has."""
        states = self.watch.states()
        if not is_late and (wanted is None or wanted not in (states or ())):
            return False
        self.node.freeze()
        states = self.watch.states()
        if not is_late and wanted not in (states or ()):
            self.node.thaw()
            return False
        self.hits.update(states if states is not None else ["not readable"])
        return True

    def finish(self):
        """Everything that was begun is done, without a kill."""
        for operator in self.operators:
            operator.is_finishing = True
        for client in self.clients:
            client.stop()
        writers = [client for client in self.clients if isinstance(client, clients.Writer)]
        while self.archive.process is not None:
            self.archive.kill_at = time.monotonic() + FINISH_SECONDS_MAX
            self.archive.wanted = None
            self.archive.process.wait(FINISH_SECONDS_MAX)
            self.archive.tend()
        # Nobody has the identifiers of a list whose node was killed: it is given up when its lease ends.
        self.restart_after(LISTING_LEASE_SECONDS)
        for _ in range(FINISH_ROUNDS_MAX):
            processes.wait_until(self.is_settled, FINISH_SECONDS_MAX, "all removals wait or are done")
            if self.is_done():
                return
            for writer in writers:
                # After a day without events the server would not trust its clock.
                writer.store_some(1)
            self.restart_after(PAST_GRACE_SECONDS)
        raise RuntimeError(f"not done: {self.watch.states()}")

    def restore(self):
        """What retention removed from one log is put back, while the command and the server are killed. In the other one no trace may be left."""
        self.watch.close()
        Restore(self, self.logs[0]).run()

    def restart_after(self, seconds):
        self.watch.close()
        self.node.end()
        self.clock.advance(seconds)
        self.start()

    def is_settled(self):
        """Whether nothing but a grace is waited for."""
        for operator in self.operators:
            operator.turn()
        return all(operator.is_settled for operator in self.operators)

    def is_done(self):
        return not self.watch.states() and all(person.is_done for log in self.logs for person in log.persons)

    def stop(self):
        for client in self.clients:
            client.stopping.set()
        self.watch.close()
        self.node.stop()
        if self.archive.process is not None:
            self.archive.process.kill()
            self.archive.process.wait()
        self.database.stop()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default=os.environ.get("AUDIT_SERVER_BIN"), help="path of audit-server")
    parser.add_argument("--database", choices=databases.KINDS, default="sqlite", help="default: sqlite")
    parser.add_argument("--kills", type=int, default=20, help="of the server; those of archive create and restore come on top. Default: 20")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the random choices. Default: another one each time")
    parser.add_argument("--keep", action="store_true", help="keep the directory with logs and data")
    options = parser.parse_args()
    if not options.server:
        parser.error("--server or AUDIT_SERVER_BIN names the path of audit-server")
    options.server = os.path.realpath(options.server)
    return options


def run(options, folder):
    """Returns what is wrong."""
    drill = Drill(options, folder)
    try:
        drill.store_past()
        drill.start()
        drill.archive_past()
        drill.start_clients()
        for number in range(options.kills):
            drill.kill()
            if number % 10 == 9:
                print(f"kill {number + 1}: {sum(len(log.events) for log in drill.logs)} events are acknowledged", flush=True)
        drill.finish()
        drill.restore()
        states = STATES + ARCHIVE_STATES + RESTORE_STATES
        print("| State when it was killed | Kills |\n|---|---|")
        for state in [*states, *(["not readable"] if drill.hits["not readable"] else [])]:
            print(f"| {state} | {drill.hits[state]} |")
        print(f"{options.kills} kills of the server, {drill.archive_kills} of archive create, {drill.restore_kills} of archive restore, {drill.database_restarts} restarts of the database")
        missed = [state for state in states if not drill.hits[state]]
        problems = [f"no kill while {state}" for state in missed] if options.kills >= ALL_STATES_KILLS else []
        return problems + lifecycle_check.check_all(drill)
    except Exception:
        print(f"directory {folder}; {drill.node.tail() if os.path.exists(drill.node.log) else ''}")
        raise
    finally:
        drill.stop()


def main():
    options = arguments()
    if not clients.Clock.library:
        sys.exit("libfaketime is not installed")
    # So that the drill ends its processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"lifecycle: {options.kills} kills on {options.database}, seed {options.seed}", flush=True)
    begin = time.monotonic()
    folder = tempfile.mkdtemp(prefix="lifecycle-")
    # PostgreSQL runs as another user and must reach its directory.
    os.chmod(folder, 0o711)
    problems = run(options, folder)
    for problem in problems[:20]:
        print(problem)
    print(f"{len(problems)} problems; {time.monotonic() - begin:.0f} s")
    if options.keep or problems:
        print(f"directory {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
