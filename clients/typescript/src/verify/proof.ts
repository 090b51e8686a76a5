import { equal, fromBase64, fromHex, toHex } from "./bytes.js";
import {
  contentHash,
  contentHashOfParts,
  fieldOf,
  FIELDS_OF_PARTS,
  OPEN_FIELDS,
  type PartName,
  type PartProof,
  PARTS,
} from "./content-hash.js";
import { ensure, VerificationError } from "./error.js";
import { canonical, type JsonValue, parseJson } from "./json.js";
import { hashesOf, leafHash, PROOF_HASHES_MAX, verifyInclusion } from "./merkle.js";
import { type Checkpoint, openCheckpoint, parseOrigin } from "./note.js";

/** The response of `GET /events/:id/proof`. */
export interface ProofOfEvent {
  /** Position in the log, from 0. */
  readonly seq: number;
  readonly content_hash: string;
  /** For a reader of the whole event. */
  readonly content_salt?: string | null | undefined;
  /** For a viewer from whom fields are hidden: for each part its salt or its hash. */
  readonly parts?: Readonly<Record<string, PartProof>> | null | undefined;
  /** Hashes from the leaf to the root, in base64. */
  readonly inclusion: readonly string[];
  /** The signed checkpoint. */
  readonly checkpoint: string;
}

/** What the caller expects, from another channel than the response. */
export interface Expectations {
  /**
   * The key of the deployment, as `GET /log/key` returns it, from a channel that the server does not control. Several
   * keys after a rotation: any may have signed.
   */
  readonly key: string | readonly string[];
  /** The log, `<project id>/<environment>`. Any log of the key's owner if absent. */
  readonly log?: string | undefined;
  /** The number of events that the log must have: `log.size` of the response that acknowledged the event. */
  readonly sizeMin?: number | undefined;
}

/** What was proved. */
export interface VerifiedEvent {
  /**
   * The event, with the fields that the proof covers and no others. Show and use this one: a field of the response that is not in
   * the hash (`redacted`), is unknown, or belongs to an unverified part is not here.
   */
  readonly event: { readonly [name: string]: JsonValue };
  /** Parts that the reader cannot verify, because its tier hides a field of them, or because they were erased. */
  readonly unverifiedParts: readonly PartName[];
  /** Those of them that were erased, by the statement of the server. It is not signed: auditors verify erasures. A receipt names none. */
  readonly erasedParts: readonly PartName[];
  /** `sha256:` and 64 hexadecimal digits. */
  readonly contentHash: string;
  /** `<project id>/<environment>`. */
  readonly log: string;
  /** The position of the event in the log of the checkpoint, from 0. */
  readonly seq: number;
  /** The checkpoint that covers the event. */
  readonly checkpoint: Checkpoint;
}

/**
 * Verifies that an event is, unchanged, in the log that the key signs: content hash, inclusion proof and signature.
 *
 * @param event as `GET /events` or `GET /events/:id` returned it. With integers beyond 2^53−1 it must have been read with
 *   {@link parseJson}.
 * @param proof the response of `GET /events/:id/proof` to the same credential.
 * @throws VerificationError if anything does not verify.
 */
export async function verifyProof(
  event: object,
  proof: ProofOfEvent,
  expectations: Expectations,
): Promise<VerifiedEvent> {
  const checkpoint = await openCheckpoint(proof.checkpoint, expectations.key);
  const { log } = parseOrigin(checkpoint);
  const { log: expectedLog, sizeMin = 0 } = expectations;
  ensure(expectedLog === undefined || log === expectedLog, "other_log", `the proof is one of the log ${log}`);
  ensure(checkpoint.size >= sizeMin, "too_small", `the log has ${checkpoint.size} events, not ${sizeMin} or more`);
  const stated = hashOf(proof.content_hash);
  if ("content_hash" in event) {
    ensure(event.content_hash === proof.content_hash, "content_hash_mismatch", "the proof is one of another event");
  }
  const computed = await hashOfDisclosed(event, proof, log);
  ensure(
    equal(computed, stated),
    "content_hash_mismatch",
    "the event is not the one whose hash was stored (or has integers beyond 2^53-1 that JSON.parse has rounded: use parseJson)",
  );
  await verifyInclusion({
    index: proof.seq,
    size: checkpoint.size,
    leaf: await leafHash(computed),
    hashes: hashesOf(proof.inclusion, "the inclusion proof"),
    root: checkpoint.root,
  });
  const unverifiedParts = unverifiedPartsOf(proof);
  return {
    event: coveredFields(event, unverifiedParts),
    unverifiedParts,
    erasedParts: erasedPartsOf(event, unverifiedParts),
    contentHash: `sha256:${toHex(computed)}`,
    log,
    seq: proof.seq,
    checkpoint,
  };
}

/** The bytes of `sha256:<64 hexadecimal digits>`. */
export function hashOf(text: unknown): ReturnType<typeof fromHex> {
  ensure(typeof text === "string" && text.startsWith("sha256:"), "malformed", "a content hash begins with sha256:");
  return fromHex(text.slice("sha256:".length), "a content hash", 32);
}

function hashOfDisclosed(event: object, proof: ProofOfEvent, log: string) {
  const { content_salt, parts } = proof;
  if (typeof content_salt === "string") {
    return contentHash(event, content_salt, log);
  }
  ensure(typeof parts === "object" && parts !== null, "malformed", "the proof has neither content_salt nor parts");
  return contentHashOfParts(event, parts, log);
}

function unverifiedPartsOf(proof: ProofOfEvent): PartName[] {
  const { content_salt, parts } = proof;
  if (typeof content_salt === "string" || !parts) {
    return [];
  }
  return PARTS.filter((name) => "hash" in parts[name]!);
}

/** The parts that the event names as erased. */
function erasedPartsOf(event: object, unverified: readonly PartName[]): PartName[] {
  const erasures = (event as { erased?: unknown }).erased ?? [];
  ensure(Array.isArray(erasures), "malformed", "erased of the event is not a list");
  const named = new Set<unknown>(erasures.flatMap((erasure) => (isObject(erasure) ? erasure["parts"] : [])));
  return unverified.filter((name) => named.has(name));
}

/** A copy of the event with the fields that the hash covers and the reader can verify. */
function coveredFields(event: object, unverified: readonly PartName[]): Record<string, JsonValue> {
  const covered: Record<string, JsonValue> = {};
  const paths = PARTS.filter((name) => !unverified.includes(name)).flatMap((name) => FIELDS_OF_PARTS[name]);
  for (const path of [...OPEN_FIELDS, ...paths]) {
    const value = fieldOf(event as Record<string, unknown>, path);
    if (value === undefined) {
      continue;
    }
    const [name, inner] = path.split(".") as [string, string | undefined];
    if (inner === undefined) {
      covered[name] = value as JsonValue;
    } else {
      covered[name] = { ...(covered[name] as Record<string, JsonValue> | undefined), [inner]: value as JsonValue };
    }
  }
  return covered;
}

const RECEIPT_HEADER = "c2sp.org/tlog-proof@v1\n";
/** Characters of a receipt. */
export const RECEIPT_CHARACTERS_MAX = 512 * 1024;

/**
 * Verifies a receipt (https://c2sp.org/tlog-proof): the proof of one event in one file, as `GET /events/:id/receipt` and
 * `Prefer: receipt` return it.
 *
 * @throws VerificationError if anything does not verify.
 */
export async function verifyReceipt(receipt: string, expectations: Expectations): Promise<VerifiedEvent> {
  ensure(receipt.length <= RECEIPT_CHARACTERS_MAX, "malformed", "the receipt is too long");
  ensure(receipt.startsWith(RECEIPT_HEADER), "malformed", "the first line is not that of a receipt");
  const match = /^extra ([^\n]+)\nindex (0|[1-9][0-9]*)\n((?:[^\n]+\n)*)\n/.exec(receipt.slice(RECEIPT_HEADER.length));
  ensure(match !== null, "malformed", "the receipt does not have the lines of one with an event");
  const [head, extra = "", index = "", hashes = ""] = match;
  const inclusion = hashes.split("\n").slice(0, -1);
  ensure(inclusion.length <= PROOF_HASHES_MAX, "malformed", "the receipt has too many hashes");
  const disclosed = disclosedBy(extra);
  const checkpoint = receipt.slice(RECEIPT_HEADER.length + head.length);
  const { log } = parseOrigin(await openCheckpoint(checkpoint, expectations.key));
  const hash = await hashOfDisclosed(disclosed.event, { ...disclosed, seq: 0, content_hash: "", inclusion, checkpoint }, log);
  const proof = { ...disclosed, seq: Number(index), content_hash: `sha256:${toHex(hash)}`, inclusion, checkpoint };
  return verifyProof(disclosed.event, proof, expectations);
}

/** The event of a receipt, with its salt or the proofs of its parts. It is written in one form only. */
function disclosedBy(extra: string): Pick<ProofOfEvent, "content_salt" | "parts"> & { event: object } {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(extra, "the line extra"));
    value = parseJson(text);
  } catch (cause) {
    throw new VerificationError("malformed", "the line extra of the receipt is not JSON in base64", { cause });
  }
  ensure(isObject(value), "malformed", "the receipt has no event");
  const isWritten = (own: string) => ensure(own === text, "malformed", "the event of the receipt is written in another way");
  if (isObject(value["event"]) && isObject(value["parts"])) {
    const { event, parts } = value;
    isWritten(`{"event":${canonical(event)},"parts":${canonical(parts)}}`);
    return { event, parts: parts as Record<string, PartProof> };
  }
  const { content_salt, ...event } = value;
  ensure(typeof content_salt === "string", "malformed", "the receipt has no salt");
  isWritten(`{"content_salt":${canonical(content_salt)},${canonical(event).slice(1)}`);
  return { event, content_salt };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
