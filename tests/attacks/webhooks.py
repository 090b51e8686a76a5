"""Attacks with alerts and their deliveries."""

import asyncio
import itertools
import random
import socket
import ssl

import postgres
import scene as scenes
from attack import Attack, cycle, post

EVENTS_TARGET = "/api/v1/events"
WEBHOOKS_MAX = 20
RULES_MAX = 100
DNS_PORT = 53


def alert_rule(number, action_pattern="*"):
    """A rule that fires at every event."""
    return {
        "name": f"rule {number}",
        "action_pattern": action_pattern,
        "threshold": 1,
        "window_seconds": 60,
        "group_by": "actor_id",
        "severity": "low",
        "cooldown_seconds": 0,
    }


def create_rules(scene, party, project, rules):
    for rule in rules:
        scene.create(f"/api/v1/alerts/rules?project_id={project}", party.master_key, rule)


def create_webhooks(scene, project, urls):
    for url in urls:
        scene.create(f"/api/v1/alerts/webhooks?project_id={project}", scene.attacker.master_key, {"url": url})


class Receiving(Attack):
    """Attacks whose webhooks lead to a receiver in the first generator process."""

    needs_receivers = True
    extra_operations = ("delivery",)

    def prepare(self, scene):
        create_rules(scene, scene.victim, scene.victim.project_id, [alert_rule(0, "victim.alarmed")])
        scene.facts["ports"] = [postgres.free_port(), postgres.free_port()]
        return ""

    def urls(self, scene):
        ports = itertools.cycle(scene.facts["ports"])
        return [f"https://{scenes.ATTACKER_ADDRESS}:{next(ports)}/{number}" for number in range(WEBHOOKS_MAX)]

    @staticmethod
    async def receive(generator, port, respond, tls=True):
        """A receiver. `respond` is called with reader and writer of each connection."""
        context = None
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*generator.scene.certificate())

        # Of silent connections nothing else keeps the task, and it would be collected.
        tasks = set()

        async def accept(reader, writer):
            generator.count("delivery connected")
            tasks.add(asyncio.current_task())
            try:
                await respond(reader, writer)
            except (OSError, EOFError, asyncio.LimitOverrunError):
                pass
            finally:
                writer.close()

        await asyncio.start_server(accept, scenes.ATTACKER_ADDRESS, port, ssl=context)
        generator.ready()
        await asyncio.Event().wait()


class AlertStorm(Receiving):
    """Every event raises as many alerts as rules exist, and each alert as many deliveries as webhooks exist."""

    name = "alert-storm"
    before = "125 × 503"
    summary = "batches of 100 events, each of which fires 100 rules with 20 webhooks, 400 requests/s"

    def prepare(self, scene):
        super().prepare(scene)
        project = scene.attacker.project_id
        create_webhooks(scene, project, self.urls(scene))
        create_rules(scene, scene.attacker, project, [alert_rule(number) for number in range(RULES_MAX)])
        return ""

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        batch = scenes.encoded([scenes.event(number, actor=f"actor-{number}") for number in range(100)])
        clients = [self.at_rate(generator, [cycle([post(EVENTS_TARGET, key, batch)])])]
        if generator.number == 0:
            clients += [self.receive(generator, port, self.accept) for port in generator.scene.facts["ports"]]
        return clients

    @staticmethod
    async def accept(reader, writer):
        """Responds to every delivery."""
        while True:
            text = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in text.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")


class AlertGroups(Attack):
    """Rules that never fire, with a group for each event: each event changes as many states as rules exist."""

    name = "alert-groups"
    before = "writes 411 ms"
    summary = "batches of 100 events of actors that never come again, with 100 rules that never fire, 400 requests/s"
    needed_outcomes = ("201",)

    def prepare(self, scene):
        rules = [{**alert_rule(number), "threshold": 1_000} for number in range(RULES_MAX)]
        create_rules(scene, scene.attacker, scene.attacker.project_id, rules)
        return ""

    def clients(self, generator):
        return [self.at_rate(generator, [self.events(generator.scene.attacker.project_key)])]

    @staticmethod
    def events(key):
        while True:
            batch = [scenes.event(number, actor=random.randbytes(8).hex()) for number in range(100)]
            yield post(EVENTS_TARGET, key, scenes.encoded(batch))


class WebhookSink(Receiving):
    """Receivers that accept and never respond: one without TLS, one after the handshake."""

    name = "webhook-sink"
    before = "deliveries after 14.8 s"
    summary = "5 projects with 20 webhooks each to receivers that accept and never respond; 5 alerts/s in each project"
    is_busy = False
    PROJECTS = 5

    def prepare(self, scene):
        super().prepare(scene)
        scene.facts["keys"] = []
        for number in range(self.PROJECTS):
            project, key = scene.create_project(f"sink {number}")
            create_webhooks(scene, project, self.urls(scene))
            create_rules(scene, scene.attacker, project, [alert_rule(0)])
            scene.facts["keys"].append(key)
        return ""

    def clients(self, generator):
        keys = [generator.scene.facts["keys"][number] for number in generator.share(self.PROJECTS)]
        clients = [generator.repeat(self.events(key), interval=0.2) for key in keys]
        if generator.number == 0:
            silent, handshake = generator.scene.facts["ports"]
            clients += [
                self.receive(generator, silent, self.accept, tls=False),
                self.receive(generator, handshake, self.accept),
            ]
        return clients

    @staticmethod
    def events(key):
        for number in itertools.count():
            yield post(EVENTS_TARGET, key, scenes.encoded(scenes.event(number, actor=f"actor-{number}")))

    @staticmethod
    async def accept(_reader, _writer):
        await asyncio.Event().wait()


class WebhookNames(Receiving):
    """Receivers with names that are never resolved: the resolver does not respond."""

    name = "webhook-names"
    summary = "5 projects with 20 webhooks each to ever other names, whose resolver does not respond; 5 alerts/s in each project"
    is_busy = False
    needs_silent_resolver = True
    needed_outcomes = ("name asked for",)
    PROJECTS = 5

    def prepare(self, scene):
        super().prepare(scene)
        scene.facts["keys"] = []
        for number in range(self.PROJECTS):
            project, key = scene.create_project(f"names {number}")
            urls = [f"https://receiver-{number}-{webhook}.example.org/" for webhook in range(WEBHOOKS_MAX)]
            create_webhooks(scene, project, urls)
            create_rules(scene, scene.attacker, project, [alert_rule(0)])
            scene.facts["keys"].append(key)
        return ""

    def clients(self, generator):
        keys = [generator.scene.facts["keys"][number] for number in generator.share(self.PROJECTS)]
        clients = [generator.repeat(WebhookSink.events(key), interval=0.2) for key in keys]
        return clients + ([self.resolve(generator)] if generator.number == 0 else [])

    @staticmethod
    async def resolve(generator):
        """The resolver: it counts questions and does not respond."""
        loop = asyncio.get_running_loop()
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setblocking(False)
        opened.bind((scenes.ATTACKER_ADDRESS, DNS_PORT))
        generator.ready()
        while True:
            await loop.sock_recv(opened, 512)
            generator.count("name asked for")


ALL = [AlertStorm(), AlertGroups(), WebhookSink(), WebhookNames()]
