#!/usr/bin/env python3
"""Recomputes the test vectors beside it from the definitions in the RFCs, with Python's standard library alone.

A second implementation, made to be read: slow, recursive, and without a line in common with the service.
"""
import base64
import hashlib
import hmac
import json
import pathlib
import sys

from content_hash import canonical, content_hash, content_hash_of_parts, log_of

HERE = pathlib.Path(__file__).parent


def sha256(data):
    return hashlib.sha256(data).digest()


# RFC 9162, 2.1.1 to 2.1.4.


def split(n):
    """The largest power of two smaller than n."""
    return 1 << ((n - 1).bit_length() - 1)


def mth(data):
    if not data:
        return sha256(b"")
    if len(data) == 1:
        return sha256(b"\x00" + data[0])
    k = split(len(data))
    return sha256(b"\x01" + mth(data[:k]) + mth(data[k:]))


def path(m, data):
    if len(data) == 1:
        return []
    k = split(len(data))
    if m < k:
        return path(m, data[:k]) + [mth(data[k:])]
    return path(m - k, data[k:]) + [mth(data[:k])]


def proof(m, data):
    return subproof(m, data, True) if m else []


def subproof(m, data, whole):
    if m == len(data):
        return [] if whole else [mth(data)]
    k = split(len(data))
    if m <= k:
        return subproof(m, data[:k], whole) + [mth(data[k:])]
    return subproof(m - k, data[k:], False) + [mth(data[:k])]


# C2SP tlog-tiles.


def tile_path(level, index, width):
    groups = ["%03d" % (index % 1000)]
    while index >= 1000:
        index //= 1000
        groups.insert(0, "x%03d" % (index % 1000))
    return "tile/%d/%s%s" % (level, "/".join(groups), "" if width == 256 else ".p/%d" % width)


def tiles(size):
    """The number of full tiles at each level, and the paths of the partial ones."""
    full, partial, level = [], [], 0
    while size >> (8 * level):
        count = size >> (8 * level)
        full.append(count // 256)
        if count % 256:
            partial.append(tile_path(level, count // 256, count % 256))
        level += 1
    return {"size": size, "full": full, "partial": partial}


def tile(level, index, width, data):
    span = 256**level
    first = index * 256
    return b"".join(mth(data[i * span : (i + 1) * span]) for i in range(first, first + width))


# C2SP signed-note and tlog-checkpoint; Ed25519 as in RFC 8032, 5.1.7.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def decompress(text):
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if x * x % P != x2:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert y < P and x * x % P == x2 and not (x == 0 and sign)
    if x & 1 != sign:
        x = P - x
    return x, y


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P
    return x, y


def times(scalar, point):
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signature(public_key, message, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(r + public_key + message).digest(), "little") % ORDER
    return s < ORDER and times(s, BASE) == add(decompress(r), times(k, decompress(public_key)))


def vkey(name, public_key):
    typed = b"\x01" + public_key
    key_id = sha256(name.encode() + b"\n" + typed)[:4]
    return "%s+%s+%s" % (name, key_id.hex(), base64.b64encode(typed).decode())


def open_note(note, key):
    """The text of a note signed with the key alone."""
    name, key_id, typed = key.split("+", 2)
    public_key = base64.b64decode(typed)[1:]
    assert vkey(name, public_key) == key
    text, line = note.rsplit("\n\n", 1)
    text += "\n"
    signature = base64.b64decode(line.removeprefix("\u2014 " + name + " ").removesuffix("\n"))
    assert signature[:4].hex() == key_id and len(signature) == 4 + 64
    assert is_signature(public_key, text.encode(), signature[4:])
    return text


def open_checkpoint(note, key):
    """Origin, size and root of a checkpoint."""
    origin, size, root = open_note(note, key).split("\n")[:3]
    return origin, int(size), base64.b64decode(root)


# The maps of tenants, as docs/ledger.md has them.


def tag(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def map_node(key, depth, prefix, leaves):
    """The node at a position of the map, over leaves by their positions."""
    if not leaves:
        return tag(key, b"empty\n", bytes([depth]), prefix.to_bytes(8, "big"))
    if depth == 64:
        return leaves[prefix]
    children = []
    for child in (prefix * 2, prefix * 2 + 1):
        below = {slot: leaf for slot, leaf in leaves.items() if slot >> (63 - depth) == child}
        children.append(map_node(key, depth + 1, child, below))
    return sha256(b"\x01" + b"".join(children))


def tenant_map(secret, log, events):
    """Root and binding of the map over events, each with its tenant."""
    key, tenants, leaves = tag(secret, b"audit tenant map 1\n", log.encode()), {}, {}
    for tenant_id, data in events:
        tenants.setdefault(tenant_id, []).append(data)
    for tenant_id, data in tenants.items():
        label = sha256(b"audit tenant 1\n" + tag(key, b"salt\n", tenant_id.encode()) + tenant_id.encode())
        leaf = sha256(b"\x00" + label + len(data).to_bytes(8, "big") + mth(data))
        leaves[int.from_bytes(label[:8], "big")] = leaf
    return map_node(key, 0, 0, leaves), tag(key, b"size\n", len(events).to_bytes(8, "big"))


FIELDS = ["deployment", "number", "due", "time", "every", "previous"]


def counted(name, lines):
    """The lines behind the one that has their number, by log; takes all of them from the list."""
    field, count = lines.pop(0).split(" ")
    assert field == name
    rows = [lines.pop(0).split(" ") for _ in range(int(count))]
    by_log = {log: (int(size), *map(base64.b64decode, hashes)) for log, size, *hashes in rows}
    assert list(by_log) == sorted(by_log) and len(by_log) == len(rows)
    return by_log


def open_anchor(note, key):
    """The fields of an anchor; size and root of each log; size, root and binding of each map."""
    header, *lines = open_note(note, key).split("\n")
    assert header == "audit-server anchor v2" and lines.pop() == ""
    names, values = zip(*(line.split(" ") for line in lines[:6]))
    fields = dict(zip(names, values))
    rest = lines[6:]
    heads, maps = counted("logs", rest), counted("maps", rest)
    assert list(names) == FIELDS and not rest and fields["deployment"] == key.split("+")[0]
    assert all(size <= heads[log][0] for log, (size, _, _) in maps.items())
    return fields, heads, maps


def load(name):
    return json.loads((HERE / name).read_text("utf-8"))


def b64(hashes):
    return [base64.b64encode(h).decode() for h in hashes]


def check_merkle():
    v = load("merkle.json")
    data = [bytes.fromhex(leaf) for leaf in v["leaves"]]
    assert v["leaf_hashes"] == [mth([leaf]).hex() for leaf in data]
    assert v["roots"] == [mth(data[:n]).hex() for n in range(len(data) + 1)]
    pairs = [(i, n) for n in range(1, 9) for i in range(n)]
    assert pairs == [(p["index"], p["size"]) for p in v["inclusion"]]
    for p in v["inclusion"]:
        assert p["hashes"] == [h.hex() for h in path(p["index"], data[: p["size"]])]
    pairs = [(m, n) for n in range(9) for m in range(n + 1)]
    assert pairs == [(p["from"], p["to"]) for p in v["consistency"]]
    for p in v["consistency"]:
        assert p["hashes"] == [h.hex() for h in proof(p["from"], data[: p["to"]])]


def check_tiles():
    v = load("tiles.json")
    for p in v["paths"]:
        assert p["path"] == tile_path(p["level"], p["index"], p["width"])
    for t in v["trees"]:
        assert t == tiles(t["size"])
    data = [n.to_bytes(4, "big") for n in range(v["content"]["size"])]
    for t in v["content"]["tiles"]:
        assert t["path"] == tile_path(t["level"], t["index"], t["width"])
        content = tile(t["level"], t["index"], t["width"], data)
        assert (len(content), sha256(content).hex()) == (t["bytes"], t["sha256"])


def check_checkpoint():
    v = load("checkpoint.json")
    data = [n.to_bytes(4, "big") for n in range(300)]
    for c in v["checkpoints"]:
        origin, size, root = open_checkpoint(c["note"], v["key"])
        assert (origin, size) == (v["origin"], c["size"]) and root == mth(data[:size])
        assert c["note"].startswith(c["text"] + "\n\u2014 ")
    first, second = v["checkpoints"]
    assert v["consistency"] == b64(proof(first["size"], data[: second["size"]]))


def check_events():
    v = load("events.json")
    origin, size, root = open_checkpoint(v["checkpoint"], v["key"])
    log, digests = log_of(v["checkpoint"]), []
    for e in v["events"]:
        read = json.loads(e["read"])
        stated, salt, _ = read.pop("content_hash"), bytes.fromhex(read.pop("content_salt")), read.pop("redacted")
        assert salt.hex() == e["content_salt"] == e["proof"]["content_salt"] and e["canonical"] == canonical(read)
        digests.append(content_hash(read, salt, log))
        assert stated == e["proof"]["content_hash"] == "sha256:" + digests[-1].hex()
        seen = json.loads(e["viewer"]["read"])
        assert "context" not in seen and "metadata" not in seen and "content_salt" not in seen
        assert content_hash_of_parts(seen, e["viewer"]["parts"], log) == digests[-1]
    assert (origin, size, root) == (v["origin"], len(digests), mth(digests))
    for seq, e in enumerate(v["events"]):
        assert e["leaf_hash"] == b64([mth([digests[seq]])])[0]
        assert e["proof"]["seq"] == seq and e["proof"]["checkpoint"] == v["checkpoint"]
        assert e["proof"]["inclusion"] == b64(path(seq, digests))


def check_event_fields():
    v = load("event-fields.json")
    for e in v["events"]:
        read, salt = json.loads(e["canonical"]), bytes.fromhex(e["content_salt"])
        assert canonical(read) == e["canonical"]
        digest = content_hash(read, salt, v["log"])
        assert e["content_hash"] == "sha256:" + digest.hex()
        for viewer in e["viewers"]:
            assert content_hash_of_parts(viewer["read"], viewer["parts"], v["log"]) == digest
    assert len({e["content_hash"] for e in v["events"]}) == len(v["events"]) == 8


def check_anchor():
    v = load("anchor.json")
    data = [n.to_bytes(4, "big") for n in range(300)]
    previous, number, sizes = "none", 0, {}
    for a in v["anchors"]:
        fields, heads, maps = open_anchor(a["note"], v["key"])
        digest = sha256(a["note"].encode())
        assert (fields["previous"], int(fields["number"])) == (previous, number + 1)
        assert a["note"].startswith(a["text"] + "\n\u2014 ") and a["sha256"] == digest.hex()
        due = fields["due"].replace("-", "").replace(":", "")
        assert a["file"] == due[:15] + "Z.anchor"
        for log, (size, root) in heads.items():
            assert root == mth(data[:size]) and size >= sizes.get(log, 1)
        for log, (size, root, binding) in maps.items():
            events = [(f"tenant-{n % 7}", data[n]) for n in range(size)]
            assert (root, binding) == tenant_map(bytes.fromhex(v["tenant_map_secret"]), log, events)
        assert set(sizes) <= set(heads)
        previous, number = base64.b64encode(digest).decode(), number + 1
        sizes = {log: size for log, (size, _) in heads.items()}


def check_removal():
    v = load("removal.json")
    hashed, stored = b"", {}
    for r in v["records"]:
        digest, label = bytes.fromhex(r["content_hash"]), bytes.fromhex(r["label"])
        mask = r["mask"].to_bytes(2, "big")
        hashed += r["seq"].to_bytes(8, "big") + mask + digest + label
        tile, offset = divmod(r["seq"], 256)
        stored[tile] = stored.get(tile, b"") + bytes([offset]) + mask + digest + label[:8]
    for kind, digest in v["digests"].items():
        assert digest == "sha256:" + sha256(f"audit removal 1\n{kind}\n{v['log']}\n".encode() + hashed).hex()
    assert set(v["digests"]) == {"retention", "erasure"}
    assert {tile["tile"]: bytes.fromhex(tile["bytes"]) for tile in v["stored"]} == stored


def frontier(data):
    """The hashes of the complete subtrees of a tree, largest first."""
    if not data:
        return []
    k = 1 << (len(data).bit_length() - 1)
    return [mth(data[:k])] + frontier(data[k:])


def check_completeness():
    v = load("completeness.json")
    proved, digests = v["proof"], [bytes.fromhex(e["content_hash"].removeprefix("sha256:")) for e in v["events"]]
    origin, size, root = open_checkpoint(proved["checkpoint"], v["key"])
    head = open_note(proved["map"], v["key"]).split("\n")
    label = sha256(b"audit tenant 1\n" + base64.b64decode(proved["salt"]) + proved["tenant_id"].encode())
    assert origin == f"{head[0]}/{label.hex()}" and head[0].endswith(f"/{v['log']}/tenants") and root == mth(digests[:size])
    node = sha256(b"\x00" + label + size.to_bytes(8, "big") + root)
    for level, sibling in enumerate(map(base64.b64decode, proved["path"])):
        is_right = label[7 - level // 8] >> level % 8 & 1
        node = sha256(b"\x01" + (sibling + node if is_right else node + sibling))
    assert len(proved["path"]) == 64 and node == base64.b64decode(head[2])
    for case in v["accepted"]:
        gone = [n for n in range(size) if n not in case["there"]]
        prefix = min(set(range(size + 1)) - set(gone))
        removed = case.get("removed", {"events": 0, "prefix": 0, "frontier": [], "leaves": []})
        leaves = [{"index": n, "hash": b64([mth([digests[n]])])[0]} for n in gone if n >= prefix]
        assert (removed["events"], removed["prefix"], removed["leaves"]) == (len(gone), prefix, leaves)
        assert removed["frontier"] == b64(frontier(digests[:prefix]))


CHECKS = (
    check_merkle, check_tiles, check_checkpoint, check_events, check_event_fields, check_anchor, check_removal,
    check_completeness,
)

if __name__ == "__main__":
    for check in CHECKS:
        check()
        print("ok", check.__name__.removeprefix("check_"))
    sys.exit(0)
