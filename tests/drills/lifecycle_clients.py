"""What stores and queries events while `lifecycle.py` kills the server, and the operator of its retention and erasures.

Each event and each person has a marker, a word that is nowhere else, so that what is left of them can be found byte by byte.
"""

import datetime
import glob
import json
import os
import random
import threading
import time

import service

# What a marker ends with, and the letters before: none of them makes redaction take it for an address or a number.
MARKER_END = "zqx"
MARKER_LETTERS = "abcdefghijklmnop"
MARKER_LENGTH = 16
TENANTS = 40
CATEGORIES = ("access", "mutation", "security")
PERSON_EVENTS = 240
BATCH_EVENTS = 80
OPEN_ERASURES = 3
RETRY_PAUSE_SECONDS = 0.05
PERSIST_SECONDS_MAX = 120
# The policy begins with the first of these, and ends with the last: the least that the service accepts with a window of one month.
DAYS = (60, 50, 40, 31)
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def marker(chance):
    return "".join(chance.choice(MARKER_LETTERS) for _ in range(MARKER_LENGTH)) + MARKER_END


def received_at(identifier):
    """When an event with this id was stored, in seconds since 1970: its ULID begins with the milliseconds."""
    millis = 0
    for letter in identifier.removeprefix("evt_")[:10]:
        millis = millis * 32 + CROCKFORD.index(letter)
    return millis / 1_000


def seconds_of(text):
    return datetime.datetime.fromisoformat(text).timestamp()


class Clock:
    """The time of the servers: it goes on while they run, and is advanced while none does."""

    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")

    def __init__(self, moment):
        self.moment = seconds_of(moment)
        self.since = time.monotonic()

    def now(self):
        return self.moment + time.monotonic() - self.since

    def advance(self, seconds):
        # The library takes whole seconds, and the clock must not go back.
        self.moment = float(int(self.now() + seconds) + 1)
        self.since = time.monotonic()

    def show(self, file):
        """Has the programs that read this file see the present time until it is written again."""
        with open(f"{file}.new", "w", encoding="ascii") as new:
            new.write(f"{datetime.datetime.fromtimestamp(int(self.now()), datetime.timezone.utc):%Y-%m-%d %H:%M:%S}")
        os.replace(f"{file}.new", file)

    def settings(self):
        """Of a process that starts now."""
        shown = datetime.datetime.fromtimestamp(int(self.now()) + 1, datetime.timezone.utc)
        fixed = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1", "TZ": "UTC"}
        return {**fixed, "LD_PRELOAD": self.library[0], "FAKETIME": f"@{shown:%Y-%m-%d %H:%M:%S}"}


class Log:
    """One project, and what was acknowledged."""

    def __init__(self, created, number):
        self.name = f"log {number}"
        self.project = created["project_id"]
        self.project_key = created["project_key"]
        self.master_key = created["master_key"]
        self.lock = threading.Lock()
        # Id of an acknowledged event -> its markers, or the person whose event it is.
        self.events = {}
        self.size = 0
        self.persons = []

    def path(self, path):
        return f"/api/v1{path}{'&' if '?' in path else '?'}project_id={self.project}&environment=live"

    def add(self, events, response, value_of):
        identifiers = response["ids"]
        if len(identifiers) != len(events) or response.get("errors"):
            raise RuntimeError(f"{len(events)} events: {str(response)[:300]}")
        with self.lock:
            for event, identifier in zip(events, identifiers):
                self.events[identifier] = value_of(event)
            self.size = max(self.size, response["log"]["size"])
        return response["log"]["size"]


class Person:
    """Whom an erasure is about."""

    def __init__(self, number, chance):
        self.number = number
        self.identifier, self.text = marker(chance), marker(chance)
        self.extent = chance.choice(("person", "all", "row"))
        self.chance = chance
        self.attempt = 0
        self.ids = set()
        # The log has their events once it is so large.
        self.size = None
        self.is_done = False

    @property
    def ticket(self):
        return f"P{self.number}-{self.attempt}"

    def event(self, key):
        """As the actor, as the target, within a text, and as a tenant of their own."""
        event = base_event(key, marker(self.chance), self.chance)
        kind = self.chance.randrange(4)
        if kind == 0:
            event["actor"] = {"id": self.identifier, "type": "user", "name": f"Jane {self.text}"}
        elif kind == 1:
            event["target"] = {"id": self.identifier, "type": "user", "name": self.text}
        elif kind == 2:
            event["metadata"]["note"] = f"as {self.text} has asked, on {key}"
        else:
            event["tenant_id"] = self.identifier
        return event

    def request(self):
        identifiers = {"ids": [self.identifier], "texts": [self.text]}
        return {"identifiers": identifiers, "extent": self.extent, "basis": "gdpr_17", "ticket": self.ticket}


def base_event(key, text, chance):
    return {
        "action": f"document.{chance.choice(('opened', 'edited', 'shared'))}",
        "category": chance.choice(CATEGORIES),
        # Some tenants are in one event only: its removal takes their name.
        "tenant_id": f"tenant-{text}" if chance.random() < 0.05 else f"tenant-{chance.randrange(TENANTS)}",
        "actor": {"id": f"user-{chance.randrange(500)}", "type": "user"},
        "target": {"id": f"document-{chance.randrange(1_000)}", "type": "document"},
        "metadata": {"text": text},
        "idempotency_key": key,
    }


class Client(threading.Thread):
    """Repeats turns until it is told to stop. What is refused but with 503 ends the drill."""

    def __init__(self, node, log, seed, pause_seconds):
        super().__init__(daemon=True)
        self.connection = service.Connection(node, timeout=60)
        self.log = log
        self.chance = random.Random(seed)
        self.pause_seconds = pause_seconds
        self.stopping = threading.Event()
        self.error = None
        self.turns = 0
        self.name_of_keys = marker(self.chance)[:8]

    def run(self):
        try:
            while not self.stopping.wait(self.pause_seconds):
                self.turns += 1
                self.turn()
        except Exception as error:  # pylint: disable=broad-except
            # Reported by the main thread: a client that ends silently would test nothing.
            self.error = error

    def stop(self):
        self.stopping.set()
        self.join()
        if self.error:
            raise self.error

    def turn(self):
        raise NotImplementedError

    def attempt(self, method, path, key, body, accepted):
        """Status and JSON of the response; None where there is none, or 503."""
        try:
            status, response = self.connection.request(method, path, key, None if body is None else json.dumps(body))
        except service.Unanswered:
            return None
        if status == 503:
            return None
        if status not in accepted:
            raise RuntimeError(f"{method} {path}: {status} {response[:300]}")
        return status, json.loads(response)

    def persist(self, *request):
        """The same, repeated until there is a response."""
        deadline = time.monotonic() + PERSIST_SECONDS_MAX
        while True:
            response = self.attempt(*request)
            if response:
                return response
            if time.monotonic() > deadline:
                raise TimeoutError(f"{request[:2]}: no response within {PERSIST_SECONDS_MAX} s")
            time.sleep(RETRY_PAUSE_SECONDS)

    def store(self, events, value_of):
        """Until it is acknowledged: then the log has no event that is not known. Returns the size of the log."""
        response = self.persist("POST", "/api/v1/events", self.log.project_key, events, (201,))[1]
        return self.log.add(events, response, value_of)


class Writer(Client):
    """Stores events."""

    def turn(self):
        self.store_some(self.chance.choice((1, 1, 5, 20)))

    def store_some(self, count):
        self.turns += 1
        keys = [f"{self.name_of_keys}-{self.turns}-{number}" for number in range(count)]
        self.store([base_event(key, marker(self.chance), self.chance) for key in keys], texts_of)


def texts_of(event):
    """The markers of an event that is about nobody."""
    tenant = event["tenant_id"].removeprefix("tenant-")
    return {event["metadata"]["text"], tenant} - {tenant if not tenant.endswith(MARKER_END) else ""}


class Reader(Client):
    """Queries events, and follows the feed."""

    cursor = ""

    def turn(self):
        path = self.chance.choice(
            (
                f"/events?tenant_id=tenant-{self.chance.randrange(TENANTS)}&limit=20",
                f"/events?search=user-{self.chance.randrange(500)}&limit=20",
                f"/events/feed?limit=200{self.cursor}",
            )
        )
        response = self.attempt("GET", f"/api/v1{path}", self.log.project_key, None, (200, 410))
        if response and "/feed" in path:
            status, body = response
            self.cursor = f"&after={body['cursor'] if status == 200 else body['error']['cursor']}"
        elif response and response[0] != 200:
            raise RuntimeError(f"GET {path}: {response}")


class Operator(Client):
    """Sets the policy, cancels plans, and has persons erased."""

    def __init__(self, node, log, seed, pause_seconds, clock):
        super().__init__(node, log, seed, pause_seconds)
        self.clock = clock
        self.is_finishing = False
        # Whether everything is done or waits for the end of its grace, as seen in the last turn.
        self.is_settled = False
        # What to do once in this life of the server.
        self.cancels_plan = self.cancels_erasure = self.changes_policy = False

    def begin_life(self, wanted):
        self.cancels_plan = wanted == "retention: cancelled" or self.chance.random() < 0.1
        self.cancels_erasure = wanted == "erasure: cancelled" or self.chance.random() < 0.2
        self.changes_policy = self.chance.random() < 0.1

    def administer(self, method, path, body, accepted):
        return self.attempt(method, self.log.path(path), self.log.master_key, body, accepted)

    def turn(self):
        # None without a response.
        settled = [self.tend_retention(), self.tend_erasures()]
        self.is_settled = all(settled)

    def is_in_grace(self, plan):
        return seconds_of(plan["not_before"]) > self.clock.now() + 1

    def tend_retention(self):
        response = self.administer("GET", "/retention", None, (200,))
        if not response:
            return None
        shown = response[1]
        days = shown["policy"] and shown["policy"]["days"]
        if days is None or (self.changes_policy and days != DAYS[-1] and not self.is_finishing):
            self.changes_policy = False
            after = DAYS[0] if days is None else DAYS[DAYS.index(days) + 1]
            self.administer("PUT", "/retention", {"days": after}, (200,))
        elif shown["plan"] and self.cancels_plan and not self.is_finishing:
            self.cancels_plan = False
            # 409 where its grace has ended since.
            self.administer("POST", "/retention/cancel", {"plan": shown["plan"]["seq"]}, (200, 409))
        is_waiting = shown["plan"] is None or self.is_in_grace(shown["plan"])
        return is_waiting and all(removal["state"] == "done" for removal in shown["removals"])

    def tend_erasures(self):
        response = self.administer("GET", "/erasures", None, (200,))
        if not response:
            return None
        erasures = response[1]["erasures"]
        by_ticket = {erasure["ticket"]: erasure for erasure in erasures}
        open_persons = [person for person in self.log.persons if not person.is_done]
        self.chance.shuffle(open_persons)
        if len(open_persons) < OPEN_ERASURES and not self.is_finishing:
            self.add_person()
        for person in open_persons:
            self.tend(person, by_ticket.pop(person.ticket, None))
        for erasure in by_ticket.values():
            if erasure["state"] == "listed":
                # The response to its request was lost, and the person was requested again.
                self.administer("DELETE", f"/erasures/{erasure['id']}", None, (200, 404, 409))
        planned = sum(erasure["state"] == "planned" and self.is_in_grace(erasure) for erasure in erasures)
        others = [erasure for erasure in erasures if erasure["state"] not in ("planned", "done")]
        open_persons = [person for person in open_persons if not person.is_done]
        return not others and planned == len(open_persons)

    def add_person(self):
        person = Person(len(self.log.persons), random.Random(self.chance.random()))
        for first in range(0, PERSON_EVENTS, BATCH_EVENTS):
            keys = [f"{self.name_of_keys}-{person.number}-{number}" for number in range(first, first + BATCH_EVENTS)]
            person.size = self.store([person.event(key) for key in keys], lambda _: person)
        with self.log.lock:
            person.ids = {identifier for identifier, value in self.log.events.items() if value is person}
        self.log.persons.append(person)

    def tend(self, person, erasure):
        """The next step with a person. What a kill has cancelled is requested again."""
        state = erasure and erasure["state"]
        if state in (None, "cancelled"):
            person.attempt += 1
            # Its ticket is in the list of the next turn, unless the request came to nothing.
            self.administer("POST", "/erasures", person.request(), (201,))
        elif state == "done":
            is_complete = erasure["size"] >= person.size
            # Unless it was cancelled so often that retention had some of them first.
            is_young = received_at(min(person.ids)) > self.clock.now() - DAYS[-1] * 86_400
            if is_complete and is_young and erasure["events"] != len(person.ids):
                raise RuntimeError(f"{erasure} has not {len(person.ids)} events")
            person.is_done = is_complete
            person.attempt += not is_complete
        elif state == "listed":
            path = f"/erasures/{erasure['id']}"
            if erasure["size"] < person.size or (self.cancels_erasure and not self.is_finishing):
                self.cancels_erasure = False
                self.administer("DELETE", path, None, (200,))
            else:
                self.administer("POST", f"{path}/confirm", {"digest": erasure["digest"]}, (202,))
        elif state == "planned" and self.cancels_erasure and not self.is_finishing:
            self.cancels_erasure = False
            # 409 where the log has authorised it since.
            self.administer("DELETE", f"/erasures/{erasure['id']}", None, (200, 409))
