"""Verification: the published test vectors, tampered proofs, and proofs of the real server."""

import base64
import copy
import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from audit_server import AuditServer
from conftest import event

from audit_client import (
    Client,
    VerificationError,
    VerifiedCompleteness,
    content_hash,
    verify_completeness,
    verify_consistency,
    verify_inclusion,
    verify_note,
    verify_proof,
)
from audit_client._canonical import canonical, number
from audit_client.proofs import PARTS, leaf_hash, root_of, sha256, verify_checkpoint

VECTORS = Path(__file__).parents[3] / "docs" / "vectors"


def vectors(name: str) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads((VECTORS / name).read_text(encoding="utf-8"))
    return found


EVENTS = vectors("events.json")
LOG = "0e3b7a1c-5d2f-4c68-9b1a-7f40c2d8e915/live"


@pytest.mark.parametrize("vector", EVENTS["events"], ids=lambda vector: f"line{vector['line']}")
def test_the_vectors_of_events(vector: Dict[str, Any]) -> None:
    read = json.loads(vector["read"])
    hashed = {name: value for name, value in read.items() if name not in ("content_hash", "content_salt", "redacted")}
    assert canonical(hashed) == vector["canonical"]
    assert content_hash(read, LOG, content_salt=vector["content_salt"]) == read["content_hash"]
    assert base64.b64encode(leaf_hash(read["content_hash"])).decode() == vector["leaf_hash"]
    checkpoint = verify_proof(read, vector["proof"], EVENTS["key"])
    assert (checkpoint.size, checkpoint.log) == (5, LOG)
    viewer = json.loads(vector["viewer"]["read"])
    parts = vector["viewer"]["parts"]
    assert content_hash(viewer, LOG, parts=parts) == read["content_hash"]
    proof = {**vector["proof"], "parts": parts}
    without_salt = tuple(name for name in PARTS if "hash" in parts[name])
    assert len(without_salt) == 4
    # An event of which erasures have taken none, some or all of these parts.
    for count in (0, 1, 4):
        erased = {**viewer, "parts": parts, "erased": [{"seq": 7, "parts": [name]} for name in without_salt[:count]]}
        found = verify_proof(erased, proof, EVENTS["key"])
        assert (found.hidden, found.erased) == (without_salt[count:], without_salt[:count])
    # Parts that the proof covers were not erased, whatever the event says.
    assert verify_proof({**read, "erased": [{"parts": list(PARTS)}]}, vector["proof"], EVENTS["key"]).erased == ()
    with pytest.raises(VerificationError, match="field of an erased part"):
        verify_proof({**erased, "metadata": {"made": "up"}}, proof, EVENTS["key"])
    with pytest.raises(VerificationError):
        verify_proof({**erased, "erased": [7]}, proof, EVENTS["key"])


def test_the_vectors_of_fields_that_were_added_later() -> None:
    found = vectors("event-fields.json")
    for vector in found["events"]:
        read = json.loads(vector["canonical"])
        assert content_hash(read, found["log"], content_salt=vector["content_salt"]) == vector["content_hash"]
        for viewer in vector["viewers"]:
            assert content_hash(viewer["read"], found["log"], parts=viewer["parts"]) == vector["content_hash"]


def test_a_proof_of_something_else_is_refused() -> None:
    vector = EVENTS["events"][1]
    read, proof = json.loads(vector["read"]), vector["proof"]
    changed: List[Any] = [
        ({**read, "action": "other.action"}, proof),
        ({**read, "tenant_id": "other"}, proof),
        ({**read, "added": 1, "metadata": {}}, proof),
        ({**read, "content_hash": "sha256:" + "0" * 64}, proof),
        (read, {**proof, "seq": 0}),
        (read, {**proof, "seq": 5}),
        (read, {**proof, "seq": -1}),
        (read, {**proof, "inclusion": proof["inclusion"][:-1]}),
        (read, {**proof, "inclusion": [*proof["inclusion"], proof["inclusion"][0]]}),
        (read, {**proof, "inclusion": list(reversed(proof["inclusion"]))}),
        (read, {**proof, "inclusion": ["!"]}),
        (read, {**proof, "content_salt": "00" * 16}),
        (read, {**proof, "content_salt": "00"}),
        (read, {**proof, "content_hash": EVENTS["events"][0]["proof"]["content_hash"]}),
        (read, {**proof, "checkpoint": proof["checkpoint"].replace("\n5\n", "\n6\n")}),
        (read, {**proof, "parts": {}}),
        (read, {**proof, "parts": None, "content_salt": None}),
        (read, {}),
        (EVENTS["events"], proof),
    ]
    for one, other in changed:
        with pytest.raises(VerificationError):
            verify_proof(one, other, EVENTS["key"])


def test_the_vectors_of_trees() -> None:
    merkle = vectors("merkle.json")
    leaves = [sha256(b"\0", bytes.fromhex(leaf)) for leaf in merkle["leaves"]]
    assert [leaf.hex() for leaf in leaves] == merkle["leaf_hashes"]
    roots = [bytes.fromhex(root) for root in merkle["roots"]]
    assert [root_of(leaves[:size]) for size in range(9)] == roots
    for proof in merkle["inclusion"]:
        path = [bytes.fromhex(text) for text in proof["hashes"]]
        verify_inclusion(leaves[proof["index"]], proof["index"], proof["size"], path, roots[proof["size"]])
        for wrong in (path[:-1], [*path, roots[0]], [roots[0], *path]):
            if wrong != path:
                with pytest.raises(VerificationError):
                    verify_inclusion(leaves[proof["index"]], proof["index"], proof["size"], wrong, roots[proof["size"]])
    checked = 0
    for proof in merkle["consistency"]:
        old, new = proof["from"], proof["to"]
        path = [bytes.fromhex(text) for text in proof["hashes"]]
        if old == 0:
            continue
        verify_consistency(old, roots[old], new, roots[new], path)
        checked += 1
        for arguments in ((old, roots[0], new, roots[new], path), (old, roots[old], new, roots[new], [*path, roots[0]])):
            with pytest.raises(VerificationError):
                verify_consistency(*arguments)
    assert checked > 20


def test_the_vectors_of_checkpoints() -> None:
    given = vectors("checkpoint.json")
    for checkpoint in given["checkpoints"]:
        head = verify_checkpoint(checkpoint["note"], given["key"])
        assert head.size == checkpoint["size"]
    assert given["refused"]
    log = verify_checkpoint(given["checkpoints"][0]["note"], given["key"]).log
    for refused in given["refused"]:
        with pytest.raises(VerificationError):
            verify_checkpoint(refused["note"], given["key"], log=log)
    for key in ("", "a+b", given["key"].replace("4ffeabe4", "4ffeabe5"), given["key"][:-4] + "AAAA"):
        with pytest.raises(VerificationError):
            verify_note(given["checkpoints"][0]["note"], key)


COMPLETENESS = vectors("completeness.json")


def verify_case(case: Dict[str, Any]) -> VerifiedCompleteness:
    proof = {**COMPLETENESS["proof"], **{name: case[name] for name in case if name == "removed"}}
    events = [COMPLETENESS["events"][index] for index in case["there"]]
    return verify_completeness(events, proof, COMPLETENESS["key"], log=COMPLETENESS["log"])


@pytest.mark.parametrize("case", COMPLETENESS["accepted"], ids=lambda case: str(case["there"]))
def test_the_events_that_are_not_removed_are_complete(case: Dict[str, Any]) -> None:
    removed = case.get("removed", {"events": 0})["events"]
    assert verify_case(case) == VerifiedCompleteness(7, "2026-11-28T10:15:00.123Z", removed)


@pytest.mark.parametrize("case", COMPLETENESS["refused"], ids=lambda case: case["why"])
def test_another_statement_of_removed_events_is_refused(case: Dict[str, Any]) -> None:
    with pytest.raises(VerificationError):
        verify_case(case)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (1.5, "1.5"), (-1.5, "-1.5"), (1e20, "100000000000000000000"), (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"), (1.2e21, "1.2e+21"), (1e-6, "0.000001"), (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"), (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"), (0.1, "0.1"),
        (333333333.33333329, "333333333.3333333"), (4.5, "4.5"), (2e-3, "0.002"), (9007199254740992.0, "9007199254740992"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_in_rfc_8785(value: float, text: str) -> None:
    assert number(value) == text


def test_canonical_json_sorts_by_utf_16_and_keeps_integers() -> None:
    assert canonical({"\ufb33": 1, "\U0001f600": 2, "b": [True, None, "\u2028\n\x1f"], "a": 2**80}) == (
        '{"a":1208925819614629174706176,"b":[true,null,"\u2028\\n\\u001f"],"\U0001f600":2,"\ufb33":1}'
    )


def test_proofs_of_the_server(server: AuditServer, audit: Client, tenant: str) -> None:
    key = server.run("log", "key").strip()
    assert audit.log.key() == key
    numbers = {"small": 1e-7, "large": 1e22, "whole": 5.0, "integer": 2**70, "text": "\u00fc\u4e16\U0001f600"}
    ids = [audit.events.ingest(event(tenant, metadata={**numbers, "n": n}))["ids"][0] for n in range(3)]
    for event_id in ids:
        read = audit.events.get(event_id)
        log = f"{server.project_id}/live"
        assert verify_proof(read, audit.events.proof(event_id), key, log=log).log == log
        with pytest.raises(VerificationError, match="of the log"):
            verify_proof(read, audit.events.proof(event_id), key, log=f"{server.project_id}/test")
        with pytest.raises(VerificationError, match="not the one of the proof"):
            verify_proof({**read, "category": "auth"}, audit.events.proof(event_id), key)
    assert b"tlog-proof" in audit.events.receipt(ids[0])
    old = verify_checkpoint(audit.log.checkpoint(), key)
    audit.events.ingest(event(tenant))
    new = verify_checkpoint(audit.log.checkpoint(), key)
    consistency = audit.log.consistency(old.size, new.size)["consistency"]
    verify_consistency(old.size, old.root, new.size, new.root, [base64.b64decode(text) for text in consistency])
    assert len(audit.log.tile(f"0/000.p/{new.size}" if new.size < 256 else "0/000")) % 32 == 0


def test_a_viewer_verifies_its_events_and_that_none_is_missing(server: AuditServer, audit: Client, tenant: str) -> None:
    key = server.run("log", "key").strip()
    audit.events.ingest([event(tenant, metadata={"secret": n}, context={"ip_address": "203.0.113.7"}) for n in range(5)])
    audit.events.ingest(event("somebody else"))
    token = audit.viewer_tokens.create(tenant, tier="standard")["token"]
    with Client(server.base_url, token) as viewer:
        seen = [one for page in viewer.events.feed(follow=False) for one in page["events"]]
        assert len(seen) == 5 and "metadata" not in seen[0]
        for one in seen:
            proof = viewer.events.proof(one["id"])
            assert "parts" in proof
            verify_proof(one, proof, key)
        completeness = viewer.log.completeness()
    verified = verify_completeness(seen, completeness, key, log=f"{server.project_id}/live")
    assert (verified.size, verified.removed) == (5, 0)
    with pytest.raises(VerificationError, match="another log"):
        verify_completeness(seen, completeness, key, log=f"{server.project_id}/test")
    other = copy.deepcopy(completeness)
    other["tenant_id"] = "somebody else"
    for events, proof_of_all in ((seen[:-1], completeness), (seen[::-1], completeness), (seen, other), (seen, {})):
        with pytest.raises(VerificationError):
            verify_completeness(events, proof_of_all, key)
    assert verify_completeness([], audit.log.completeness(tenant_id="nobody"), key).size == 0
    with pytest.raises(VerificationError):
        verify_completeness([], completeness, key)
    assert audit.log.tenants()["map"]
