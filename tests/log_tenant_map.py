"""Computes the map of tenants from the events of a log, as an auditor does, with Python's standard library
and the content hashes of docs/vectors.

    python log_tenant_map.py http://127.0.0.1:8080 pk_live_…

Written from docs/ledger.md alone: recursive, from the leaves of all tenants.
"""

import base64
import hashlib
import hmac
import json
import pathlib
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "docs" / "vectors"))

from content_hash import content_hash  # noqa: E402

DEPTH = 64


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def get(path, **parameters):
    url = f"{sys.argv[1].rstrip('/')}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {sys.argv[2]}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def mth(leaves):
    """RFC 9162, section 2.1.1."""
    if not leaves:
        return sha256()
    if len(leaves) == 1:
        return leaves[0]
    k = 1 << ((len(leaves) - 1).bit_length() - 1)
    return sha256(b"\1", mth(leaves[:k]), mth(leaves[k:]))


def tag(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def node(key, depth, prefix, leaves):
    """The node at a position of the map, over leaves by their positions."""
    if not leaves:
        return tag(key, b"empty\n", bytes([depth]), prefix.to_bytes(8, "big"))
    if depth == DEPTH:
        return leaves[prefix]
    children = []
    for child in (prefix * 2, prefix * 2 + 1):
        below = {slot: leaf for slot, leaf in leaves.items() if slot >> (DEPTH - depth - 1) == child}
        children.append(node(key, depth + 1, child, below))
    return sha256(b"\1", *children)


shown = get("log/tenants")
key = base64.b64decode(shown["key"])
events, parameters = [], {}
while len(events) < shown["size"]:
    page = get("events/feed", limit=200, **parameters)
    events += page["events"]
    parameters = {"after": page["cursor"]}
tenants = {}
log_name = "/".join(shown["map"].split("\n")[0].removesuffix("/tenants").split("/")[-2:])
for event in events[: shown["size"]]:
    hashed = content_hash(event, bytes.fromhex(event["content_salt"]), log_name)
    tenants.setdefault(event["tenant_id"], []).append(sha256(b"\0", hashed))
leaves = {}
for tenant_id, log in tenants.items():
    label = sha256(b"audit tenant 1\n", tag(key, b"salt\n", tenant_id.encode()), tenant_id.encode())
    leaf = sha256(b"\0", label, len(log).to_bytes(8, "big"), mth(log))
    leaves[int.from_bytes(label[:8], "big")] = leaf
log, _, root, binding = shown["map"].split("\n\n")[0].split("\n")
assert log.endswith("/tenants"), log
assert base64.b64decode(binding) == tag(key, b"size\n", shown["size"].to_bytes(8, "big")), "the binding is that of another size"
assert base64.b64decode(root) == node(key, 0, 0, leaves), "the map is not that of the events"
print(f"{len(tenants)} tenants of {shown['size']} events")
