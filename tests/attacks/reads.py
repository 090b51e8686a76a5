"""Attacks with reads: queries, the feed and exports, all with one viewer token."""

import asyncio
import json
import time

import http_client
import scene as scenes
from attack import Attack, cycle, get, post
from generator import RESPONSE_SECONDS_MAX, RETRY_SECONDS

STORED_EVENTS = 30_000


def store_many(scene):
    """Events of many actors, targets and words, over a year."""
    begin = time.time() - 360 * 86_400
    events = []
    for number in range(STORED_EVENTS if not scene.is_smoke else 3_000):
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin + number * 1_000))
        actor = f"actor-{number % 997}"
        events.append(scenes.event(number, f"area{number % 13}.item{number % 89}.updated", actor, occurred_at=moment))
    scene.store(scene.attacker, events)


class QueryStorm(Attack):
    """Expensive queries."""

    name = "query-storm"
    summary = f"one viewer token: searches and date ranges, 400 requests/s, and 8 readers of deep pages, over {STORED_EVENTS:,} events"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        store_many(scene)
        return ""

    def clients(self, generator):
        queries = [
            "search=a*+r*&limit=200",
            "search=report+number+number+person&limit=200",
            "search=number+absent",
            "start_date=2020-01-01T00:00:00Z&end_date=2040-01-01T00:00:00Z&search=person&limit=200",
            "action=area1*&target_type=document&actor_type=user&category=mutation&limit=200",
            "actor_id=absent&category=mutation&target_type=document",
            "end_date=2020-01-01T00:00:00Z&search=r*",
            "ip_address=::/0",
            "search=0*&search_in=ids",
            f"search=%22{'+'.join('a' * 16)}%22&search_in=metadata",
        ]
        token = generator.scene.attacker.viewer_token
        messages = [get(f"/api/v1/events?{query}", token) for query in queries]
        return [
            *(pages(generator, token) for _ in generator.share(8)),
            self.at_rate(generator, [cycle(messages, generator.number)]),
        ]


class SummaryStorm(Attack):
    """Expensive summaries."""

    name = "summary-storm"
    summary = f"one viewer token: summaries by day, week and month over {STORED_EVENTS:,} events, 400 requests/s"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        store_many(scene)
        return ""

    def clients(self, generator):
        queries = [
            "split=category",
            "interval=day&split=category&search=a*+r*",
            "start_date=2020-01-01T00:00:00Z&end_date=2040-01-01T00:00:00Z&interval=week&search=person",
            "action=area1*&target_type=document&actor_type=user&split=category",
            "action=a*&split=category",
            "actor_id=absent&interval=month",
            f"search={'x' * 64}",
        ]
        token = generator.scene.attacker.viewer_token
        messages = [get(f"/api/v1/events/summary?{query}", token) for query in queries]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


async def pages(generator, token):
    """Pages from the newest event to the oldest, again and again."""
    connection = generator.connection()
    cursor = ""
    is_first = True
    while True:
        message = get(f"/api/v1/events?category=mutation&limit=200{cursor}", token)
        try:
            status, body = await asyncio.wait_for(connection.send(message), RESPONSE_SECONDS_MAX)
            generator.count(status)
            following = json.loads(body)["cursor"] if status == 200 else None
            cursor = f"&cursor={following}" if following else ""
        except (http_client.NoResponse, asyncio.TimeoutError) as error:
            connection.close()
            generator.count(str(error).partition(":")[0] or "timeout")
            await asyncio.sleep(RETRY_SECONDS)
        if is_first:
            is_first = False
            generator.ready()


class FeedStorm(Attack):
    """Readers of the feed while events are stored."""

    name = "feed-storm"
    summary = "100 streams and 100 long polls of one viewer token, from the oldest event, while 4 clients store events"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        scene.store(scene.attacker, [scenes.event(number) for number in range(2_000)])
        return ""

    def clients(self, generator):
        attacker = generator.scene.attacker
        return [
            *(self.follow(generator, attacker.viewer_token) for _ in generator.share(100)),
            *(self.poll(generator, attacker.viewer_token) for _ in generator.share(100)),
            *(
                generator.repeat(cycle([post("/api/v1/events", attacker.project_key, body)]))
                for body in [scenes.encoded(scenes.event(7))]
                for _ in generator.share(4)
            ),
        ]

    @staticmethod
    async def follow(generator, token):
        """Server-sent events, all read."""
        accept = ["Accept: text/event-stream"]
        message = http_client.request("GET", "/api/v1/events/feed?limit=200", token, None, accept)
        is_first = True
        while True:
            try:
                opened = await generator.socket()
            except (OSError, asyncio.TimeoutError) as error:
                generator.count(type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            try:
                await opened.send(message)
                data = await opened.receive(4096)
                generator.count(data[9:12].decode("latin-1") if data else "closed")
                if is_first:
                    is_first = False
                    generator.ready()
                while data:
                    data = await opened.receive(1 << 18)
            except OSError as error:
                generator.count(type(error).__name__)
            finally:
                opened.close()
            await asyncio.sleep(RETRY_SECONDS)

    @staticmethod
    async def poll(generator, token):
        """Long polls from the last cursor."""
        connection = generator.connection()
        after = ""
        generator.ready()
        while True:
            message = get(f"/api/v1/events/feed?limit=200&wait=60{after}", token)
            try:
                status, body = await asyncio.wait_for(connection.send(message), 2 * RESPONSE_SECONDS_MAX)
                generator.count(status)
                if status == 200:
                    after = f"&after={json.loads(body)['cursor']}"
            except (http_client.NoResponse, asyncio.TimeoutError) as error:
                connection.close()
                generator.count(str(error).partition(":")[0] or "timeout")
                await asyncio.sleep(RETRY_SECONDS)


class ExportStorm(Attack):
    """Exports, as many as the server allows. The key of the same project must still export."""

    name = "export-storm"
    before = "no export for the own key"
    summary = f"one viewer token exports {STORED_EVENTS:,} events, 400 requests/s; 4 clients do not read"
    # Its share is taken: an export that lasts longer than the attack has no other outcome.
    needed_outcomes = ("503",)
    extra_operations = ("export",)

    def prepare(self, scene):
        store_many(scene)
        return ""

    def clients(self, generator):
        token = generator.scene.attacker.viewer_token
        messages = [get(f"/api/v1/events/export?format={name}", token) for name in ("jsonl", "csv")]
        return [
            *(generator.hold([messages[0]], receive_buffer=4096, reads=False) for _ in generator.share(4)),
            self.at_rate(generator, [cycle(messages, generator.number)], is_new_connection=True),
        ]


def place_holds(scene):
    query = f"?project_id={scene.attacker.project_id}&environment=live"
    for number in range(100):
        hold = {"reason": "an attack", "actor_id": f"actor-{number}"}
        scene.create(f"/api/v1/holds{query}", scene.attacker.master_key, hold)


class RetentionPreview(Attack):
    """Previews of retention, which count the events that each of many holds keeps."""

    name = "retention-preview"
    summary = f"a master key: previews of retention over {STORED_EVENTS:,} events with 100 holds, 400 requests/s"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        store_many(scene)
        place_holds(scene)
        return ""

    def clients(self, generator):
        attacker = generator.scene.attacker
        query = f"project_id={attacker.project_id}&environment=live"
        messages = [
            get(f"/api/v1/retention/preview?days={days}&{query}", attacker.master_key) for days in (93, 365, 2190)
        ]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


class Reports(Attack):
    """Reports for auditors, which have each hold."""

    name = "reports"
    summary = "a project key: reports of a log with 100 holds, as JSON and as documents, 400 requests/s"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        place_holds(scene)
        return ""

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        messages = [get(f"/api/v1/log/report?format={name}", key) for name in ("json", "html")]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


ALL = [QueryStorm(), SummaryStorm(), FeedStorm(), ExportStorm(), RetentionPreview(), Reports()]
