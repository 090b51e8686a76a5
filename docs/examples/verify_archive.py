#!/usr/bin/env python3
"""Verifies a log in an archive of `audit-server archive create`: every event from the first one on, against the log's signature.

    python3 verify_archive.py DIRECTORY "$(cat key.txt)" LOG

The key is the deployment's, from another channel than the archive; LOG is the log, as audits and proofs name it. Needs Python 3.11, pyarrow
and openssl, and no code of the service. docs/archive.md has the format. The statistics of the files, by which readers skip rows, are not
checked: `audit-verify archive` does that.
"""
import base64
import datetime
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import pyarrow.parquet

TIMES = ["occurred_at", "received_at", "claimed_at"]
JSON = ["metadata", "changes", "actor_on_behalf_of", "targets"]
PARTS = ["action actor_type category target_type outcome", "actor_email", "actor_id", "actor_name actor_on_behalf_of", "changes",
         "context_ip_address context_location", "context_session_id context_user_agent", "idempotency_key", "metadata",
         "target_id", "target_name targets"]
OPEN = "id occurred_at received_at tenant_id claimed_at"
APPENDED = {"outcome", "actor_on_behalf_of", "targets", "claimed_at"}
COLUMNS = {*" ".join(PARTS).split(), *OPEN.split(), "seq", "content_hash", "content_salt", "redacted"}


def require(condition, reason):
    if not condition:
        sys.exit(f"REFUSED: {reason}")


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def values(row, columns):
    """The canonical JSON of fields, as it is hashed."""
    texts = []
    for column in columns.split():
        value = row[column]
        if value is None:
            texts += [] if column in APPENDED else [""]
        elif column in TIMES:
            require(value % 1000 == 0, f"event {row['seq']} has a time with microseconds")
            time = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=value)
            texts.append(f'"{time.isoformat(timespec="milliseconds")}Z"')
        else:
            require(column not in JSON or value, f"event {row['seq']} has an empty {column}")
            texts.append(value if column in JSON else json.dumps(value, ensure_ascii=False))
    return "\n".join(texts).encode()


def content_hash(row, log):
    salt, hashes = row["content_salt"], []
    if len(salt) == 16:
        salts = b"".join(sha256(b"\4", salt, bytes([pair])) for pair in range(6))
        rest = b"".join(b"\0" + salts[16 * n:16 * n + 16] for n in range(len(PARTS)))
    else:  # parts were erased
        rest = salt[1 + 8 * salt[0]:]
    for number, fields in enumerate(PARTS):
        if rest[0] == 0:
            hashes.append(sha256(b"\2", rest[1:17], bytes([number]), values(row, fields)))
            rest = rest[17:]
        else:
            require(all(row[field] is None for field in fields.split()), f"event {row['seq']} has a part that was erased")
            hashes.append(rest[1:33])
            rest = rest[33:]
    require(not rest, f"event {row['seq']} has another content_salt")
    return sha256(b"\3", log.encode(), b"\n", *hashes, values(row, OPEN))


def append(tree, leaf):
    """Adds a leaf to a tree: its complete subtrees, each with its level, the largest first."""
    level, node = 0, sha256(b"\0", leaf)
    while tree and tree[-1][0] == level:
        level, node = level + 1, sha256(b"\1", tree.pop()[1], node)
    tree.append((level, node))


def root(tree):
    node = tree[-1][1]
    for _, left in reversed(tree[:-1]):
        node = sha256(b"\1", left, node)
    return node


def check_consistency(size, before, signed_size, signed_root, proof):
    """RFC 9162, section 2.1.4.2."""
    if size == signed_size:
        return require(not proof and before == signed_root, "the events are not those of the checkpoint")
    proof = proof if size & (size - 1) else [before, *proof]
    require(size < signed_size and proof, "there is no proof of consistency")
    first, last = size - 1, signed_size - 1
    while first & 1:
        first, last = first >> 1, last >> 1
    one = other = proof[0]
    for node in proof[1:]:
        require(last, "the proof of consistency is too long")
        if first & 1 or first == last:
            one, other = sha256(b"\1", node, one), sha256(b"\1", node, other)
            while first and not first & 1:
                first, last = first >> 1, last >> 1
        else:
            other = sha256(b"\1", other, node)
        first, last = first >> 1, last >> 1
    require((one, other, last) == (before, signed_root, 0), "the events are not those of the checkpoint")


def signed(note, key):
    """The text of a note that the key has signed (C2SP signed-note)."""
    name, key_id, key = key.split("+", 2)
    key = base64.b64decode(key, validate=True)
    require(len(key) == 33 and key[0] == 1, "the key is not an Ed25519 key")
    require(sha256(name.encode(), b"\n", key)[:4].hex() == key_id, "the key id is not that of the key")
    text, signatures = note.rsplit("\n\n", 1)
    lines = [line.split(" ") for line in signatures.rstrip("\n").split("\n")]
    lines = [base64.b64decode(line[2]) for line in lines if line[:2] == ["\u2014", name]]
    lines = [line for line in lines if line[:4].hex() == key_id]
    require(lines, "a checkpoint is not signed by the key")
    with tempfile.TemporaryDirectory() as folder:
        for file, data in [("text", f"{text}\n".encode()), ("signature", lines[0][4:]),
                           ("key", bytes.fromhex("302a300506032b6570032100") + key[1:])]:
            with open(f"{folder}/{file}", "wb") as out:
                out.write(data)
        openssl = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin",
                   "-in", "text", "-sigfile", "signature"]
        result = subprocess.run(openssl, cwd=folder, stdout=subprocess.DEVNULL)
        require(result.returncode == 0, "a signature is not valid")
    return text.split("\n")


def rows(path):
    file = pyarrow.parquet.ParquetFile(path)
    require(sorted(file.schema_arrow.names) == sorted(COLUMNS), f"{path} has other columns")
    require(not file.metadata.metadata, f"{path} has metadata that an archive does not have")
    for batch in file.iter_batches():
        for column in TIMES:
            index = batch.schema.get_field_index(column)
            batch = batch.set_column(index, column, batch.column(index).cast("int64"))
        yield from batch.to_pylist()


require(len(sys.argv) == 4, "usage: verify_archive.py DIRECTORY KEY LOG")
directory, key, origin = sys.argv[1:]
require(not os.path.exists(f"{directory}/_from"), "the archive is unfinished")
project, environment = origin.split("/")[-2:]
log = f"{project}/{environment}"
folder = f"{glob.escape(directory)}/project={project}/environment={environment}/month=*"
tree, size, events, erased, gone, last, previous, files = [], 0, 0, 0, 0, 0, None, []
for path in sorted(glob.glob(f"{folder}/_manifest-*.json"), key=os.path.basename):
    with open(path, "rb") as file:
        text = file.read()
    manifest = json.loads(text)
    require((manifest["version"], manifest["log"]) == (1, log), f"{path} is of another log or version")
    require((manifest["first_seq"], manifest["previous"]) == (size, previous), f"{path} does not continue the archive")
    name = os.path.basename(path).removeprefix("_manifest-").removesuffix(".json")
    files.append(os.path.join(os.path.dirname(path), f"{name}.parquet"))
    with open(files[-1], "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    require(manifest["file_sha256"] == f"sha256:{digest}", f"{files[-1]} is another file")
    removed = {}
    for run in manifest["removed"]:
        hashes = base64.b64decode(run["content_hashes"], validate=True)
        removed |= {run["first_seq"] + n: hashes[32 * n:32 * n + 32] for n in range(len(hashes) // 32)}
    present = rows(files[-1])
    for seq in range(size, manifest["end_seq"]):
        if seq in removed:
            append(tree, removed.pop(seq))
            gone += 1
            continue
        row = next(present, None)
        require(row and row["seq"] == seq, f"event {seq} is missing")
        require(content_hash(row, log) == row["content_hash"], f"event {seq} was changed")
        at = row["received_at"] if row["claimed_at"] is None else row["claimed_at"]
        month = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=at)
        require(month.strftime("month=%Y-%m") == os.path.basename(os.path.dirname(path)), f"event {seq} is of another month")
        require(at >= last, f"event {seq} was received before the event that precedes it")
        append(tree, row["content_hash"])
        events, erased, last = events + 1, erased + (len(row["content_salt"]) != 16), at
    require(next(present, None) is None and not removed, f"{files[-1]} has more than its manifest")
    size, previous = manifest["end_seq"], f"sha256:{hashlib.sha256(text).hexdigest()}"
    name, signed_size, signed_root = signed(manifest["checkpoint"], key)[:3]
    require(name == origin, f"a checkpoint is of the log {name}")
    proof = [base64.b64decode(node) for node in manifest["consistency"]]
    check_consistency(size, root(tree), int(signed_size), base64.b64decode(signed_root), proof)
require(files, "the archive does not have the log")
below = glob.glob(f"{glob.escape(directory)}/project={project}/**/*.parquet", recursive=True, include_hidden=True)
below = [path for path in below if f"/environment={environment}/" in path]
require(sorted(files) == sorted(below), "a file has no manifest")
print(f"{origin}: the first {size} positions of {signed_size} are archived: {events} events, of {erased} of them parts were erased, {gone} removed, signed by {key.split('+')[0]}")
