"""Attacks with connections: held, slow, many, or with heads that are too large."""

import uuid

import http_client
import scene as scenes
from attack import Attack, cycle, get

EVENTS_TARGET = "/api/v1/events"
KIB = 1024
# Small enough that a response fills it, and that the rest stays with the server.
RECEIVE_BUFFER_BYTES = 4 * KIB
LARGE_HEAD_BYTES = 120 * KIB


class IdleBodies(Attack):
    """Sockets that announce a body and send none of it."""

    is_busy = False

    def __init__(self, sender, sockets, body_bytes):
        size = "" if body_bytes == 16 * KIB else "-large"
        self.name = f"idle-bodies-{sender}{size}"
        self.sender = sender
        self.before = "all writes 503" if body_bytes == 16 * KIB else ""
        self.sockets = sockets
        self.body_bytes = body_bytes
        senders = {"anonymous": "without a credential", "credential": "with a project key", "stream": "to streams"}
        self.summary = f"{sockets} sockets announce bodies of {body_bytes // KIB} KiB {senders[sender]} and send none"

    def head(self, scene):
        target = f"/api/v1/streams/{uuid.uuid4()}/events" if self.sender == "stream" else EVENTS_TARGET
        key = scene.attacker.project_key if self.sender == "credential" else None
        return http_client.head("POST", target, key, self.body_bytes)

    def clients(self, generator):
        return [generator.hold([self.head(generator.scene)]) for _ in generator.share(self.sockets)]


class SlowBodies(Attack):
    """Bodies of one byte a second."""

    name = "slow-bodies"
    summary = "1,000 sockets send bodies of 16 KiB with one byte a second, with a project key"
    is_busy = False

    def clients(self, generator):
        message = http_client.head("POST", EVENTS_TARGET, generator.scene.attacker.project_key, 16 * KIB)
        return [generator.hold([message + b"["], trickle=b" ") for _ in generator.share(1_000)]


class SlowHeads(Attack):
    """Heads of one byte a second."""

    name = "slow-heads"
    summary = "1,000 sockets send a request head with one byte a second"
    is_busy = False

    def clients(self, generator):
        message = b"GET /api/v1/events HTTP/1.1\r\nHost: audit.test\r\nX-Padding: "
        return [generator.hold([message], trickle=b"a") for _ in generator.share(1_000)]


class StalledReaders(Attack):
    """Clients that request large responses and do not read them."""

    is_busy = False
    # Others of the organization are not locked out either.
    extra_operations = ("own read",)
    TARGETS = {
        "events": "/api/v1/events?limit=200",
        "feed": "/api/v1/events/feed?limit=200",
        "stream": "/api/v1/events/feed?limit=200",
        "export": "/api/v1/events/export",
    }

    def __init__(self, route):
        self.name = f"stalled-{route}"
        self.target = self.TARGETS[route]
        self.extra = ["Accept: text/event-stream"] if route == "stream" else []
        self.before = "1,644 MiB" if route == "events" else ""
        kind = " as server-sent events" if route == "stream" else ""
        self.summary = f"150 sockets of one viewer token request `{self.target}`{kind} over events of 60 KB and read nothing"

    def prepare(self, scene):
        events = [scenes.large_event(number) for number in range(210)]
        scene.store(scene.attacker, events, scenes.LARGE_BATCH_EVENTS)
        return ""

    def clients(self, generator):
        message = http_client.request("GET", self.target, generator.scene.attacker.viewer_token, None, self.extra)
        return [
            generator.hold([message], receive_buffer=RECEIVE_BUFFER_BYTES, reads=False) for _ in generator.share(150)
        ]


class Connections(Attack):
    """Idle connections."""

    name = "connections"
    summary = "2,000 idle sockets; half of them have sent a request"
    is_busy = False

    def clients(self, generator):
        request = get("/healthz")
        # Those that have sent a request do not read the response: the server must not depend on it.
        return [
            generator.hold([request] if number % 4 < 2 else [], reads=number % 4 >= 2)
            for number in generator.share(2_000)
        ]


class LargeHeads(Attack):
    """Heads of 120 KB: in the method, in the URL, in one header, in many headers."""

    name = "large-heads"
    summary = "heads of 120 KB: method, URL, one header, many headers, 400 requests/s"

    def clients(self, generator):
        large = "A" * LARGE_HEAD_BYTES
        key = generator.scene.attacker.project_key
        messages = [
            http_client.head(large, EVENTS_TARGET, key),
            http_client.head("GET", f"/{large}", key),
            http_client.head("GET", f"{EVENTS_TARGET}?search={large}", key),
            http_client.head("GET", EVENTS_TARGET, key, None, [f"X-Padding: {large}"]),
            http_client.head("GET", EVENTS_TARGET, large),
            http_client.head("GET", EVENTS_TARGET, key, None, [f"X-{n}: {'a' * 1000}" for n in range(120)]),
        ]
        return [self.at_rate(generator, [cycle(messages, generator.number)], is_new_connection=True)]


class HeldHeads(Attack):
    """Heads of 120 KB that do not end."""

    name = "large-heads-held"
    summary = "500 sockets send 120 KB of a head and not its end"
    is_busy = False

    def clients(self, generator):
        message = b"GET /api/v1/events HTTP/1.1\r\nHost: audit.test\r\nX-Padding: " + b"a" * LARGE_HEAD_BYTES
        return [generator.hold([message]) for _ in generator.share(500)]


ALL = [
    *(IdleBodies(sender, 768, 16 * KIB) for sender in ("anonymous", "credential", "stream")),
    *(IdleBodies(sender, 12, KIB * KIB) for sender in ("anonymous", "credential", "stream")),
    SlowBodies(),
    SlowHeads(),
    *(StalledReaders(route) for route in StalledReaders.TARGETS),
    Connections(),
    LargeHeads(),
    HeldHeads(),
]
