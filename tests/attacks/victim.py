"""The victim: a process that sends requests at a steady rate and measures each from the moment at which it was due."""

import asyncio
import itertools
import json
import ssl
import time
import uuid

import http_client
import scene as scenes
from figures import NO_RESPONSE, Figures

# Of writes, reads, feed and /healthz; of what is requested less often.
REQUESTS_PER_SECOND = 25
OCCASIONAL_REQUESTS_PER_SECOND = 8
# Deliveries and exports are slower than requests.
SLOW_REQUESTS_PER_SECOND = 4
# A client with more concurrent requests than this is not within its share.
CONCURRENT_MAX = 16
RESPONSE_SECONDS_MAX = 10
DELIVERY_SECONDS_MAX = 20
# Where latencies are not judged, a request without a response is one that gets none.
SMOKE_SECONDS_MAX = 300
LAG_INTERVAL_SECONDS = 0.005


class Client:
    """Persistent connections of the victim. A request takes an idle one, or opens another."""

    def __init__(self, scene):
        self.scene = scene
        self.idle = []

    async def send(self, message):
        """The response; (0, reason) without one."""
        connection = self.idle.pop() if self.idle else self.connection()
        try:
            response = await asyncio.wait_for(connection.send(message), self.limit(RESPONSE_SECONDS_MAX))
        except (http_client.NoResponse, asyncio.TimeoutError) as error:
            connection.close()
            return NO_RESPONSE, str(error).encode()
        self.idle.append(connection)
        return response

    def limit(self, seconds):
        return SMOKE_SECONDS_MAX if self.scene.is_smoke else seconds

    def connection(self):
        return http_client.Connection(self.scene.address, scenes.VICTIM_ADDRESS, self.scene.authority)


class Write(Client):
    """One event."""

    rate = REQUESTS_PER_SECOND
    numbers = itertools.count()
    extra = []

    async def once(self):
        body = scenes.encoded(scenes.event(next(self.numbers), idempotency_key=str(uuid.uuid4())))
        status, _ = await self.send(http_client.request("POST", "/api/v1/events", self.scene.victim.project_key, body, self.extra))
        return status


class Receipt(Write):
    """One event, whose response proves that it is in the signed log."""

    rate = OCCASIONAL_REQUESTS_PER_SECOND
    extra = ["Prefer: receipt"]


class Get(Client):
    """Targets in turn, with the project key."""

    rate = OCCASIONAL_REQUESTS_PER_SECOND
    targets = []

    def key(self):
        return self.scene.victim.project_key

    async def open(self):
        self.turn = itertools.cycle(self.targets)

    async def once(self):
        status, _ = await self.send(http_client.request("GET", next(self.turn), self.key()))
        return status


class Read(Get):
    """The newest events, and those of an actor."""

    rate = REQUESTS_PER_SECOND
    targets = ["/api/v1/events?limit=50", "/api/v1/events?actor_id=actor-7&limit=20"]


class OwnRead(Read):
    """As `Read`, with the project key of the attacked organization: its own viewers must not lock it out."""

    def key(self):
        return self.scene.attacker.project_key


class Search(Get):
    """Words of names."""

    targets = ["/api/v1/events?search=report&limit=20", "/api/v1/events?search=person+4*&limit=50"]


class Summary(Get):
    """Counts by day and by category."""

    targets = ["/api/v1/events/summary?interval=day", "/api/v1/events/summary?split=category&actor_id=actor-7"]


class Viewer(Get):
    """What the page for a customer's administrators requests."""

    targets = ["/portal", "/api/v1/events?limit=50", "/api/v1/events/summary?interval=day"]

    def key(self):
        return self.scene.victim.viewer_token


class Proof(Viewer):
    """Proofs of stored events."""

    async def open(self):
        status, body = await self.send(http_client.request("GET", "/api/v1/events?limit=50", self.key()))
        events = json.loads(body)["events"] if status == 200 else []
        # A proof of no event, where an attack already kept the list from being read.
        self.turn = itertools.cycle([f"/api/v1/events/{event['id']}/proof" for event in events] or ["/api/v1/events//proof"])


class Completeness(Viewer):
    """That the tenant has all of its events."""

    targets = ["/api/v1/log/completeness"]


class Feed(Client):
    """The next page of the feed, from its end if it has been reached."""

    rate = REQUESTS_PER_SECOND
    cursor = None

    async def once(self):
        after = f"&after={self.cursor}" if self.cursor else ""
        target = f"/api/v1/events/feed?limit=50{after}"
        status, body = await self.send(http_client.request("GET", target, self.scene.victim.project_key))
        if status == 200:
            self.cursor = json.loads(body)["cursor"]
        return status


class Healthz(Client):
    """Over a new connection each time, as load balancers do."""

    rate = REQUESTS_PER_SECOND

    async def once(self):
        status, _ = await self.send(http_client.request("GET", "/healthz", extra=["Connection: close"]))
        while self.idle:
            self.idle.pop().close()
        return status


class Export(Client):
    """An export with the project key of the attacked organization: its own viewers must not lock it out."""

    rate = SLOW_REQUESTS_PER_SECOND
    query = "search=number&actor_id=actor-7"

    async def once(self):
        target = f"/api/v1/events/export?{self.query}"
        status, _ = await self.send(http_client.request("GET", target, self.scene.attacker.project_key))
        return status


class Delivery(Client):
    """An event that raises an alert, until the alert arrives at a webhook that is new in each phase."""

    rate = SLOW_REQUESTS_PER_SECOND

    async def open(self):
        self.waiting = {}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.scene.certificate())
        self.receiver = await asyncio.start_server(self.receive, scenes.VICTIM_ADDRESS, 0, ssl=context)
        port = self.receiver.sockets[0].getsockname()[1]
        body = scenes.encoded({"url": f"https://{scenes.VICTIM_ADDRESS}:{port}/alerts"})
        message = http_client.request("POST", "/api/v1/alerts/webhooks", self.scene.victim.master_key, body)
        self.status, response = await self.send(message)
        self.webhook = json.loads(response)["webhook"]["id"] if self.status == 201 else None

    async def close(self):
        if self.webhook:
            target = f"/api/v1/alerts/webhooks/{self.webhook}"
            await self.send(http_client.request("DELETE", target, self.scene.victim.master_key))
        self.receiver.close()

    async def receive(self, reader, writer):
        try:
            while True:
                _, headers = http_client.parse_head(await reader.readuntil(b"\r\n\r\n"))
                message = json.loads(await reader.readexactly(int(headers["content-length"])))
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                delivered = self.waiting.pop(message["data"]["group_key"], None)
                if delivered and not delivered.done():
                    delivered.set_result(None)
        except (OSError, EOFError):
            writer.close()

    async def once(self):
        if not self.webhook:
            # The attack already kept it from being created.
            return self.status
        actor = str(uuid.uuid4())
        delivered = self.waiting[actor] = asyncio.get_running_loop().create_future()
        body = scenes.encoded(scenes.event(0, "victim.alarmed", actor))
        status, _ = await self.send(http_client.request("POST", "/api/v1/events", self.scene.victim.project_key, body))
        if status != 201:
            return status
        try:
            await asyncio.wait_for(delivered, self.limit(DELIVERY_SECONDS_MAX))
            return status
        except asyncio.TimeoutError:
            return NO_RESPONSE


KINDS = {
    "write": Write,
    "receipt": Receipt,
    "read": Read,
    "search": Search,
    "summary": Summary,
    "feed": Feed,
    "viewer": Viewer,
    "proof": Proof,
    "completeness": Completeness,
    "healthz": Healthz,
    "own read": OwnRead,
    "export": Export,
    "delivery": Delivery,
}


async def pace(operation, seconds, figures):
    """Calls an operation at its rate, however long the calls take, and waits for the last one."""
    loop = asyncio.get_running_loop()
    free = asyncio.Semaphore(CONCURRENT_MAX)
    begin = loop.time()

    async def call(due):
        async with free:
            status = await operation.once()
        figures.add(loop.time() - due, status)

    calls = []
    for number in range(max(1, int(seconds * operation.rate))):
        due = begin + number / operation.rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        calls.append(asyncio.create_task(call(due)))
    await asyncio.gather(*calls)


async def measure_lag(lags):
    """How late timers of this process are: what the machine itself adds to a latency."""
    while True:
        due = time.monotonic() + LAG_INTERVAL_SECONDS
        await asyncio.sleep(LAG_INTERVAL_SECONDS)
        lags.add(time.monotonic() - due, 0)


async def measure(scene, names, seconds):
    operations = {name: KINDS[name](scene) for name in names}
    for operation in operations.values():
        if hasattr(operation, "open"):
            await operation.open()
    results = {name: Figures(name) for name in names}
    lags = Figures("lag")
    lag = asyncio.create_task(measure_lag(lags))
    await asyncio.gather(*(pace(operation, seconds, results[name]) for name, operation in operations.items()))
    lag.cancel()
    for operation in operations.values():
        if hasattr(operation, "close"):
            await operation.close()
    return results, lags


def run(connection, scene, names, seconds):
    """The main function of the victim's process. Sends a dictionary of `Figures`, and those of its own lag."""
    connection.send(asyncio.run(measure(scene, names, seconds)))
