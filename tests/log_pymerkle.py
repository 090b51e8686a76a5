"""Checks the proofs of the verifiable log with pymerkle (PyPI), a Merkle tree that nobody of this project wrote.

    python log_pymerkle.py server http://127.0.0.1:8080 pk_live_…
    python log_pymerkle.py server http://127.0.0.1:8080 pk_live_… 2000
    python log_pymerkle.py evidence events.zip

The number is how many proofs are fetched at most, of events at equal distances. Content hashes, removals and the root are always checked as a whole.

Signatures are not its business: tests/log_sumdb checks those. Canonical JSON is rfc8785's (PyPI).
"""

import base64
import hashlib
import json
import pathlib
import struct
import sys
import urllib.parse
import urllib.error
import urllib.request
import zipfile

import rfc8785
from pymerkle import InclusionProof, InmemoryTree, verify_consistency

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "docs" / "vectors"))

import content_hash as content_hash_format  # noqa: E402


def leaf_hash(content_hash):
    return hashlib.sha256(b"\0" + content_hash).digest()


# The definition with rfc8785's canonical JSON, which writes every number as ECMAScript does.
content_hash_format.canonical = lambda value: rfc8785.dumps(value).decode()


def content_hash(event, checkpoint):
    """Of an event as a full read returns it."""
    salt = bytes.fromhex(event["content_salt"])
    return content_hash_format.content_hash(event, salt, content_hash_format.log_of(checkpoint))


def tree_head(checkpoint):
    log, size, root = checkpoint.split("\n")[:3]
    return log, int(size), base64.b64decode(root)


def rule_of(seq, size):
    """On which side of each node of the way up its sibling is: 1 where it is on the left."""
    first, last, rule = seq, size - 1, []
    while last > 0:
        if first % 2 == 1:
            rule.append(1)
        elif first < last:
            rule.append(0)
        # A node at the right edge without a sibling goes up alone.
        first, last = first // 2, last // 2
    return rule + [0]


def check_inclusion(seq, leaf, path, size, root):
    path = [base64.b64decode(text) for text in path]
    proof = InclusionProof("sha256", True, size, seq + 1, rule_of(seq, size), [leaf, *path])
    proof.verify(leaf, root, index=seq + 1, size=size, algorithm="sha256")


def rfc_9162_path(proof, earlier):
    """The path of a consistency proof between different sizes as RFC 9162 has it.

    pymerkle goes down to the first leaf behind the earlier tree, and RFC 9162 only to the subtree that begins with it.
    Where the earlier tree is one subtree, RFC 9162 leaves out its root, which whoever verifies knows.
    """
    known = proof.subset.index(1)
    behind = proof.path[0]
    for on_the_left, sibling in zip(proof.rule, proof.path[1:known]):
        pair = sibling + behind if on_the_left else behind + sibling
        behind = hashlib.sha256(b"\1" + pair).digest()
    is_subtree = earlier & (earlier - 1) == 0
    return ([] if is_subtree else [proof.path[known]]) + [behind] + proof.path[known + 1 :]


class Server:
    def __init__(self, url, key):
        self.url, self.key = url.rstrip("/"), key

    def read(self, path, **parameters):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request) as response:
            return response.read()

    def get(self, path, **parameters):
        return self.read(path, **parameters).decode()

    def get_json(self, path, **parameters):
        return json.loads(self.get(path, **parameters))

    def events(self):
        """In the order of the log."""
        parameters, has_more = {"limit": 200}, True
        while has_more:
            page = self.get_json("events/feed", **parameters)
            yield from page["events"]
            parameters["after"], has_more = page["cursor"], page["has_more"]


REMOVED = ("audit.events.removed", "audit.events.erased")
# Position, position of the event that authorises the record, mask, content hash, label of the tenant.
RECORD = struct.Struct(">qqH32s32s")
WHOLE_EVENT = 0xFFFF


def tile_path(number):
    """As C2SP tlog-tiles writes the number of a tile."""
    path = f"{number % 1000:03}"
    while number >= 1000:
        number //= 1000
        path = f"x{number % 1000:03}/{path}"
    return path


def removed_events(server, log):
    """The content hashes of removed events by their places, and what the events of the removals must say, by theirs."""
    removed, expected = {}, {}
    for removal in server.get_json("log/removals")["removals"]:
        if removal["action"] not in REMOVED:
            continue
        digest = hashlib.sha256(f"audit removal 1\n{removal['kind']}\n{log}\n".encode())
        count = 0
        for tile in range(removal["first_seq"] // 256, (removal["end_seq"] - 1) // 256 + 1):
            records = server.read(f"log/tile/removed/{tile_path(tile)}")
            for place, authority, mask, content, label in RECORD.iter_unpack(records):
                if authority == removal["seq"]:
                    digest.update(struct.pack(">qH", place, mask) + content + label)
                    count += 1
                    if mask == WHOLE_EVENT:
                        removed[place] = content
        expected[removal["seq"]] = (removal["action"], "sha256:" + digest.hexdigest(), count)
    return removed, expected


def root_of(contents):
    """The root over content hashes, RFC 9162 §2.1.1."""
    subtrees = []
    for number, content in enumerate(contents, 1):
        node = leaf_hash(content)
        while number % 2 == 0:
            node, number = hashlib.sha256(b"\1" + subtrees.pop() + node).digest(), number // 2
        subtrees.append(node)
    root = subtrees.pop()
    while subtrees:
        root = hashlib.sha256(b"\1" + subtrees.pop() + root).digest()
    return root


def check_server(url, key, proofs_max=None):
    server = Server(url, key)
    checkpoint = server.get("log/checkpoint")
    step = -(-tree_head(checkpoint)[1] // proofs_max) if proofs_max else 1
    shown, places_of_proofs, authorities = [], {}, {}
    for number, event in enumerate(server.events()):
        computed = content_hash(event, checkpoint)
        assert event["content_hash"] == "sha256:" + computed.hex(), event["id"]
        shown.append(computed)
        if number % step == 0:
            places_of_proofs[number] = check_proof(server, event, computed)
        if event["tenant_id"] == "audit-server" and event["action"] in REMOVED:
            authorities[number] = (event["action"], event["metadata"]["digest"], event["metadata"]["events"])
    log, size, root = tree_head(server.get("log/checkpoint"))
    removed, expected = removed_events(server, content_hash_format.log_of(checkpoint))
    places = [place for place in range(size) if place not in removed]
    assert len(places) == len(shown), f"{size} places, {len(shown)} events, {len(removed)} removed"
    assert all(places[number] == place for number, place in places_of_proofs.items()), "each event has its place"
    assert {places[number]: said for number, said in authorities.items()} == expected, "the records are those of the removals"
    by_seq = removed | dict(zip(places, shown))
    assert root_of(by_seq[seq] for seq in range(size)) == root, "the root is the one that was signed"
    sizes = [] if proofs_max else check_growth(server, by_seq, size, root)
    print(f"{log}: {len(shown)} events included, {len(removed)} removed, {len(places_of_proofs)} proofs, consistent with {len(sizes)} earlier sizes")


def check_proof(server, event, computed):
    try:
        proof = server.get_json(f"events/{event['id']}/proof")
    except urllib.error.HTTPError as error:
        sys.exit(f"{event['id']}: no proof: {error}: {error.read().decode()}")
    assert proof["content_hash"] == event["content_hash"], event["id"]
    assert proof["content_salt"] == event["content_salt"], event["id"]
    _, size, root = tree_head(proof["checkpoint"])
    check_inclusion(proof["seq"], leaf_hash(computed), proof["inclusion"], size, root)
    return proof["seq"]


def check_growth(server, by_seq, size, root):
    """Grows the tree with pymerkle, and compares the proofs that it continues what it was."""
    tree = InmemoryTree(algorithm="sha256")
    roots = []
    for seq in range(size):
        tree.append_entry(by_seq[seq])
        roots.append(tree.get_root())
    assert roots[-1] == root, "the root is the one that was signed"
    sizes = [at for at in range(1, size) if at < 20 or size - at < 20 or (at + 2) % 256 < 4 or at % 37 == 0]
    for earlier in sizes:
        hashes = server.get_json("log/consistency", **{"from": earlier, "to": size})["consistency"]
        path = [base64.b64decode(text) for text in hashes]
        expected = tree.prove_consistency(earlier, size)
        assert path == rfc_9162_path(expected, earlier), f"consistency of {earlier} with {size}"
        verify_consistency(roots[earlier - 1], root, expected, prior_size=earlier, later_size=size)
    return sizes


def check_evidence(path):
    archive = zipfile.ZipFile(path)
    for line in archive.read("SHA256SUMS").decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(archive.read(name)).hexdigest() == digest, name
    checkpoint = archive.read("checkpoint.txt").decode()
    log, size, root = tree_head(checkpoint)
    events, proofs = ([json.loads(line) for line in archive.read(name).decode().split("\n")[:-1]]
                      for name in ("events.jsonl", "proofs.jsonl"))
    assert len(events) == len(proofs)
    seqs = [event["seq"] for event in events]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "a run of the log"
    for event, proof in zip(events, proofs):
        assert (event["seq"], event["id"]) == (proof["seq"], proof["id"])
        computed = content_hash(event, checkpoint)
        assert event["content_hash"] == "sha256:" + computed.hex(), event["id"]
        check_inclusion(event["seq"], leaf_hash(computed), proof["inclusion"], size, root)
    print(f"{log}: {len(events)} events of the archive included")


if __name__ == "__main__":
    if len(sys.argv) in (4, 5) and sys.argv[1] == "server":
        check_server(*sys.argv[2:4], *map(int, sys.argv[4:]))
    elif len(sys.argv) == 3 and sys.argv[1] == "evidence":
        check_evidence(sys.argv[2])
    else:
        sys.exit(__doc__)
