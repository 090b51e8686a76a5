import { type Bytes, concat, fromHex, sha256, utf8 } from "./bytes.js";
import { ensure } from "./error.js";
import { canonical } from "./json.js";

/** The parts of an event, in the order in which they are numbered and hashed (docs/api.md, "Content hash"). */
export const PARTS = [
  "kind",
  "actor.email",
  "actor.id",
  "actor.name",
  "changes",
  "network",
  "client",
  "idempotency_key",
  "metadata",
  "target.id",
  "target.name",
] as const;

/** The name of a part of an event. */
export type PartName = (typeof PARTS)[number];

/** What a viewer gets of one part: the salt, if it sees the fields of the part; otherwise the hash. */
export type PartProof = { readonly salt: string } | { readonly hash: string };

/** The fields of each part, in the order in which they are hashed. */
export const FIELDS_OF_PARTS: Readonly<Record<PartName, readonly string[]>> = {
  kind: ["action", "actor.type", "category", "target.type", "outcome"],
  "actor.email": ["actor.email"],
  "actor.id": ["actor.id"],
  "actor.name": ["actor.name", "actor.on_behalf_of"],
  changes: ["changes"],
  network: ["context.ip_address", "context.location"],
  client: ["context.session_id", "context.user_agent"],
  idempotency_key: ["idempotency_key"],
  metadata: ["metadata"],
  "target.id": ["target.id"],
  "target.name": ["target.name", "targets"],
};

/** The fields of an event that no tier hides, in the order in which they are hashed. Only claimed events have the last one. */
export const OPEN_FIELDS: readonly string[] = ["id", "occurred_at", "received_at", "tenant_id", "claimed_at"];

/** Fields that have a line in the input of a hash only where the event has them. */
const APPENDED: ReadonlySet<string> = new Set(["claimed_at", "outcome", "actor.on_behalf_of", "targets"]);

const SALT_BYTES = 16;
const HASH_BYTES = 32;

type JsonObject = Readonly<Record<string, unknown>>;

/** The value at a dot path; `undefined` where the event does not have the field. */
export function fieldOf(event: JsonObject, path: string): unknown {
  let found: unknown = event;
  for (const step of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) {
      return undefined;
    }
    found = (found as JsonObject)[step];
  }
  return found;
}

/** The canonical JSON of fields, joined with line feeds; where the event does not have the field, empty or, if it is appended, left out. */
function valuesOf(event: JsonObject, paths: readonly string[]): Bytes {
  const texts = paths.flatMap((path) => {
    const value = fieldOf(event, path);
    return value !== undefined ? [canonical(value)] : APPENDED.has(path) ? [] : [""];
  });
  return utf8(texts.join("\n"));
}

/** The salt of each part: salt 2j ‖ salt 2j+1 = SHA-256(0x04 ‖ content_salt ‖ j). */
async function saltsOf(contentSalt: Bytes): Promise<Bytes[]> {
  const pairs = Array.from({ length: Math.ceil(PARTS.length / 2) }, (_, pair) =>
    sha256(Uint8Array.of(4), contentSalt, Uint8Array.of(pair)),
  );
  const salts = concat(...(await Promise.all(pairs)));
  return PARTS.map((_, number) => salts.slice(SALT_BYTES * number, SALT_BYTES * (number + 1)));
}

/** SHA-256(0x02 ‖ salt ‖ number of the part ‖ values of its fields). */
function hashOfPart(event: JsonObject, number: number, salt: Bytes): Promise<Bytes> {
  return sha256(
    Uint8Array.of(2),
    salt,
    Uint8Array.of(number),
    valuesOf(event, FIELDS_OF_PARTS[PARTS[number]!]),
  );
}

function hashOfAll(event: JsonObject, hashes: readonly Bytes[], log: string): Promise<Bytes> {
  return sha256(Uint8Array.of(3), utf8(`${log}\n`), ...hashes, valuesOf(event, OPEN_FIELDS));
}

/**
 * The content hash of an event that the reader sees whole.
 *
 * @param contentSalt `content_salt` of the event or of its proof: 32 hexadecimal digits.
 * @param log `<project id>/<environment>`.
 */
export async function contentHash(event: object, contentSalt: string, log: string): Promise<Bytes> {
  const salts = await saltsOf(fromHex(contentSalt, "content_salt", SALT_BYTES));
  const hashes = await Promise.all(salts.map((salt, number) => hashOfPart(event as JsonObject, number, salt)));
  return hashOfAll(event as JsonObject, hashes, log);
}

/**
 * The content hash of an event of which the reader sees some parts.
 *
 * @param parts `parts` of the proof: the salt or the hash of every part.
 * @param log `<project id>/<environment>`.
 */
export async function contentHashOfParts(
  event: object,
  parts: Readonly<Record<string, PartProof>>,
  log: string,
): Promise<Bytes> {
  ensure(
    Object.keys(parts).length === PARTS.length && PARTS.every((name) => Object.hasOwn(parts, name)),
    "malformed",
    "the proof does not have the eleven parts of an event",
  );
  const hashes = PARTS.map((name, number) => {
    const part = parts[name]!;
    ensure(typeof part === "object" && part !== null, "malformed", `the part ${name} is not an object`);
    if ("hash" in part) {
      ensure(!("salt" in part), "malformed", `the part ${name} has both a salt and a hash`);
      return fromHex(part.hash, `the hash of the part ${name}`, HASH_BYTES);
    }
    return hashOfPart(event as JsonObject, number, fromHex(part.salt, `the salt of the part ${name}`, SALT_BYTES));
  });
  return hashOfAll(event as JsonObject, await Promise.all(hashes), log);
}
