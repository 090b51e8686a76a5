"""Verifies what the service proves: that an event is in the log as it is shown, and that none was left out.

Formats: docs/api.md#content-hash and docs/ledger.md. Hashes need the standard library alone; signatures of notes need the extra
``verify`` (``pip install audit-server-client[verify]``).
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ._canonical import canonical
from .errors import VerificationError

#: The fields of each part of an event, in the order in which they are hashed.
PARTS: Mapping[str, Tuple[str, ...]] = {
    "kind": ("action", "actor.type", "category", "target.type", "outcome"),
    "actor.email": ("actor.email",),
    "actor.id": ("actor.id",),
    "actor.name": ("actor.name", "actor.on_behalf_of"),
    "changes": ("changes",),
    "network": ("context.ip_address", "context.location"),
    "client": ("context.session_id", "context.user_agent"),
    "idempotency_key": ("idempotency_key",),
    "metadata": ("metadata",),
    "target.id": ("target.id",),
    "target.name": ("target.name", "targets"),
}
OPEN_FIELDS = ("id", "occurred_at", "received_at", "tenant_id", "claimed_at")
#: Fields that have a line in the input of a hash only where the event has them.
APPENDED = frozenset(["claimed_at", "outcome", "actor.on_behalf_of", "targets"])
#: Members of a response that the content hash does not cover.
NOT_HASHED = ("content_hash", "content_salt", "redacted", "parts", "erased")
KNOWN = frozenset([*(field for fields in PARTS.values() for field in fields), *OPEN_FIELDS, *NOT_HASHED])
MAP_PATH_HASHES = 64


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise VerificationError(reason)


def sha256(*pieces: bytes) -> bytes:
    return hashlib.sha256(b"".join(pieces)).digest()


def from_base64(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise VerificationError(f"{what} is not base64") from None


def hash_from_base64(text: str) -> bytes:
    found = from_base64(text, "a hash")
    require(len(found) == 32, "a hash does not have 32 bytes")
    return found


def from_hex(text: Any, count: int, what: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except (ValueError, TypeError):
        found = b""
    require(len(found) == count, f"{what} is not hexadecimal of {count} bytes")
    return found


# The content hash.


def lines_of(event: Mapping[str, Any], path: str) -> List[str]:
    """The line of a field: its canonical JSON. If the event does not have it, an empty line, or none for one that is appended."""
    found: Any = event
    for step in path.split("."):
        if not isinstance(found, Mapping) or step not in found:
            return [] if path in APPENDED else [""]
        found = found[step]
    return [canonical(found)]


def values(event: Mapping[str, Any], paths: Iterable[str]) -> bytes:
    try:
        return "\n".join(line for path in paths for line in lines_of(event, path)).encode()
    except (ValueError, TypeError) as error:
        raise VerificationError(f"the event is not JSON: {error}") from error


def fields_of(event: Mapping[str, Any]) -> Iterable[str]:
    """The dot path of every field."""
    for name, value in event.items():
        if name in ("actor", "context", "target") and isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield name


def salts_of(content_salt: bytes) -> Mapping[str, bytes]:
    halves: List[bytes] = []
    for pair in range((len(PARTS) + 1) // 2):
        digest = sha256(b"\4", content_salt, bytes([pair]))
        halves += [digest[:16], digest[16:]]
    return dict(zip(PARTS, halves))


def hash_of_part(event: Mapping[str, Any], name: str, salt: bytes) -> bytes:
    return sha256(b"\2", salt, bytes([list(PARTS).index(name)]), values(event, PARTS[name]))


def content_hash(
    event: Mapping[str, Any],
    log: str,
    *,
    content_salt: Optional[str] = None,
    parts: Optional[Mapping[str, Mapping[str, str]]] = None,
) -> str:
    """The content hash of an event, ``sha256:…``, computed from its fields.

    ``log`` is ``<project id>/<environment>``. Pass the ``content_salt`` of the event or of its proof, or the ``parts`` that the
    proof has for a viewer who does not see every field.
    """
    require((content_salt is None) != (parts is None), "pass either content_salt or parts")
    require(KNOWN.issuperset(fields_of(event)), "the event has a field that the content hash does not cover")
    if parts is None:
        salts = salts_of(from_hex(content_salt, 16, "content_salt"))
        hashes = [hash_of_part(event, name, salts[name]) for name in PARTS]
    else:
        require(set(parts) == set(PARTS), "the proof does not have the parts of an event")
        hashes = [hash_from_proof(event, name, parts[name]) for name in PARTS]
    return "sha256:" + sha256(b"\3", log.encode(), b"\n", *hashes, values(event, OPEN_FIELDS)).hex()


def hash_from_proof(event: Mapping[str, Any], name: str, part: Mapping[str, str]) -> bytes:
    require(set(part) in ({"salt"}, {"hash"}), f"the part {name} has neither a salt nor a hash")
    if "hash" in part:
        return from_hex(part["hash"], 32, f"the hash of {name}")
    return hash_of_part(event, name, from_hex(part["salt"], 16, f"the salt of {name}"))


# The Merkle tree.


def leaf_hash(content: str) -> bytes:
    """The leaf of an event in the log, from its content hash."""
    require(isinstance(content, str) and content.startswith("sha256:"), "content_hash does not begin with sha256:")
    return sha256(b"\0", from_hex(content[len("sha256:") :], 32, "content_hash"))


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """That the leaf is at ``index`` in the tree of ``size`` leaves (RFC 9162, section 2.1.3.2)."""
    require(0 <= index < size, "the position is not in the log")
    fn, sn, node = index, size - 1, leaf
    for sibling in path:
        require(sn != 0, "the path is too long")
        if fn % 2 or fn == sn:
            node = sha256(b"\1", sibling, node)
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = sha256(b"\1", node, sibling)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the path is too short")
    require(node == root, "the path does not lead to the root of the log")


def verify_consistency(old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]) -> None:
    """That the log of ``new_size`` leaves extends that of ``old_size`` (RFC 9162, section 2.1.4.2)."""
    require(0 < old_size <= new_size, "the sizes are not in order")
    if old_size == new_size:
        require(not path and old_root == new_root, "the log has two roots at one size")
        return
    nodes = list(path)
    if old_size & (old_size - 1) == 0:
        nodes.insert(0, old_root)
    require(bool(nodes), "the path is too short")
    fn, sn = old_size - 1, new_size - 1
    while fn % 2:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = nodes[0]
    for node in nodes[1:]:
        require(sn != 0, "the path is too long")
        if fn % 2 or fn == sn:
            fr, sr = sha256(b"\1", node, fr), sha256(b"\1", node, sr)
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = sha256(b"\1", sr, node)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the path is too short")
    require(fr == old_root, "the path does not lead to the old root")
    require(sr == new_root, "the path does not lead to the new root")


def root_of(leaves: Iterable[bytes], prefix: int = 0, frontier: Sequence[bytes] = ()) -> bytes:
    """The root of the tree over leaf hashes (RFC 9162, section 2.1.1).

    ``prefix`` leaves come before them. ``frontier`` has the hashes of the complete subtrees over these, largest first.
    """
    require(len(frontier) == bin(prefix).count("1"), f"the frontier is not one of {prefix} leaves")
    edge = list(frontier)
    for position, leaf in enumerate(leaves, prefix):
        node, rest = leaf, position
        while rest % 2:
            node, rest = sha256(b"\1", edge.pop(), node), rest // 2
        edge.append(node)
    if not edge:
        return sha256()
    node = edge.pop()
    while edge:
        node = sha256(b"\1", edge.pop(), node)
    return node


# Notes.


@dataclass(frozen=True)
class Checkpoint:
    """The head of a log, as its key has signed it."""

    #: ``<name of the deployment>/<project id>/<environment>``, for the log of a tenant followed by ``/tenants/<label>``.
    origin: str
    size: int
    root: bytes

    @property
    def log(self) -> str:
        """The log as content hashes name it."""
        return "/".join(self.origin.split("/tenants/")[0].split("/")[-2:])


def verify_note(note: str, key: str) -> List[str]:
    """The lines of a signed note (C2SP signed-note), if ``key`` has signed it.

    ``key`` is the text that the operator gave you, ``<name>+<key id>+<base64>``. The name of the log has to begin with the
    key's name.
    """
    name, key_id, public = parsed_key(key)
    text, separator, signatures = note.rpartition("\n\n")
    require(bool(separator) and signatures.endswith("\n"), "the note has no signatures")
    found = []
    for line in signatures[:-1].split("\n"):
        words = line.split(" ")
        require(len(words) == 3 and words[0] == "\u2014", "a line of signatures cannot be read")
        signature = from_base64(words[2], "a signature")
        if words[1] == name and signature[:4] == key_id:
            found.append(signature[4:])
    require(len(found) == 1, "the note is not signed by the key")
    require(is_signed(public, f"{text}\n".encode(), found[0]), "the signature of the note is not valid")
    lines = text.split("\n")
    require(lines[0] == name or lines[0].startswith(name + "/"), "the note is one of another deployment")
    return lines


def parsed_key(key: str) -> Tuple[str, bytes, bytes]:
    parts = key.strip().split("+", 2)
    require(len(parts) == 3, "the key does not have the form <name>+<key id>+<base64>")
    name, key_id, text = parts
    public = from_base64(text, "the key")
    require(len(public) == 33 and public[0] == 1, "the key is not an Ed25519 key")
    expected = sha256(name.encode(), b"\n", public)[:4]
    require(key_id == expected.hex(), "the key id is not that of the key")
    return name, expected, public[1:]


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise ImportError("signatures need the extra verify: pip install 'audit-server-client[verify]'") from error
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_checkpoint(note: str, key: str, *, log: Optional[str] = None) -> Checkpoint:
    """The head of a log in a checkpoint (C2SP tlog-checkpoint), if ``key`` has signed it.

    One key signs the logs of all projects. With ``log``, ``<project id>/<environment>``, the checkpoint has to be of that one.
    """
    lines = verify_note(note, key)
    require(len(lines) >= 3, "the note is not a checkpoint")
    origin, size, root = lines[:3]
    require(size.isascii() and size.isdigit() and size == str(int(size)), "the note is not a checkpoint")
    checkpoint = Checkpoint(origin, int(size), hash_from_base64(root))
    require(log is None or checkpoint.log == log, f"the checkpoint is of the log {checkpoint.log}")
    return checkpoint


@dataclass(frozen=True)
class VerifiedEvent(Checkpoint):
    """The head of the log that has the event, and the parts of the event of which the proof has only a hash."""

    #: Parts of which the tier of the viewer hides a field.
    hidden: Tuple[str, ...]
    #: Parts that were erased, by the statement of the server. It is not signed: auditors verify erasures.
    erased: Tuple[str, ...]


def verify_proof(event: Mapping[str, Any], proof: Mapping[str, Any], key: str, *, log: Optional[str] = None) -> VerifiedEvent:
    """That ``event``, as you read it, is in the log that ``key`` signs. Returns the head of the log, which you may keep.

    ``proof`` is that of ``client.events.proof(event["id"])``. The ``hidden`` and ``erased`` parts of the result are not proved.
    With ``log``, ``<project id>/<environment>``, it has to be that log. Raises :class:`VerificationError`.
    """
    try:
        checkpoint = verify_checkpoint(proof["checkpoint"], key, log=log)
        parts = proof.get("parts")
        computed = content_hash(
            event, checkpoint.log, content_salt=None if parts is not None else proof["content_salt"], parts=parts
        )
        require(computed == proof["content_hash"], "the event is not the one of the proof")
        require(event.get("content_hash", computed) == computed, "the content hash of the event is another one")
        path = [hash_from_base64(text) for text in proof["inclusion"]]
        verify_inclusion(leaf_hash(computed), int(proof["seq"]), checkpoint.size, path, checkpoint.root)
        hidden, erased = hidden_and_erased(event, parts or {})
    except (KeyError, TypeError, AttributeError) as error:
        raise VerificationError(f"the proof cannot be read: {error!r}") from error
    return VerifiedEvent(checkpoint.origin, checkpoint.size, checkpoint.root, hidden, erased)


def hidden_and_erased(event: Mapping[str, Any], parts: Mapping[str, Mapping[str, str]]) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    """The parts of which ``parts`` has only the hash, those that the event names as erased apart from the others."""
    named = {name for erasure in event.get("erased") or () for name in erasure["parts"]}
    without_salt = [name for name in PARTS if "hash" in parts.get(name, {})]
    erased = tuple(name for name in without_salt if name in named)
    fields = set(fields_of(event))
    require(not any(fields.intersection(PARTS[name]) for name in erased), "the event has a field of an erased part")
    return tuple(name for name in without_salt if name not in named), erased


@dataclass(frozen=True)
class VerifiedCompleteness:
    """What was proved of a tenant's events."""

    #: The number of events that the tenant had, removed ones included.
    size: int
    #: When the proof was signed (RFC 3339). Compare it with the clock: an old proof hides newer events.
    signed_at: str
    #: How many of them retention or erasures removed, by the statement of the server. It is not signed: auditors verify removals.
    removed: int


def verify_completeness(
    events: Sequence[Mapping[str, Any]], proof: Mapping[str, Any], key: str, *, log: Optional[str] = None
) -> VerifiedCompleteness:
    """That ``events``, in the order of the feed, are all of a tenant, except those that the server states as removed.

    Returns the signed number of events, the time of signing, and how many events were removed, by the statement of the server.
    ``proof`` is that of ``client.log.completeness()``. Events behind the first ``size - removed`` are newer than it. Only the
    content hashes of the events are used; verify the events with :func:`verify_proof`. With ``log``,
    ``<project id>/<environment>``, the events have to be of that log. Raises :class:`VerificationError`.
    """
    try:
        head = verify_note(proof["map"], key)
        require(len(head) >= 4 and head[0].endswith("/tenants"), "the note is not that of a map of tenants")
        require(log is None or head[0].endswith(f"/{log}/tenants"), "the note is of another log")
        label = sha256(b"audit tenant 1\n", from_base64(proof["salt"], "the salt"), proof["tenant_id"].encode())
        size, root = verify_tenant(proof, key, head, label)
        require(all(event["tenant_id"] == proof["tenant_id"] for event in events), "an event is of another tenant")
        prefix, frontier, gone = removed_leaves(proof.get("removed"), size)
        removed = prefix + len(gone)
        there = events[: size - removed]
        require(
            len(there) == size - removed,
            f"the tenant has {size} events, of which {removed} are removed, and {len(events)} are here",
        )
        present = iter([leaf_hash(event["content_hash"]) for event in there])
        leaves = [gone[index] if index in gone else next(present) for index in range(prefix, size)]
    except (KeyError, TypeError, AttributeError) as error:
        raise VerificationError(f"the proof cannot be read: {error!r}") from error
    is_root = root_of(leaves, prefix, frontier) == root
    require(is_root, "the events are not those of the tenant, or not in the order of the feed")
    return VerifiedCompleteness(size, head[1], removed)


def removed_leaves(removed: Optional[Mapping[str, Any]], size: int) -> Tuple[int, List[bytes], Dict[int, bytes]]:
    """The member ``removed`` of a proof: how many leaves at the beginning are removed, their frontier, and the others by index."""
    if removed is None:
        return 0, [], {}
    prefix = removed["prefix"]
    require(isinstance(prefix, int) and 0 <= prefix <= size, "removed.prefix is not a number of the tenant's events")
    frontier = [hash_from_base64(text) for text in removed["frontier"]]
    gone = {leaf["index"]: hash_from_base64(leaf["hash"]) for leaf in removed["leaves"]}
    are_behind = all(isinstance(index, int) and prefix <= index < size for index in gone)
    require(are_behind, "an index in removed.leaves is not behind the prefix, or not one of the tenant's events")
    require(removed["events"] == prefix + len(gone), "removed.events is not the number of removed events")
    return prefix, frontier, gone


def verify_tenant(proof: Mapping[str, Any], key: str, head: Sequence[str], label: bytes) -> Tuple[int, bytes]:
    """Size and root of the tenant's log, as the map says."""
    if "checkpoint" not in proof:
        require(list(head[4:]) == [f"empty {label.hex()}"], "the map does not say that the tenant has no events")
        return 0, root_of([])
    checkpoint = verify_checkpoint(proof["checkpoint"], key)
    require(checkpoint.origin == f"{head[0]}/{label.hex()}", "the checkpoint is that of another tenant or log")
    require(len(head) == 4, "the map says that the tenant has no events")
    require(len(proof["path"]) == MAP_PATH_HASHES, f"the path does not have {MAP_PATH_HASHES} hashes")
    node = sha256(b"\0", label, checkpoint.size.to_bytes(8, "big"), checkpoint.root)
    position = int.from_bytes(label[:8], "big")
    for text in proof["path"]:
        sibling = hash_from_base64(text)
        node = sha256(b"\1", sibling, node) if position % 2 else sha256(b"\1", node, sibling)
        position //= 2
    require(node == hash_from_base64(head[2]), "the tenant's log is not in the map")
    return checkpoint.size, checkpoint.root
