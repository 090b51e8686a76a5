#!/usr/bin/env python3
"""Verifies that a tenant's events are complete: none was left out, added, changed or moved.

    python3 completeness.py completeness.json events.jsonl "$(cat key.txt)" [LOG TENANT]

completeness.json is a response of GET /log/completeness, events.jsonl the tenant's events in the order of the feed, one on each line. The
key is the deployment's, from another channel; LOG and TENANT are the log and the tenant that the document must be of. Of the events only
their content hashes are compared. Needs Python 3 and openssl, and no code of the service.
"""
import base64
import datetime
import hashlib
import json
import subprocess
import sys
import tempfile


def require(condition, reason):
    if not condition:
        sys.exit(f"REFUSED: {reason}")


def decoded(text):
    """From base64 as RFC 4648 has it, in its only form."""
    require(isinstance(text, str), "a hash is not a text")
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "a text has unused bits of base64")
    return data


def members(pairs):
    require(len(dict(pairs)) == len(pairs), "a member is there twice")
    return dict(pairs)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def verified(note, key):
    """The text of a note that the key has signed (C2SP signed-note)."""
    name, key_id, key = key.split("+", 2)
    key = decoded(key)
    require(len(key) == 33 and key[0] == 1, "the key is not an Ed25519 key")
    require(sha256(name.encode(), b"\n", key)[:4].hex() == key_id, "the key id is not that of the key")
    text, signatures = note.rsplit("\n\n", 1)
    lines = [line.split(" ") for line in signatures.rstrip("\n").split("\n")]
    lines = [decoded(line[2]) for line in lines if line[:2] == ["\u2014", name]]
    lines = [line for line in lines if line[:4].hex() == key_id]
    require(len(lines) == 1, "a note is not signed by the key")
    with tempfile.TemporaryDirectory() as folder:
        for file, data in [("text", f"{text}\n".encode()), ("signature", lines[0][4:]),
                           ("key", bytes.fromhex("302a300506032b6570032100") + key[1:])]:
            with open(f"{folder}/{file}", "wb") as out:
                out.write(data)
        openssl = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin",
                   "-in", "text", "-sigfile", "signature"]
        result = subprocess.run(openssl, cwd=folder, stdout=subprocess.DEVNULL)
        require(result.returncode == 0, "a signature is not valid")
    require(text.startswith(name + "/"), "a log is not one of the key's owner")
    return text.split("\n")


# How old an event is at most that a document may lack.
UNSIGNED_MAX = datetime.timedelta(seconds=60)


def time(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")


def received(event):
    """When the log received an event: the time of its claim, or else that of receipt."""
    return time(event.get("claimed_at", event["received_at"]))


def root_of(leaves, before=0, frontier=()):
    """The root of the tree (RFC 9162, section 2.1.1) of these leaves, and of as many before them whose complete subtrees are known."""
    sizes = [1 << bit for bit in reversed(range(before.bit_length())) if before >> bit & 1]
    require(len(sizes) == len(frontier), "the frontier of the removed events has another number of hashes")
    edge = list(zip(sizes, frontier))
    for node in leaves:
        size = 1
        while edge and edge[-1][0] == size:
            node, size = sha256(b"\1", edge.pop()[1], node), 2 * size
        edge.append((size, node))
    if not edge:
        return sha256()
    node = edge.pop()[1]
    while edge:
        node = sha256(b"\1", edge.pop()[1], node)
    return node


require(len(sys.argv) in (4, 6), "usage: completeness.py COMPLETENESS EVENTS KEY [LOG TENANT]")
with open(sys.argv[1], encoding="utf-8") as file:
    proof = json.load(file, object_pairs_hook=members)
with open(sys.argv[2], encoding="utf-8") as file:
    events = [json.loads(line, object_pairs_hook=members) for line in file if line.strip()]
key, expected = sys.argv[3].strip(), sys.argv[4:]

# The map of all tenants: which log, when it was signed, its root.
head = verified(proof["map"], key)
require(head[0].endswith("/tenants"), "the note is not that of a map of tenants")
signed_at, map_root = head[1], decoded(head[2])
require(not expected or head[0] == expected[0] + "/tenants", "it is of another log")

# The label of the tenant, which names its log.
tenant_id = proof["tenant_id"]
require(not expected or tenant_id == expected[1], "it is of another tenant")
label = sha256(b"audit tenant 1\n", decoded(proof["salt"]), tenant_id.encode())
if "checkpoint" in proof:
    log, size, root = verified(proof["checkpoint"], key)
    require(log == f"{head[0]}/{label.hex()}", "the checkpoint is that of another tenant or log")
    require(len(head) == 4, "the map says that the tenant has no events")
    size, root = int(size), decoded(root)
    # The tenant's leaf leads to the root of the map.
    node, position = sha256(b"\0", label, size.to_bytes(8, "big"), root), int.from_bytes(label[:8], "big")
    require(len(proof["path"]) == 64, "the path does not have 64 hashes")
    for sibling in proof["path"]:
        sibling = decoded(sibling)
        node = sha256(b"\1", sibling, node) if position % 2 else sha256(b"\1", node, sibling)
        position //= 2
    require(node == map_root, "the tenant's log is not in the map")
else:
    require(head[4:] == [f"empty {label.hex()}"], "the map does not say that the tenant has no events")
    size, root = 0, root_of([])

# The removed events, as the server states them: the tree over the first ones, and leaves behind it.
removed = proof.get("removed") or {"events": 0, "prefix": 0, "frontier": [], "leaves": []}
prefix, gone = removed["prefix"], {leaf["index"]: decoded(leaf["hash"]) for leaf in removed["leaves"]}
require(removed["events"] == prefix + len(gone) <= size, "the number of removed events is another")
require(all(prefix <= index < size for index in gone), "a removed event is none of the tenant's")
there = size - removed["events"]

# The events: those behind the signed size are newer than the proof.
require(all(event["tenant_id"] == tenant_id for event in events), "an event is of another tenant")
require(len(events) >= there, f"the tenant has {size} events, and {len(events)} are here: {there - len(events)} left out")
late = [event for event in events[there:] if received(event) < time(signed_at) - UNSIGNED_MAX]
require(not late, "it lacks an event that the log received before it was signed")
own = iter([sha256(b"\0", bytes.fromhex(event["content_hash"].removeprefix("sha256:"))) for event in events[:there]])
leaves = [gone[index] if index in gone else next(own) for index in range(prefix, size)]
frontier = [decoded(hash) for hash in removed["frontier"]]
require(root_of(leaves, prefix, frontier) == root, "the events are not those of the tenant, or not in the order of the feed")
print(f"{size} events of the tenant {tenant_id} are complete at {signed_at} in the log {head[0].removesuffix('/tenants')}")
if removed["events"]:
    print(f"{removed['events']} of them were removed, as the server states")
