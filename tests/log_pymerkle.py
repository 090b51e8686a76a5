"""Checks the proofs of the verifiable log with pymerkle (PyPI), a Merkle tree that nobody of this project wrote.

    python log_pymerkle.py server http://127.0.0.1:8080 pk_live_…
    python log_pymerkle.py evidence events.zip

Signatures are not its business: tests/log_sumdb checks those. Canonical JSON is rfc8785's (PyPI).
"""

import base64
import hashlib
import json
import pathlib
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

    def get(self, path, **parameters):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request) as response:
            return response.read().decode()

    def get_json(self, path, **parameters):
        return json.loads(self.get(path, **parameters))

    def events(self):
        parameters = {"limit": 200}
        while True:
            page = self.get_json("events", **parameters)
            yield from page["events"]
            if page["cursor"] is None:
                return
            parameters["cursor"] = page["cursor"]


def check_server(url, key):
    server = Server(url, key)
    by_seq = {}
    for event in server.events():
        try:
            proof = server.get_json(f"events/{event['id']}/proof")
        except urllib.error.HTTPError as error:
            sys.exit(f"{event['id']}: no proof: {error}: {error.read().decode()}")
        computed = content_hash(event, proof["checkpoint"])
        assert event["content_hash"] == "sha256:" + computed.hex(), event["id"]
        assert proof["content_hash"] == event["content_hash"], event["id"]
        assert proof["content_salt"] == event["content_salt"], event["id"]
        _, size, root = tree_head(proof["checkpoint"])
        check_inclusion(proof["seq"], leaf_hash(computed), proof["inclusion"], size, root)
        by_seq[proof["seq"]] = computed
    log, size, root = tree_head(server.get("log/checkpoint"))
    assert sorted(by_seq) == list(range(size)), "the events have the places from 0 on"
    # The same tree, grown by pymerkle.
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
    print(f"{log}: {size} events included, consistent with {len(sizes)} earlier sizes")


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
    if len(sys.argv) == 4 and sys.argv[1] == "server":
        check_server(*sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == "evidence":
        check_evidence(sys.argv[2])
    else:
        sys.exit(__doc__)
