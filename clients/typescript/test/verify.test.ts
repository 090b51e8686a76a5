// The published test vectors of the log, and what must be refused.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  canonical,
  type CompletenessDocument,
  contentHash,
  contentHashOfParts,
  leafHash,
  openCheckpoint,
  parseJson,
  type ProofOfEvent,
  type PartProof,
  type RemovedEvents,
  RootBuilder,
  toBase64,
  toHex,
  verifyCompleteness,
  verifyConsistency,
  verifyInclusion,
  VerificationError,
  type VerificationFailure,
  verifyProof,
  verifyReceipt,
} from "audit-server-client/verify";
import { DOCS } from "./paths.js";

function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`vectors/${name}`, DOCS), "utf8")) as T;
}

function hex(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "hex"));
}

function base64(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "base64"));
}

async function refused(code: VerificationFailure, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof VerificationError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

interface Merkle {
  leaves: string[];
  leaf_hashes: string[];
  roots: string[];
  inclusion: { index: number; size: number; hashes: string[] }[];
  consistency: { from: number; to: number; hashes: string[] }[];
}

test("roots, inclusion and consistency proofs are those of the Merkle vectors", async () => {
  const v = vectors<Merkle>("merkle.json");
  const leaves = await Promise.all(v.leaves.map((leaf) => leafHash(hex(leaf))));
  assert.deepEqual(leaves.map(toHex), v.leaf_hashes);
  const builder = new RootBuilder();
  assert.equal(toHex(await builder.root()), v.roots[0]);
  for (const [index, leaf] of leaves.entries()) {
    await builder.add(leaf);
    assert.equal(toHex(await builder.root()), v.roots[index + 1]);
  }
  for (const { index, size, hashes } of v.inclusion) {
    const proof = { index, size, leaf: leaves[index]!, hashes: hashes.map(hex), root: hex(v.roots[size]!) };
    await verifyInclusion(proof);
    await refused("not_included", verifyInclusion({ ...proof, leaf: await leafHash(hex("ff")) }));
    await refused("not_included", verifyInclusion({ ...proof, hashes: [...proof.hashes, proof.leaf] }));
    await refused("not_included", verifyInclusion({ ...proof, index: size }));
  }
  for (const { from, to, hashes } of v.consistency) {
    const proof = {
      from: { size: from, root: hex(v.roots[from]!) },
      to: { size: to, root: hex(v.roots[to]!) },
      hashes: hashes.map(hex),
    };
    await verifyConsistency(proof);
    if (from > 0) {
      const forged = { ...proof, from: { size: from, root: await leafHash(hex("ff")) } };
      await refused("inconsistent", verifyConsistency(forged));
    }
  }
});

interface CheckpointVectors {
  key: string;
  origin: string;
  checkpoints: { size: number; note: string }[];
  consistency: string[];
  refused: { why: string; note: string }[];
}

test("checkpoints are those of the vectors, and every forged one is refused", async () => {
  const v = vectors<CheckpointVectors>("checkpoint.json");
  const [first, second] = await Promise.all(v.checkpoints.map(({ note }) => openCheckpoint(note, v.key, v.origin)));
  assert.deepEqual([first!.size, second!.size], [100, 300]);
  await verifyConsistency({ from: first!, to: second!, hashes: v.consistency.map(base64) });
  assert.ok(v.refused.length > 10);
  for (const { why, note } of v.refused) {
    await assert.rejects(openCheckpoint(note, v.key, v.origin), VerificationError, why);
  }
  await refused("invalid_key", openCheckpoint(v.checkpoints[0]!.note, v.key.replace("4ffeabe4", "4ffeabe5")));
  await refused("invalid_key", openCheckpoint(v.checkpoints[0]!.note, []));
});

interface CompletenessCase {
  there: number[];
  removed?: RemovedEvents;
}

interface CompletenessVectors {
  key: string;
  proof: CompletenessDocument;
  events: object[];
  accepted: CompletenessCase[];
  refused: (CompletenessCase & { why: string })[];
}

test("the events that are not removed are complete, and another statement of removed ones is refused", async () => {
  const v = vectors<CompletenessVectors>("completeness.json");
  const verify = ({ there, removed }: CompletenessCase) =>
    verifyCompleteness({ ...v.proof, removed }, there.map((index) => v.events[index]!), v.key);
  for (const one of v.accepted) {
    const { size, removed, newer } = await verify(one);
    const stated = one.removed?.events ?? 0;
    assert.deepEqual({ size, removed, newer }, { size: 7, removed: stated, newer: one.there.length - (7 - stated) });
  }
  assert.ok(v.accepted.length > 10 && v.refused.length > 20);
  for (const one of v.refused) {
    await assert.rejects(verify(one), VerificationError, one.why);
  }
});

interface EventVectors {
  key: string;
  events: {
    read: string;
    canonical: string;
    leaf_hash: string;
    proof: ProofOfEvent;
    viewer: { read: string; parts: Record<string, PartProof> };
  }[];
}

test("events of the vectors verify, whole and as a viewer sees them", async () => {
  const { key, events } = vectors<EventVectors>("events.json");
  for (const { read, canonical: text, leaf_hash, proof, viewer } of events) {
    const event = JSON.parse(read) as Record<string, unknown>;
    const whole = await verifyProof(event, proof, { key, log: "0e3b7a1c-5d2f-4c68-9b1a-7f40c2d8e915/live" });
    assert.equal(canonical(whole.event), text);
    assert.deepEqual(whole.unverifiedParts, []);
    assert.equal(toBase64(await leafHash(hex(whole.contentHash.slice(7)))), leaf_hash);

    const { content_salt: _, ...rest } = proof;
    const seen = JSON.parse(viewer.read) as Record<string, unknown>;
    const partly = await verifyProof(seen, { ...rest, parts: viewer.parts }, { key });
    assert.deepEqual(partly.unverifiedParts, ["actor.email", "network", "client", "metadata"]);
    assert.equal("metadata" in partly.event, false);
    assert.deepEqual(partly.erasedParts, []);

    // Erasures have taken a part that this viewer does not see, and one that the proof covers nevertheless.
    const erased = [{ seq: 7, parts: ["metadata"] }, { parts: ["kind"] }];
    const lacking = await verifyProof({ ...seen, metadata: { made: "up" }, erased }, { ...rest, parts: viewer.parts }, { key });
    assert.deepEqual(lacking.erasedParts, ["metadata"]);
    assert.deepEqual([lacking.unverifiedParts, lacking.event], [partly.unverifiedParts, partly.event]);
    await refused("malformed", verifyProof({ ...seen, erased: "metadata" }, { ...rest, parts: viewer.parts }, { key }));
  }
});

test("events with fields that were added later have the content hashes of the vectors", async () => {
  const { log, events } = vectors<{
    log: string;
    events: {
      canonical: string;
      content_salt: string;
      content_hash: string;
      viewers: { read: object; parts: Record<string, PartProof> }[];
    }[];
  }>("event-fields.json");
  for (const { canonical: text, content_salt, content_hash, viewers } of events) {
    assert.equal(`sha256:${toHex(await contentHash(JSON.parse(text) as object, content_salt, log))}`, content_hash);
    for (const { read, parts } of viewers) {
      assert.equal(`sha256:${toHex(await contentHashOfParts(read, parts, log))}`, content_hash);
    }
  }
});

test("a changed, added or removed field and a proof of something else are refused", async () => {
  const { key, events } = vectors<EventVectors>("events.json");
  const { read, proof } = events[0]!;
  const event = JSON.parse(read) as Record<string, unknown>;
  const changed: [VerificationFailure, object][] = [
    ["content_hash_mismatch", { ...event, action: "account.deleted" }],
    ["content_hash_mismatch", { ...event, tenant_id: "another" }],
    ["content_hash_mismatch", { ...event, changes: [] }],
    ["content_hash_mismatch", { ...event, metadata: undefined }],
    ["content_hash_mismatch", { ...event, content_hash: events[1]!.proof.content_hash }],
  ];
  for (const [code, forged] of changed) {
    await refused(code, verifyProof(forged, proof, { key }));
  }
  await refused("not_included", verifyProof(event, { ...proof, seq: 1 }, { key }));
  await refused("not_included", verifyProof(event, { ...proof, inclusion: proof.inclusion.slice(1) }, { key }));
  await refused("other_log", verifyProof(event, proof, { key, log: "0e3b7a1c-5d2f-4c68-9b1a-7f40c2d8e915/test" }));
  await refused("too_small", verifyProof(event, proof, { key, sizeMin: 6 }));
  const { key: other } = vectors<CheckpointVectors>("checkpoint.json");
  await verifyProof(event, proof, { key: [other, key] });
});

test("a verified event has no field that the proof does not cover", async () => {
  const { key, events } = vectors<EventVectors>("events.json");
  const { read, proof } = events[0]!;
  const event = JSON.parse(read) as { actor: object };
  const forged = { ...event, severity: "none", actor: { ...event.actor, role: "admin" }, redacted: true };
  const { event: verified } = await verifyProof(forged, proof, { key });
  assert.deepEqual(Object.keys(verified).sort(), [
    "action", "actor", "category", "context", "id", "idempotency_key", "metadata", "occurred_at", "received_at", "tenant_id",
  ]);
  assert.equal("role" in (verified["actor"] as object), false);
});

interface Corpus {
  key: string;
  documents: { archive: Record<string, string>; receipt: string; receipt_of_viewer: string };
  cases: { of: string; part: string; what: string; at: number; remove: number; insert: string }[];
}

test("every change of a receipt is refused, and the receipts are accepted", async () => {
  const { key, documents, cases } = vectors<Corpus>("refused.json");
  const changed = (text: string, { at, remove, insert }: Corpus["cases"][number]) => {
    const characters = [...text];
    characters.splice(at, remove, insert);
    return characters.join("");
  };
  let count = 0;
  for (const of of ["receipt", "receipt_of_viewer"] as const) {
    await verifyReceipt(documents[of], { key });
    for (const one of cases.filter((one) => one.of === of)) {
      const receipt = one.part === "text" ? changed(documents[of], one) : documents[of].replace(
        /(?<=\nextra ).*/,
        (extra) => Buffer.from(changed(Buffer.from(extra, "base64").toString("utf8"), one)).toString("base64"),
      );
      await assert.rejects(verifyReceipt(receipt, { key }), VerificationError, one.what);
      count += 1;
    }
  }
  assert.ok(count > 200, String(count));
});

test("the events of an archive are in its log, a claimed one too", async () => {
  const { key, documents: { archive } } = vectors<Corpus>("refused.json");
  const lines = (name: string) => archive[name]!.trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
  const proofs = lines("proofs.jsonl");
  const claimed: boolean[] = [];
  for (const [index, { seq, content_hash, content_salt, redacted, ...event }] of lines("events.jsonl").entries()) {
    const proof = { ...proofs[index], content_hash, content_salt, checkpoint: archive["checkpoint.txt"] } as unknown as ProofOfEvent;
    const verified = await verifyProof(event, proof, { key });
    assert.deepEqual(verified.event, event);
    claimed.push("claimed_at" in verified.event);
    await refused("content_hash_mismatch", verifyProof({ ...event, claimed_at: "2026-01-01T00:00:00.000Z" }, proof, { key }));
  }
  assert.ok(claimed.includes(true) && claimed.includes(false));
});

test("JSON keeps all digits of integers and is canonical as RFC 8785 says", () => {
  const text = '{"b":[1e21,0.000001,1E-7,-0.0,5.0],"a":123456789012345678901234567890,"\\u20ac":"\\u0007\\/\\"","A":-9007199254740993}';
  const expected = '{"A":-9007199254740993,"a":123456789012345678901234567890,"b":[1e+21,0.000001,1e-7,0,5],"€":"\\u0007/\\""}';
  assert.equal(canonical(parseJson(text)), expected);
  assert.deepEqual(parseJson(' { "a" : [ ] , "b" : { } , "c" : [ true , false , null , "" ] } '), {
    a: [], b: {}, c: [true, false, null, ""],
  });
  assert.ok(Object.hasOwn(parseJson('{"__proto__":1}') as object, "__proto__"));
  for (const broken of ['{"a":1,"a":2}', "[1,]", "01", "[1] 2", '"\n"', "nul", "", "[".repeat(300), '{"a" 1}', "1.", "-"]) {
    assert.throws(() => parseJson(broken), SyntaxError, broken);
  }
});
