"""Attacks with the verifiable log: proofs are computed when they are requested."""

import itertools
import random

import http_client
import scene as scenes
from attack import Attack, get, post
from reads import store_many

EVENTS_TARGET = "/api/v1/events"


class ProofStorm(Attack):
    """Proofs, receipts and completeness, while events of new tenants keep the map of tenants behind."""

    name = "proof-storm"
    before = "68 × 500"
    summary = "proofs, receipts, tiles and completeness, 400 requests/s, while 4 clients store batches of events of 100 new tenants"
    needed_outcomes = ("200",)

    def prepare(self, scene):
        store_many(scene)
        _, page = scene.call("GET", f"{EVENTS_TARGET}?limit=200", scene.attacker.viewer_token)
        scene.facts["ids"] = [event["id"] for event in page["events"]]
        _, tenants = scene.call("GET", "/api/v1/log/tenants", scene.attacker.project_key)
        scene.facts["size"] = tenants["size"]
        return ""

    def clients(self, generator):
        scene = generator.scene
        return [
            self.at_rate(generator, [self.proofs(scene)]),
            *(generator.repeat(self.events(scene, number)) for number in generator.share(4)),
        ]

    @staticmethod
    def proofs(scene):
        attacker, size = scene.attacker, scene.facts["size"]
        viewer, project = attacker.viewer_token, attacker.project_key
        while True:
            identifier = random.choice(scene.facts["ids"])
            first = random.randrange(1, size)
            yield get("/api/v1/log/completeness", viewer)
            yield get(f"{EVENTS_TARGET}/{identifier}/proof", viewer)
            yield get(f"{EVENTS_TARGET}/{identifier}/receipt", viewer)
            yield get(f"/api/v1/log/consistency?from={first}&to={size}", project)
            yield get("/api/v1/log/tenants", project)
            yield get("/api/v1/tenants?limit=100", project)
            yield get(f"/api/v1/log/tile/0/{random.randrange(size // 256)}", project)

    @staticmethod
    def events(scene, client):
        for number in itertools.count():
            batch = [{**scenes.event(n), "tenant_id": f"tenant-{client}-{number}-{n}"} for n in range(100)]
            yield post(EVENTS_TARGET, scene.attacker.project_key, scenes.encoded(batch))


class ReceiptStorm(Attack):
    """Events whose response waits for a signed log."""

    name = "receipt-storm"
    summary = "batches of 100 events whose response has receipts (`Prefer: receipt`), 400 requests/s"
    needed_outcomes = ("201",)

    def clients(self, generator):
        key = generator.scene.attacker.project_key
        batch = scenes.encoded([scenes.event(number) for number in range(100)])
        message = http_client.request("POST", EVENTS_TARGET, key, batch, ["Prefer: receipt"])
        return [self.at_rate(generator, [itertools.repeat(message)])]


ALL = [ProofStorm(), ReceiptStorm()]
