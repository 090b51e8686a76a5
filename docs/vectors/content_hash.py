"""The content hash of an event, from the definition in docs/ledger.md, with Python's standard library alone."""

import hashlib
import json

# The fields of each part, in the order in which they are hashed, by the name of the part.
PARTS = {
    "kind": ["action", "actor.type", "category", "target.type", "outcome"],
    "actor.email": ["actor.email"],
    "actor.id": ["actor.id"],
    "actor.name": ["actor.name", "actor.on_behalf_of"],
    "changes": ["changes"],
    "network": ["context.ip_address", "context.location"],
    "client": ["context.session_id", "context.user_agent"],
    "idempotency_key": ["idempotency_key"],
    "metadata": ["metadata"],
    "target.id": ["target.id"],
    "target.name": ["target.name", "targets"],
}
OPEN = ["id", "occurred_at", "received_at", "tenant_id", "claimed_at"]
# Fields that have a line only where the event has them.
APPENDED = {"claimed_at", "outcome", "actor.on_behalf_of", "targets"}


def sha256(*pieces):
    return hashlib.sha256(b"".join(pieces)).digest()


def canonical(value):
    """RFC 8785, except for fractions and exponents, which Python writes in another way."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(item) for name, item in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def values(event, paths):
    """The canonical JSON of some fields, one per line. Where the event does not have the field, the line is empty, or left out if
    the field is appended."""

    def value(path):
        found = event
        for step in path.split("."):
            if not isinstance(found, dict) or step not in found:
                return None if path in APPENDED else ""
            found = found[step]
        return canonical(found)

    return "\n".join(line for line in map(value, paths) if line is not None).encode()


def salts(content_salt):
    """The salt of each part, by its name."""
    halves = []
    for number in range((len(PARTS) + 1) // 2):
        digest = sha256(b"\4", content_salt, bytes([number]))
        halves += [digest[:16], digest[16:]]
    return dict(zip(PARTS, halves))


def part_hash(event, name, salt):
    number = list(PARTS).index(name)
    return sha256(b"\2", salt, bytes([number]), values(event, PARTS[name]))


def content_hash(event, content_salt, log):
    """Of an event that the reader sees as a whole. `log` is "<project id>/<environment>"."""
    hashes = [part_hash(event, name, salt) for name, salt in salts(content_salt).items()]
    return sha256(b"\3", log.encode(), b"\n", *hashes, values(event, OPEN))


def content_hash_of_parts(event, parts, log):
    """Of an event of which the reader sees some parts: `parts` has a salt for each of them, and the hash of each other part."""
    assert list(sorted(parts)) == sorted(PARTS)
    hashes = []
    for name in PARTS:
        proof = {kind: bytes.fromhex(text) for kind, text in parts[name].items()}
        assert list(proof) in (["salt"], ["hash"])
        hashes.append(proof["hash"] if "hash" in proof else part_hash(event, name, proof["salt"]))
    return sha256(b"\3", log.encode(), b"\n", *hashes, values(event, OPEN))


def log_of(checkpoint):
    """The log of a checkpoint, as content hashes name it: what follows the name of the deployment in its first line, without
    the tenant whose log it is."""
    origin = checkpoint.split("\n")[0].split("/tenants/")[0]
    return "/".join(origin.split("/")[-2:])
