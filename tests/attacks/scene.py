"""What attacks and victim know of the server: addresses, credentials, and what was prepared."""

import dataclasses
import json
import os

import service

ATTACKER_ADDRESS = "127.0.0.2"
VICTIM_ADDRESS = "127.0.0.1"
TENANT = "acme"
# Events of 60 KB: that many fit into a request of 1 MiB.
LARGE_BATCH_EVENTS = 15
LARGE_TEXT_CHARS = 60_000


@dataclasses.dataclass
class Party:
    """An organization with one project."""

    master_key: str
    project_key: str
    project_id: str
    viewer_token: str = ""


@dataclasses.dataclass
class Scene:
    """One server, an organization that attacks and another one. Passed to the child processes."""

    address: tuple
    attacker: Party
    victim: Party
    folder: str
    # Source addresses of the attack.
    sources: list
    is_smoke: bool = False
    # The file with the certificate of the server's authority, where the server speaks TLS.
    authority: str = None
    # What the attack has prepared, by names of its own.
    facts: dict = dataclasses.field(default_factory=dict)

    def certificate(self):
        return os.path.join(self.folder, "receiver.pem"), os.path.join(self.folder, "receiver.key")

    def call(self, method, path, key, body=None):
        """Status and JSON of a response, for preparations. They have time."""
        connection = service.Connection(AddressOf(self.address, self.authority), timeout=60)
        status, response = connection.request(method, path, key, None if body is None else json.dumps(body))
        connection.close()
        return status, json.loads(response)

    def create(self, path, key, body):
        """The JSON of a response 201. Raises otherwise."""
        status, response = self.call("POST", path, key, body)
        if status != 201:
            raise RuntimeError(f"POST {path}: {status} {response}")
        return response

    def store(self, party, events, batch=100):
        """Stores events of a party."""
        for first in range(0, len(events), batch):
            self.create("/api/v1/events", party.project_key, events[first : first + batch])

    def create_viewer_token(self, party):
        body = {"tenant_id": TENANT, "tier": "full"}
        party.viewer_token = self.create("/api/v1/viewer-tokens", party.project_key, body)["token"]

    def create_project(self, name):
        """Id and key of another project of the attacker."""
        key = self.attacker.master_key
        project = self.create("/api/v1/projects", key, {"name": name})["project"]["id"]
        body = {"project_id": project, "type": "project", "name": name}
        return project, self.create("/api/v1/keys", key, body)["key"]

    def attempt_rule(self, body, project=None):
        """Creates a redaction rule of the attacker. Whether the server accepts it."""
        query = f"?project_id={project or self.attacker.project_id}"
        status, response = self.call("POST", f"/api/v1/redaction/rules{query}", self.attacker.master_key, body)
        if status not in (201, 400, 403):
            raise RuntimeError(f"redaction rule: {status} {response}")
        return status == 201


@dataclasses.dataclass
class AddressOf:
    """The part of a `service.Node` that a `service.Connection` needs."""

    address: tuple
    authority: str = None


def event(number, action="user.updated", actor=None, **fields):
    """A small event."""
    return {
        "action": action,
        "category": "mutation",
        "tenant_id": TENANT,
        "actor": {"id": actor or f"actor-{number % 50}", "type": "user", "name": f"Person {number % 50}"},
        "target": {"id": f"document-{number}", "type": "document", "name": f"Report number {number}"},
        "context": {"ip_address": "192.0.2.7", "user_agent": "attack/1"},
        "metadata": {"number": number, "text": "changed by the monthly import"},
        **fields,
    }


def large_event(number, text=None):
    """An event of some 60 KB."""
    return event(number, metadata={"text": text or ("lorem ipsum " * LARGE_TEXT_CHARS)[:LARGE_TEXT_CHARS]})


def encoded(value):
    return json.dumps(value, separators=(",", ":")).encode()
