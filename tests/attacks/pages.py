"""Attacks with what is small by itself: pages, lists, tokens, settings, lines of the log."""

import gzip
import itertools
import os

import http_client
import scene as scenes
import webhooks
from attack import Attack, cycle, get, post

KEYS = 64
# Of bodies that inflate to 64 MiB.
BOMB_BYTES = 64 * 1024 * 1024
BOMB = gzip.compress(b"[" + b" " * BOMB_BYTES + b"]", 9)


class ManyKeys(Attack):
    """As many keys of one organization as clients: they have its share, and not one each."""

    name = "many-keys"
    summary = f"batches of 100 events and searches with {KEYS} project keys of one organization, 400 requests/s"
    needed_outcomes = ("201", "200")

    def prepare(self, scene):
        attacker = scene.attacker
        scene.store(attacker, [scenes.event(number) for number in range(2_000)])
        body = {"project_id": attacker.project_id, "type": "project"}
        scene.facts["keys"] = [
            scene.create("/api/v1/keys", attacker.master_key, {**body, "name": f"key {number}"})["key"]
            for number in range(KEYS)
        ]
        return ""

    def clients(self, generator):
        batch = scenes.encoded([scenes.event(number) for number in range(100)])
        keys = [generator.scene.facts["keys"][number] for number in generator.share(KEYS)]
        messages = [message for key in keys for message in (post("/api/v1/events", key, batch), get("/api/v1/events?search=report*", key))]
        return [self.at_rate(generator, [cycle(messages)])]


class AlertPages(Attack):
    """Pages of alerts and of deliveries, and lists."""

    name = "alert-pages"
    summary = "pages of 100 alerts and deliveries, and the lists of keys, rules, webhooks, tiers and projects, 400 requests/s"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        party = scene.attacker
        # Nobody listens there: each delivery fails and stays in the pages.
        url = f"https://{scenes.ATTACKER_ADDRESS}:9/alerts"
        query = f"?project_id={party.project_id}"
        created = scene.create(f"/api/v1/alerts/webhooks{query}", party.master_key, {"url": url})
        scene.facts["webhook"] = created["webhook"]["id"]
        webhooks.create_rules(scene, party, party.project_id, [webhooks.alert_rule(number) for number in range(90)])
        for number in range(90):
            rule = {"type": "pattern", "name": f"rule {number}", "pattern": f"secret{number}"}
            scene.attempt_rule(rule)
        scene.store(party, [scenes.event(number, actor=f"actor-{number}") for number in range(100)])
        return ""

    def clients(self, generator):
        party, webhook = generator.scene.attacker, generator.scene.facts["webhook"]
        query = f"project_id={party.project_id}"
        targets = [
            f"/api/v1/alerts?{query}&limit=100",
            f"/api/v1/alerts/webhooks/{webhook}/deliveries?{query}&limit=100",
            f"/api/v1/alerts/rules?{query}",
            f"/api/v1/alerts/webhooks?{query}",
            f"/api/v1/redaction/rules?{query}",
            f"/api/v1/viewer-tiers?{query}",
            "/api/v1/keys",
            "/api/v1/master-keys",
            "/api/v1/projects",
        ]
        messages = [get(target, party.master_key) for target in targets]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


class TokenMinting(Attack):
    """Viewer tokens at full speed, each of which is an event of the service."""

    name = "token-minting"
    summary = "viewer tokens of ever other tenants, and one page with each, 400 requests/s"
    needed_outcomes = ("201",)

    def clients(self, generator):
        return [self.at_rate(generator, [self.messages(generator, number) for number in generator.share(64)])]

    @staticmethod
    def messages(generator, client):
        scene = generator.scene
        for number in itertools.count():
            body = scenes.encoded({"tenant_id": f"tenant-{client}-{number}", "tier": "full", "expires_in": 60})
            yield post("/api/v1/viewer-tokens", scene.attacker.project_key, body)
            yield get("/api/v1/events?limit=1", scene.attacker.viewer_token)


class OwnEvents(Attack):
    """Settings that change all the time: each change is an event of the service."""

    name = "own-events"
    summary = "changes of an alert rule, a tier and a webhook of one project, 400 requests/s"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        party = scene.attacker
        query = f"?project_id={party.project_id}"
        rule = scene.create(f"/api/v1/alerts/rules{query}", party.master_key, webhooks.alert_rule(0, "never.*"))
        url = f"https://{scenes.ATTACKER_ADDRESS}:9/alerts"
        webhook = scene.create(f"/api/v1/alerts/webhooks{query}", party.master_key, {"url": url})
        scene.create(f"/api/v1/viewer-tiers{query}", party.master_key, {"name": "churn"})
        scene.facts["rule"], scene.facts["webhook"] = rule["rule"]["id"], webhook["webhook"]["id"]
        return ""

    def clients(self, generator):
        return [self.at_rate(generator, [self.messages(generator.scene, number) for number in generator.share(32)])]

    @staticmethod
    def messages(scene, client):
        key, query = scene.attacker.master_key, f"?project_id={scene.attacker.project_id}"
        for number in itertools.count(client):
            changes = [
                (f"/api/v1/alerts/rules/{scene.facts['rule']}", {"threshold": 1 + number % 1_000}),
                (f"/api/v1/alerts/webhooks/{scene.facts['webhook']}", {"enabled": number % 2 == 0}),
                ("/api/v1/viewer-tiers/churn", {"hidden_fields": ["metadata"] if number % 2 else ["context"]}),
            ]
            for target, change in changes:
                yield http_client.request("PATCH", f"{target}{query}", key, scenes.encoded(change))


class LogLines(Attack):
    """Requests whose lines in the log are as long and as strange as possible."""

    name = "log-lines"
    summary = "long paths, methods and queries with control characters, 400 requests/s, with the access log on"

    def settings(self, folder):
        return {"RUST_LOG": "info"}

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        strange = "%1b%5B2J%0A%E2%80%AE" * 400
        messages = [
            get(f"/{strange}"),
            get(f"/api/v1/events?search={strange}", key),
            http_client.head("X" * 8_000, "/api/v1/events", key),
            http_client.head("GET", "/api/v1/events?limit=1", key, None, [f"User-Agent: {'a' * 8_000}"]),
            get("/healthz"),
        ]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


class GzipBombs(Attack):
    """Small bodies that inflate to large ones."""

    name = "gzip-bombs"
    summary = "bodies of 64 KiB that inflate to 64 MiB, of members without number, or that end early, as gzip, 400 requests/s"
    needed_outcomes = ("413", "400")

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        event = gzip.compress(scenes.encoded(scenes.event(1)))
        bodies = [BOMB, BOMB[: len(BOMB) // 2], event[:-9], gzip.compress(b"") * 10_000, event]
        headers = ["Content-Encoding: gzip"]
        messages = [http_client.request("POST", "/api/v1/events", key, body, headers) for body in bodies]
        # Without a credential nothing is inflated.
        messages.append(http_client.request("POST", "/api/v1/events", None, BOMB, headers))
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


class StaticPages(Attack):
    """Pages and documents: whole, compressed, HEAD, and conditional requests."""

    name = "static-pages"
    summary = "the pages, `/docs` and the OpenAPI document: whole, as gzip, with HEAD and with long lists of tags, 1,000 requests/s"
    per_second = 1_000
    needed_outcomes = ("200",)

    def clients(self, generator):
        tags = ", ".join(f'"{number:032x}"' for number in range(200))
        messages = []
        for target in ("/", "/console", "/portal", "/viewer.js", "/docs", "/docs/scalar.js", "/api/v1/openapi.json"):
            messages += [
                get(target),
                http_client.request("GET", target, None, None, ["Accept-Encoding: gzip"]),
                http_client.request("GET", target, None, None, [f"If-None-Match: {tags}"]),
            ]
        return [
            self.at_rate(generator, [cycle(messages, generator.number)]),
            *(generator.hold([http_client.head("HEAD", "/docs")]) for _ in generator.share(16)),
        ]


class FloodBackup(Attack):
    """Events at full speed while the database is copied all the time."""

    name = "flood-backup"
    summary = "batches of 100 events, 400 requests/s, while a backup begins every second"
    needed_outcomes = ("201",)
    # A server makes backups of SQLite alone.
    databases = ("sqlite",)

    def settings(self, folder):
        directory = os.path.join(folder, "backups")
        os.makedirs(directory, mode=0o700, exist_ok=True)
        return {"AUDIT_BACKUP_DIRECTORY": directory, "AUDIT_BACKUP_EVERY": "1s", "AUDIT_BACKUP_KEEP": "2"}

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        batch = scenes.encoded([scenes.event(number) for number in range(100)])
        return [self.at_rate(generator, [cycle([post("/api/v1/events", key, batch)])])]


ALL = [
    ManyKeys(),
    AlertPages(),
    TokenMinting(),
    OwnEvents(),
    LogLines(),
    GzipBombs(),
    StaticPages(),
    FloodBackup(),
]
